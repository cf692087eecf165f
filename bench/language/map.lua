-- 200,000 string keys put into a map and read back, the keys made anew each time; four maps.
local function fill(size)
  local map = {}
  for i = 1, size do
    map["key" .. i] = i
  end
  return map
end

local function total(map, size)
  local sum = 0
  for i = 1, size do
    sum = sum + map["key" .. i]
  end
  return sum
end

local function run(times, size)
  local sum = 0
  for _ = 1, times do
    sum = sum + total(fill(size), size)
  end
  return sum
end

print(run(4, 200000))
