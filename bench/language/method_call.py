# A method with two arguments, found in the receiver's class, called five million times.
class Adder:
    def add(self, a, b):
        return a + b


def run(calls):
    adder = Adder()
    total = 0
    for i in range(1, calls + 1):
        total = adder.add(total, i)
    return total


print(run(5000000))
