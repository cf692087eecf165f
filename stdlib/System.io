// System: the program's arguments and its surroundings.

//metadoc System description The program and its surroundings.
System do(
    //doc System iospecVersion The version of the language specification.
    iospecVersion := "0.1.0"

    //doc System iovmName The name of this virtual machine.
    iovmName := "telos"

    //doc System idle(seconds) Waits so long; all other coroutines wait, too.
    idle := getSlot("sleep")

    //doc System sleep(seconds) Waits so long. In a coroutine that was started, others run meanwhile, as with wait; elsewhere, and inside of a transaction or world, all others wait, too.
    sleep := method(seconds,
        if(Coroutine currentCoroutine canBeLeft, wait(seconds), idle(seconds))
        self
    )

    //doc System getOptions(arguments) Returns a Map of the arguments of the form --name=value or --name; the list of all others is under the key "".
    getOptions := method(arguments,
        options := Map clone
        others := List clone
        arguments foreach(argument,
            if(argument beginsWithSeq("--"),
                option := argument afterSeq("--")
                value := option afterSeq("=")
                options atPut(option beforeSeq("=") asSymbol, value ifNilEval(""))
            ,
                others append(argument)
            )
        )
        if(others isNotEmpty, options atPut("", others))
        options
    )

    //doc System runCommand(command, successStatus) Runs a shell command and returns an object with exitStatus, stdout, stderr, succeeded and failed. The status of success is 0 unless another is given.
    runCommand := method(command, successStatus,
        results := System systemOutput(command)
        outcome := CommandOutcome clone
        outcome successStatus := successStatus ifNilEval(0)
        outcome exitStatus := results at(0)
        outcome stdout := results at(1)
        outcome stderr := results at(2)
        outcome
    )

    CommandOutcome := Object clone do(
        succeeded := method(exitStatus == successStatus)
        failed := method(exitStatus != successStatus)
    )

    //doc System userInterruptHandler Called on an interrupt from the keyboard: writes the stacks of all coroutines and exits.
    userInterruptHandler := method(
        writeln("\nStack trace:\n")
        Scheduler currentCoroutine showStack
        Scheduler yieldingCoros foreach(coroutine,
            writeln("  coroutine ", coroutine label)
            coroutine showStack
        )
        self exit
    )
)

//doc Lobby exit(code) Ends the program; the code is 0 unless another is given.
Lobby exit := method(code, System exit(code))

//doc Protos Addons The prototypes that are no part of the core.
Protos Addons := Object clone
