# Puts as many string keys into one map as the first argument says; measured at two sizes to see how a put scales.
import sys


def fill(size):
    table = {}
    for i in range(1, size + 1):
        table[f"key{i}"] = i
    return table


print(len(fill(int(sys.argv[1]))))
