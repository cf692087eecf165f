# A list of a million numbers, built by appending and summed by iterating, five times over.
def build(size):
    items = []
    for i in range(1, size + 1):
        items.append(i)
    return items


def total(items):
    result = 0
    for item in items:
        result = result + item
    return result


def run(times):
    result = 0
    for _ in range(times):
        result = result + total(build(1000000))
    return result


print(run(5))
