-- A million short pieces appended to one mutable string, eight strings.
-- Lua's strings cannot be changed and `..` in a loop is quadratic; its idiom is a table of pieces and one concat.
local function build(pieces)
  local text = {}
  for _ = 1, pieces do
    text[#text + 1] = "telos "
  end
  return table.concat(text)
end

local function run(times, pieces)
  local size = 0
  for _ = 1, times do
    size = size + #build(pieces)
  end
  return size
end

print(run(8, 1000000))
