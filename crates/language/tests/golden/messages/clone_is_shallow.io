# clone copies the chain, so that editing the copy leaves the original alone.
m := message(a(b) c)
k := m clone
k setName("z")
m println
k println
k setNext(nil)
m println
k println
k argAt(0) setName("deep")
k println
m println
