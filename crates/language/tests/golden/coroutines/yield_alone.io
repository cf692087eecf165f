# yield with nobody else to run does nothing.
"one" println
yield
"two" println
Scheduler yieldingCoros size println
