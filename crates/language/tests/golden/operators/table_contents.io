# The operator table is a plain Map from symbol to level.
OperatorTable operators at("*") println
OperatorTable operators at("+") println
OperatorTable operators at("==") println
OperatorTable operators at("and") println
OperatorTable operators at("return") println
OperatorTable operators at("foo") println
OperatorTable assignOperators at(":=") println
OperatorTable assignOperators at("=") println
OperatorTable assignOperators at("::=") println
