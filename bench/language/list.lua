-- A list of a million numbers, built by appending and summed by iterating, five times over.
local function build(size)
  local items = {}
  for i = 1, size do
    items[#items + 1] = i
  end
  return items
end

local function total(items)
  local sum = 0
  for _, item in ipairs(items) do
    sum = sum + item
  end
  return sum
end

local function run(times)
  local sum = 0
  for _ = 1, times do
    sum = sum + total(build(1000000))
  end
  return sum
end

print(run(5))
