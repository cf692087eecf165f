# 200,000 string keys put into a map and read back, the keys made anew each time; four maps.
def fill(size):
    table = {}
    for i in range(1, size + 1):
        table[f"key{i}"] = i
    return table


def total(table, size):
    result = 0
    for i in range(1, size + 1):
        result = result + table[f"key{i}"]
    return result


def run(times, size):
    result = 0
    for _ in range(times):
        result = result + total(fill(size), size)
    return result


print(run(4, 200000))
