# strip, lstrip, rstrip with and without characters.
("[" .. "  pad  " asMutable strip .. "]") println
("[" .. "  pad  " asMutable lstrip .. "]") println
("[" .. "  pad  " asMutable rstrip .. "]") println
"xxhixx" asMutable strip("x") println
"--a--" asMutable lstrip("-") println
"--a--" asMutable rstrip("-") println
try(" a " strip) error println
