# The call object names sender, target, message, slotContext and activated.
Base := Object clone do(m := method(call))
Sub := Base clone
c := Sub m(1, two)
c target isIdenticalTo(Sub) println
c slotContext isIdenticalTo(Base) println
c sender isIdenticalTo(Lobby) println
c message println
c message argAt(1) println
c argCount println
c hasArgs println
c activated isIdenticalTo(Base getSlot("m")) println
