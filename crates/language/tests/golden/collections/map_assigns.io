# A map body that assigns writes into its own context: the names around it are seen, and stay as they are.
y := 1
Lobby m := method(
    x := 5
    results := list(1, 2) map(v, x = x + v; z := 1; z = z + x; y = y + 1; z)
    results println
    x println
)
m
y println
e := try(Lobby n := method(list(1) map(v, nowhere = v)); n)
e error println
