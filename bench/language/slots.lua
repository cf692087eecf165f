-- Two fields of one object read and written, five million times.
local Account = { balance = 0, moves = 0 }
Account.__index = Account

local function run(times)
  local account = setmetatable({}, Account)
  for i = 1, times do
    account.balance = account.balance + i
    account.moves = account.moves + 1
  end
  return account.balance + account.moves
end

print(run(5000000))
