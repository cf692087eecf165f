# The zygote of Python: an interpreter that has started and loaded its modules, and forks for each run. It is started by
# telos in namespaces that were prepared for runs, with the modules to load as its arguments, and hears of each run on
# descriptor 3. Nothing that it is told runs in it, only in its children.
#
# A message has one line for each system call by which the child gives up what it does not need, or is `=` if they are those
# of the run before. With it come descriptors: the socket to report to, standard input, output and error, landlock's rules,
# and the namespaces of the run, the one of processes first. All else is private to the run, and only the child hears it, from
# the socket that it reports to: words that end with a zero: the directory, the number of arguments, these, the variables.
#
# The child's answer is eight bytes, as crates/sandbox/src/process/report.rs has them; the zygote tells how the child ended.
#
# Each page that is written to after the fork is copied, and to use an object is to write to it, since references to it are
# counted. So what can be made before the fork is made before, and a run begins with system calls whose arguments are ready.
import atexit
import ctypes
import gc
import os
import struct
import sys
import threading

READ, WRITE, CLOSE, DUP3, CHDIR, SETSID, SETNS, CLOSE_RANGE, RECVMSG, WAIT, EXIT, GETPID = {
    "x86_64": (0, 1, 3, 292, 80, 112, 308, 436, 47, 61, 231, 39),
    "aarch64": (63, 64, 57, 24, 49, 157, 268, 436, 212, 260, 94, 172),
}[os.uname().machine]
CLOSE_ON_EXEC, NEW_PROCESSES, ALL_ABOVE = 0o2000000, 0x20000000, 0x7FFFFFFF
# Numbers of steps and kinds of messages.
SEALED, FAILED, STARTED, ENDED = 22, 0, 1, 2
MESSAGE = struct.Struct("<BBHi")
# Where the zygote hears of runs, and where the child puts what it needs last, above all else that it has.
LINE, RULES, REPORT = 3, 60, 61
# Nobody else waits for the interpreter's lock, so that it need not be given up.
libc = ctypes.PyDLL(None)
syscall = libc.syscall
syscall.restype = ctypes.c_long
# Without what Python does about threads, of which there are none here: that touches half of its memory.
fork = libc.fork
libc.__errno_location.restype = ctypes.c_void_p
errno = ctypes.c_int.from_address(libc.__errno_location())


def room(content, length=None):
    return ctypes.create_string_buffer(content, length or len(content))


def prepared(number, *arguments):
    """A system call; what is no number among its arguments is in memory, and it is told where."""
    words = [each if isinstance(each, int) else ctypes.addressof(each) for each in arguments]
    # A number in a tuple is not written to when it is used.
    return (number, *(word if word < 1 << 31 else ctypes.c_ulong(word) for word in words))


# What the zygote is told, and with it descriptors behind four words about them; and what only the child is told.
told, passed, secret = room(b"", 1 << 16), (ctypes.c_int * 16)(), room(b"", 1 << 17)
place = room(struct.pack("QQ", ctypes.addressof(told), len(told)))
header = (ctypes.c_ulong * 7)(0, 0, ctypes.addressof(place), 1, ctypes.addressof(passed), 0, 0)
started, ended = room(MESSAGE.pack(STARTED, 0, 0, 0)), room(MESSAGE.pack(ENDED, 0, 0, 0))
status = ctypes.c_int.from_buffer(ended, 4)
hear = prepared(RECVMSG, LINE, header, 0)
wait = prepared(WAIT, -1, status, 0, 0)
exit_well = prepared(EXIT, 0)
variables = [b"=".join(each) for each in os.environ._data.items()]


