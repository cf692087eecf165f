# The zygote of Python: an interpreter that has started and loaded its modules, and forks for each run. It is started by
# telos in namespaces that were prepared for runs, with the modules to load as its arguments, and hears of each run on
# descriptor 3. Nothing that it is told runs in it, only in its children.
#
# A message has one line for each system call by which the child gives up what it does not need. With it come descriptors:
# standard input, output and error, the socket to report to, landlock's rules, and the namespaces of the run, the one of
# processes first. All else is private to the run, and only the child hears it, from the socket that it reports to: words that
# end with a zero: the number of arguments, the directory, the arguments, the variables.
#
# The child's answer is eight bytes, as crates/sandbox/src/process/report.rs has them; the zygote tells how the child ended.
import array
import ctypes
import gc
import importlib
import os
import signal
import socket
import struct
import sys

SETNS, CLOSE_RANGE = {"x86_64": (308, 436), "aarch64": (268, 436)}[os.uname().machine]
# Numbers of steps and kinds of messages.
SEALED, FAILED, STARTED, ENDED = 22, 0, 1, 2
# Where the child puts what it needs last, above all else that it has.
RULES, REPORT = 60, 61
libc = ctypes.CDLL(None, use_errno=True)
syscall = libc.syscall
syscall.restype = ctypes.c_long
# Without what Python does about threads, of which there are none here: that touches half of its memory.
fork = ctypes.PyDLL(None).fork


def call(number, *arguments):
    if syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) == -1:
        raise OSError(ctypes.get_errno(), "system call %d" % number)


def say(report, kind, step, value):
    os.write(report, struct.pack("<BBHi", kind, step, 0, value))


def argument(text, kept):
    if text[0] == "r":
        return ctypes.c_long(RULES)
    if text[0] not in "bf":
        return ctypes.c_ulong(int(text))
    content = bytes.fromhex(text[1:])
    buffer = ctypes.create_string_buffer(content, len(content))
    kept.append(buffer)
    if text[0] == "f":
        pointed = struct.pack("HxxxxxxQ", len(content) // 8, ctypes.addressof(buffer))
        buffer = ctypes.create_string_buffer(pointed, len(pointed))
        kept.append(buffer)
    return ctypes.c_void_p(ctypes.addressof(buffer))


# Calls as they are made, for each text that told them: most runs are told the same.
known = {}


def sealing(text):
    if text not in known:
        if len(known) >= 16:
            known.clear()
        kept = []
        calls = []
        for line in text.decode().split("\n"):
            number, *rest = line.split(" ")
            calls.append([ctypes.c_long(int(number))] + [argument(each, kept) for each in rest])
        known[text] = calls, kept
    return known[text][0]


def enter(directory, calls, descriptors):
    """All that turns a copy of the zygote into a run."""
    stdin, stdout, stderr, _, rules, _, *namespaces = descriptors
    for namespace in namespaces:
        call(SETNS, namespace, 0)
    os.setsid()
    os.umask(0o022)
    for place, descriptor in enumerate((stdin, stdout, stderr)):
        os.dup2(descriptor, place)
    # The rules and the report are the last that are needed.
    os.dup2(rules, RULES, inheritable=False)
    call(CLOSE_RANGE, 3, RULES - 1, 0)
    call(CLOSE_RANGE, REPORT + 1, 0x7FFFFFFF, 0)
    os.chdir(directory)
    # Nothing but these calls happens between the first and the last of them.
    for each in calls:
        if syscall(*each) == -1:
            raise OSError(ctypes.get_errno(), "sealing")
    os.close(RULES)


def main_module(name):
    module = type(sys)("__main__")
    module.__dict__.update(__builtins__=__builtins__, __file__=name)
    if name is None:
        del module.__file__
    sys.modules["__main__"] = module
    return module.__dict__


def perform(argv):
    """As `python3 -c CODE …` or `python3 FILE …` does; its exit code."""
    try:
        if argv[1] == "-c":
            sys.argv, sys.path[0:1], name = ["-c"] + argv[3:], [""], "<string>"
            code, scope = argv[2], main_module(None)
        elif os.path.isdir(argv[1]) or argv[1].endswith((".zip", ".pyz", ".pyc")):
            import runpy

            sys.argv = argv[1:]
            runpy.run_path(argv[1], run_name="__main__")
            return 0
        else:
            sys.argv, name = argv[1:], argv[1]
            sys.path[0:1] = [os.path.dirname(name)]
            with open(name, "rb") as file:
                code = file.read()
            scope = main_module(name)
        exec(compile(code, name, "exec", dont_inherit=True), scope)
        return 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            code = end.code or 0
            return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 255
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt as error:
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


def finish(code):
    """What an interpreter does at its end."""
    import atexit
    import threading

    try:
        threading._shutdown()
        atexit._run_exitfuncs()
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                code = code or 120
        os._exit(code)


def take_environment(variables):
    """As if they had been there at the start."""
    wanted = dict(variable.split(b"=", 1) for variable in variables)
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


def run(calls, descriptors):
    os.dup2(descriptors[3], REPORT, inheritable=False)
    counts, *words = os.read(REPORT, 1 << 17).split(b"\0")
    arguments = 1 + int(counts)
    argv = [os.fsdecode(word) for word in words[1:arguments]]
    try:
        enter(words[0], calls, descriptors)
    except OSError as error:
        say(REPORT, FAILED, SEALED, error.errno or 5)
        os._exit(127)
    say(REPORT, STARTED, 0, 0)
    os.close(REPORT)
    take_environment(words[arguments:-1])
    sys.dont_write_bytecode = b"PYTHONDONTWRITEBYTECODE" in os.environ._data
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = argv
    if "random" in sys.modules:
        sys.modules["random"].seed()
    if "threading" in sys.modules:
        sys.modules["threading"].main_thread()._set_native_id()
    known.clear()
    gc.enable()
    finish(perform(argv))


def serve(line):
    size = array.array("i").itemsize
    while True:
        text, control, _, _ = line.recvmsg(1 << 16, socket.CMSG_SPACE(16 * size))
        if not text:
            os._exit(0)
        descriptors = array.array("i")
        for _, _, content in control:
            descriptors.frombytes(content[: len(content) - len(content) % size])
        calls = sealing(text)
        call(SETNS, descriptors[5], 0x20000000)
        pid = fork()
        if pid == 0:
            line.close()
            # What it knows of earlier runs is none of this one's business.
            status = control = content = None
            run(calls, list(descriptors))
        report = descriptors.pop(3)
        for descriptor in descriptors:
            os.close(descriptor)
        if pid > 0:
            ended = 0
            while ended != pid:
                ended, status = os.waitpid(-1, 0)
            try:
                say(report, ENDED, 0, status)
            except OSError:
                pass
        os.close(report)


def main():
    for name in sys.argv[1:]:
        try:
            importlib.import_module(name)
        except ImportError:
            pass
    # What is made when it is first needed is made now.
    exec(compile("pass", "<string>", "exec"), {})
    # Copies share what is never written to: no collection looks at what is here now, in any of them.
    gc.disable()
    gc.collect()
    gc.freeze()
    line = socket.socket(fileno=3)
    line.send(b"r")
    serve(line)


main()
