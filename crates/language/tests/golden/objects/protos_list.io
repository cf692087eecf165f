# protos, appendProto, prependProto, removeProto, hasProto, proto.
A := Object clone
B := Object clone
o := A clone
o protos size println
o appendProto(B)
o protos map(type) println
o removeProto(A)
o protos map(type) println
o prependProto(A)
o protos map(type) println
o hasProto(B) println
o proto type println
o hasProto(Map) println