class Calls:
    """All that are made for a run."""

    def __init__(self, text, descriptors):
        self.text, self.descriptors, self.kept = text, descriptors, []
        report, stdin, stdout, stderr, rules, *namespaces = descriptors
        self.listen = prepared(READ, report, secret, len(secret))
        self.go_ahead = prepared(SETNS, namespaces[0], NEW_PROCESSES)
        self.close_others = prepared(CLOSE_RANGE, report + 1, ALL_ABOVE, 0)
        self.tell_end = prepared(WRITE, report, ended, MESSAGE.size)
        self.close = prepared(CLOSE, report)
        # The rules and the report are the last that are needed; the secret begins with the directory.
        self.begin = [
            prepared(DUP3, report, REPORT, CLOSE_ON_EXEC),
            *(prepared(SETNS, namespace, 0) for namespace in namespaces),
            prepared(SETSID),
            *(prepared(DUP3, descriptor, place, 0) for place, descriptor in enumerate((stdin, stdout, stderr))),
            prepared(DUP3, rules, RULES, CLOSE_ON_EXEC),
            prepared(CLOSE_RANGE, 3, RULES - 1, 0),
            prepared(CLOSE_RANGE, REPORT + 1, ALL_ABOVE, 0),
            prepared(CHDIR, secret),
            *(self.sealing(line.split(" ")) for line in text.decode().split("\n")),
            prepared(CLOSE, RULES),
            prepared(WRITE, REPORT, started, MESSAGE.size),
            prepared(CLOSE, REPORT),
        ]

    def sealing(self, words):
        return prepared(int(words[0]), *map(self.argument, words[1:]))

    def argument(self, text):
        if text[0] == "r":
            return RULES
        if text[0] not in "bf":
            return int(text)
        content = bytes.fromhex(text[1:])
        self.kept.append(room(content))
        if text[0] == "f":
            self.kept.append(room(struct.pack("HxxxxxxQ", len(content) // 8, ctypes.addressof(self.kept[-1]))))
        return self.kept[-1]


def carry_out(calls):
    """Nothing but these calls happens between the first and the last of them."""
    for call in calls:
        if syscall(*call) == -1:
            failed = room(MESSAGE.pack(FAILED, SEALED, 0, errno.value or 5))
            syscall(*prepared(WRITE, REPORT, failed, MESSAGE.size))
            os._exit(127)


# What the program finds as its module: no run has used it before.
module = type(sys)("__main__")
scope = module.__dict__
scope["__builtins__"] = __builtins__


def perform(argv):
    """As `python3 -c CODE …` or `python3 FILE …` does; its exit code."""
    try:
        if argv[1] == "-c":
            # The path is right: the zygote was started in the same way.
            sys.argv = ["-c"] + argv[3:]
            exec(compile(argv[2], "<string>", "exec", 0, True), scope)
            return 0
        sys.argv, name = argv[1:], argv[1]
        if os.path.isdir(name) or name.endswith((".zip", ".pyz", ".pyc")):
            import runpy

            runpy.run_path(name, run_name="__main__")
            return 0
        sys.path[0:1] = [os.path.dirname(name)]
        with open(name, "rb") as file:
            code = file.read()
        scope["__file__"] = name
        exec(compile(code, name, "exec", 0, True), scope)
        return 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            code = end.code or 0
            return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 255
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt as error:
        import signal

        sys.excepthook(type(error), error.with_traceback(error.__traceback__.tb_next), error.__traceback__.tb_next)
        sys.stderr.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        return 130
    except BaseException as error:
        # Frames of ours are none of the program's business.
        trace = error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1


# Locks of threads that are waited for, that of the first among them; and what is to happen then. Not all versions have them.
locks, afterwards = getattr(threading, "_shutdown_locks", None), getattr(threading, "_threading_atexits", None)
own_locks = len(locks or ())
shut_down, run_exit_functions = threading._shutdown, atexit._run_exitfuncs


def is_alone():
    """Whether there is nothing to do about threads; it is not sure of that where it does not know how Python does it."""
    return own_locks == 1 == len(locks) and afterwards == [] and threading._shutdown is shut_down


def finish(code):
    """What an interpreter does at its end; its exit code."""
    try:
        if not is_alone():
            threading._shutdown()
        run_exit_functions()
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                if stream is not None and not getattr(stream, "closed", False):
                    code = code or 120
        return code


def take_environment(taken):
    """As if they had been there at the start."""
    wanted = dict(variable.split(b"=", 1) for variable in taken)
    here = os.environ._data
    for name in here.keys() - wanted.keys():
        os.unsetenv(name)
    for name, value in wanted.items():
        if here.get(name) != value:
            os.putenv(name, value)
    here.clear()
    here.update(wanted)
    if b"TZ" in here and "time" in sys.modules:
        sys.modules["time"].tzset()
    sys.dont_write_bytecode = b"PYTHONDONTWRITEBYTECODE" in here


enable_collector = gc.enable
main_thread, native_id = threading.main_thread(), threading.get_native_id
# What makes a copy's chance its own.
shuffle = []
# What is replaced in a copy, but kept: to free it would be to write to it.
replaced = []


def take_over(length):
    """Makes the interpreter that of the run which the secret tells of; its arguments."""
    words = secret[:length].split(b"\0")
    end = 2 + int(words[1])
    if words[end:-1] != variables:
        take_environment(words[end:-1])
    for each in shuffle:
        each()
    main_thread._native_id = native_id()
    argv = b"\0".join(words[2:end]).decode("utf-8", "surrogateescape").split("\0")
    sys.orig_argv = argv
    return argv


def run(calls):
    length = syscall(*calls.listen)
    if length < 1:
        os._exit(127)
    carry_out(calls.begin)
    argv = take_over(length)
    enable_collector()
    code = finish(perform(argv))
    if code == 0:
        syscall(*exit_well)
    os._exit(code)


def serve():
    calls = None
    while True:
        header[5] = ctypes.sizeof(passed)
        length = syscall(*hear)
        if length < 1:
            os._exit(0)
        descriptors = passed[4:12]
        if length > 1 or calls.descriptors != descriptors:
            calls = Calls(told[:length] if length > 1 else calls.text, descriptors)
            # What it knows of earlier runs is none of the next one's business.
            ctypes.memset(told, 0, length)
        if syscall(*calls.go_ahead) == -1:
            os._exit(1)
        child = fork()
        if child == 0:
            run(calls)
        syscall(*calls.close_others)
        if child > 0:
            await_end(child)
            syscall(*calls.tell_end)
            status.value = 0
        syscall(*calls.close)


def await_end(child):
    while True:
        gone = syscall(*wait)
        if gone == child:
            return
        if gone == -1:
            os._exit(1)


HUGE = 2 << 20
WRITABLE, RUNNABLE, PRIVATE, TO_A_PLACE, COLLAPSE = 3, 5, 0x22, 3, 25


def programs():
    """Where files with code lie in memory, with what is beside their code and never written to either."""
    areas = []
    with open("/proc/self/maps") as lines:
        for place, rights, _, _, _, *file in map(str.split, lines):
            first, last = (int(end, 16) for end in place.split("-"))
            if rights[:2] == "r-" and areas and areas[-1][::2] == [file, first]:
                areas[-1][2] = last
                areas[-1][1] |= rights[2] == "x"
            elif rights[:2] == "r-":
                areas.append([file, rights[2] == "x", last, first])
    return [(first, last) for file, has_code, last, first in areas if file and has_code]


def memory(name, place, *rest):
    call = getattr(libc, name)
    call.restype = ctypes.c_long
    return call(*map(ctypes.c_long, (place, *rest)))


def move_code():
    """Puts code into huge pages of the zygote's own: a copy has all of it from the beginning, without looking for pages."""
    for first, last in programs():
        begin = -(-first // HUGE) * HUGE
        length = last // HUGE * HUGE - begin
        spare = memory("mmap", 0, length + HUGE, WRITABLE, PRIVATE, -1, 0) if length > 0 else -1
        if spare == -1:
            continue
        copy = -(-spare // HUGE) * HUGE
        ctypes.memmove(copy, begin, length)
        # Small pages of its own would cost more than those of the file.
        if memory("madvise", copy, length, COLLAPSE) == 0 and memory("mprotect", copy, length, RUNNABLE) == 0:
            memory("mremap", copy, length, length, TO_A_PLACE, begin)
        memory("munmap", spare, length + HUGE)


def rehearse():
    """What is made when it is first needed is made now, and code becomes what it is when it was used often."""
    words = [b"/", b"3", b"python3", b"-c", b"pass"] + variables
    content = b"".join(word + b"\0" for word in words)
    secret[: len(content)] = content
    for _ in range(20):
        carry_out([prepared(GETPID)])
        code = perform(take_over(len(content)))
        # What modules want to do at the end is for copies to do.
        if is_alone() and atexit._ncallbacks() == 0:
            finish(code)
    ctypes.memset(secret, 0, len(content))
    sys.argv, sys.orig_argv = replaced[:] = [], []


def main():
    for name in sys.argv[1:]:
        try:
            __import__(name)
        except ImportError:
            pass
    if "random" in sys.modules:
        random = sys.modules["random"]
        shuffle.append(super(random.Random, random._inst).seed)
    os.umask(0o022)
    sys.modules["__main__"] = module
    rehearse()
    # Elsewhere nobody has seen that it runs.
    if os.uname().machine == "x86_64":
        move_code()
    # Copies share what is never written to: no collection looks at what is here now, in any of them.
    gc.disable()
    gc.collect()
    gc.freeze()
    syscall(*prepared(WRITE, LINE, room(b"r"), 1))
    serve()


main()
