#!/usr/bin/env python3
"""An agent that mends a method of an image, in a dream.

    telos dream run --image garden --mandate 'Account tax is to be a fifth of the balance' \\
        --file examples/agents/mend.py --command python3 mend.py 'Account tax' 'method(balance * 0.2)'

It looks at what is there, puts its own in, runs the tests of the image, and says done only if none fails.
Requests and answers are JSON-RPC 2.0, one object a line: docs/dream.md has them all.
"""

import itertools
import json
import os
import sys

numbers = itertools.count(1)


class Failed(Exception):
    """The image said no."""


def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit("the dream is over")
    return json.loads(line)


def ask(method, **params):
    """Sends a request and waits for its answer."""
    number = next(numbers)
    print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}), flush=True)
    while True:
        answer = read()
        if answer.get("id") == number:
            break
    if "error" in answer:
        raise Failed(answer["error"]["message"])
    return answer["result"]


def main():
    path, source = sys.argv[1:]
    hello = read()["params"]
    # What is written to standard error is shown to whoever started the agent.
    print(f"dream {hello['dream']}: {os.environ['TELOS_MANDATE']}", file=sys.stderr)
    before = ask("get", path=path)
    ask("log", text=f"{path} was {before['value']}")
    ask("set", path=path, source=source)
    report = ask("tests")
    for result in report["results"]:
        if not result["passed"]:
            ask("log", text=f"{result['test']}: {result['error']}")
    if report["failed"]:
        sys.exit(f"failing tests: {report['failed']}")
    ask("done", summary=f"{path} is mended; passing tests: {report['passed']}")


if __name__ == "__main__":
    main()
