-- A counting loop: one addition for each of ten million numbers.
local function run(limit)
  local sum = 0
  for i = 1, limit do
    sum = sum + i
  end
  return sum
end

print(run(10000000))
