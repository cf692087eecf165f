# A method replaced while it runs finishes with its old body; the next call uses the new one.
o := Object clone
o m := method(
  self m := method("second body")
  "first body"
)
o m println
o m println
o n := method(i,
  if(i == 0, return "old end")
  if(i == 2, self n := method(j, "new with " .. j))
  n(i - 1)
)
o n(3) println
