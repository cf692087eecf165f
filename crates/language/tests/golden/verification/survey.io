// A survey tells of objects what a case is made of: slots, methods, protos, and what they refer to.
Owner := Object clone
Account := Object clone do(
    balance := 10
    owner := Owner
    names := list("a")
    is := true
    empty := nil
    tax := method(balance * 0.1)
    code := block(x, x)
)
found := Verification survey(Map with("Account", Account, "Owner", Owner, "items", list(Owner, 1), "map", Map with("k", Owner)))
found keys sort foreach(name,
    each := found at(name)
    writeln(name, ": slots ", each at("slots"), ", methods ", each at("methods") keys sort, ", references ", each at("references") map(beforeSeq(" ")), ", protos ", each at("protos") size)
)
found at("Account") at("methods") at("tax") println
