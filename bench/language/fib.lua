-- The naive recursion fib(27), ten times over.
local function fib(n)
  if n < 2 then
    return n
  end
  return fib(n - 1) + fib(n - 2)
end

local function run(times)
  local sum = 0
  for _ = 1, times do
    sum = sum + fib(27)
  end
  return sum
end

print(run(10))
