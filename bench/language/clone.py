# Three million objects made from a class; each gets one attribute of its own and inherits the other.
class Point:
    x = 0
    y = 1


def run(count):
    total = 0
    for i in range(1, count + 1):
        point = Point()
        point.x = i
        total = total + point.x + point.y
    return total


print(run(3000000))
