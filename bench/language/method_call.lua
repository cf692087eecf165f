-- A method with two arguments, found in the receiver's metatable, called five million times.
local Adder = {}
Adder.__index = Adder

function Adder:add(a, b)
  return a + b
end

local function run(calls)
  local adder = setmetatable({}, Adder)
  local sum = 0
  for i = 1, calls do
    sum = adder:add(sum, i)
  end
  return sum
end

print(run(5000000))
