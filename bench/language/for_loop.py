# A counting loop: one addition for each of ten million numbers.
def run(limit):
    total = 0
    for i in range(1, limit + 1):
        total = total + i
    return total


print(run(10000000))
