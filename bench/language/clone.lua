-- Three million objects made from a prototype; each gets one field of its own and inherits the other.
local Point = { x = 0, y = 1 }
Point.__index = Point

local function run(count)
  local sum = 0
  for i = 1, count do
    local point = setmetatable({}, Point)
    point.x = i
    sum = sum + point.x + point.y
  end
  return sum
end

print(run(3000000))
