# Every changing method refuses a symbol and names itself.
list("appendSeq", "prependSeq", "lowercase", "capitalize", "removeLast", "setSize", "empty", "replaceSeq", "sort", "lstrip", "clipBeforeSeq") foreach(name,
  e := try("abc" performWithArgList(name, list("b", "c")))
  (name .. ": " .. if(e, e error, "no error")) println
)
