# The loop variable is a slot of the context; changing it inside does not disturb the count.
for(k, 1, 3, k = k * 10; write(k, " ")); writeln
k println
f := method(for(z, 1, 3, nil); z)
f println
hasSlot("z") println
