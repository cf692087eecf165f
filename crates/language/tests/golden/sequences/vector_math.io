# Element-wise functions change the vector in place and return it.
v := vector(1, 4, 9)
v sqrt asList println
vector(-1, 2) abs asList println
vector(3, 4) square sum println
vector(2, 3) square asList println
vector(1.5, -1.5) floor asList println
vector(1.5, -1.5) ceil asList println
(vector(1, 2) == vector(1, 2)) println
vector(3, 1, 2) sort asList println
