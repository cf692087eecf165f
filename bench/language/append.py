# A million short pieces appended to one mutable string, eight strings.
# A bytearray is Python's mutable string of bytes, as Io's Sequence is; `text += piece` on a str is slower here,
# a list of pieces and one join about as fast.
def build(pieces):
    text = bytearray()
    for _ in range(pieces):
        text += b"telos "
    return text


def run(times, pieces):
    size = 0
    for _ in range(times):
        size = size + len(build(pieces))
    return size


print(run(8, 1000000))
