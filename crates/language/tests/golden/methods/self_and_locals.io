# In a method, self is the receiver; := makes a local; = updates where the name is found.
o := Object clone do(
  v := 1
  setLocal := method(v := 2; v)
  setSelf := method(self v := 3; v)
  update := method(v = 4; v)
)
o setLocal println
o v println
o update println
o v println
o setSelf println
o v println
o clone update println
o v println
