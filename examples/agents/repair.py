#!/usr/bin/env python3
"""An agent that repairs a method of an image, in a dream: it tries other operators until every test passes.

    telos dream run --image garden --merge --mandate 'the total is price times amount' \\
        --file examples/agents/repair.py --command python3 repair.py 'Shop total'

Copy it, and put something cleverer into `ideas`. Requests and answers are JSON-RPC 2.0, one object a line, over standard
input and output: docs/dream.md has them all. What it finds is judged again by the image before it is merged.
"""

import itertools
import json
import re
import sys

# Operators that one is easily taken for another of the same group.
GROUPS = [["+", "-", "*", "/"], ["<", "<=", ">", ">="], ["==", "!="], ["and", "or"]]
OPERATOR = re.compile(r"(?<= )(?:[-+*/]|<=|>=|<|>|==|!=|and|or)(?=[ (])")

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


def ideas(source):
    """The same source with one operator replaced, in every way."""
    for found in OPERATOR.finditer(source):
        for group in GROUPS:
            if found.group() in group:
                for other in group:
                    if other != found.group():
                        yield source[: found.start()] + other + source[found.end() :]


def failing():
    return [result["test"] for result in ask("tests")["results"] if not result["passed"]]


def main():
    path = sys.argv[1]
    hello = read()["params"]
    print(f"dream {hello['dream']}: {hello['mandate']}", file=sys.stderr)
    broken = failing()
    if not broken:
        return ask("done", summary="no test fails: there is nothing to do")
    ask("log", text=f"failing: {', '.join(broken)}")
    source = ask("get", path=path)["value"]
    for tried, idea in enumerate(ideas(source), 1):
        try:
            ask("set", path=path, source=idea)
            if not failing():
                return ask("done", summary=f"{path} is repaired, with idea {tried}: {' '.join(idea.split())}")
        except Failed as error:
            ask("log", text=f"idea {tried}: {error}")
    # Whoever does not say done has failed, and nothing is merged.
    sys.exit(f"no idea makes the tests of {path} pass")


if __name__ == "__main__":
    main()
