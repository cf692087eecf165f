# coroFor only prepares a coroutine; resume runs it until it ends, then the resumer goes on.
c := coroFor("body" println; "result")
"made" println
c isFinished println
c resume
"back" println
c isFinished println
c result println
