# lazySlot computes its value once, when first read.
log := List clone
o := Object clone
o v := lazySlot(log append("computing"); "computed")
log size println
o v println
o v println
log println
o getSlot("v") println
o lazySlot("w", "by name")
o w println
