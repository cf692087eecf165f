#!/usr/bin/env python3
"""An agent that repairs a method of an image, in a dream: it tries other operators until the tests pass.

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
    return {result["test"] for result in ask("tests")["results"] if not result["passed"]}


def best_idea(path, broken):
    """The first idea that breaks nothing and leaves the fewest tests failing: its number, its source and those tests. Tests may
    fail for reasons that lie elsewhere, so not all of them have to pass."""
    best, left = None, broken
    for number, idea in enumerate(ideas(ask("get", path=path)["value"]), 1):
        try:
            ask("set", path=path, source=idea)
            now = failing()
        except Failed as error:
            ask("log", text=f"idea {number}: {error}")
            continue
        if now < left:
            best, left = (number, idea, now), now
        if not left:
            break
    return best


def main():
    path = sys.argv[1]
    hello = read()["params"]
    print(f"dream {hello['dream']}: {hello['mandate']}", file=sys.stderr)
    broken = failing()
    if not broken:
        return ask("done", summary="no test fails: there is nothing to do")
    ask("log", text=f"failing: {', '.join(sorted(broken))}")
    found = best_idea(path, broken)
    if not found:
        # Whoever does not say done has failed, and nothing is merged.
        sys.exit(f"no idea for {path} makes a failing test pass and breaks none")
    number, idea, left = found
    ask("set", path=path, source=idea)
    still = f"; still failing: {', '.join(sorted(left))}" if left else ""
    ask("done", summary=f"{path} is repaired, with idea {number}: {' '.join(idea.split())}{still}")


if __name__ == "__main__":
    main()
