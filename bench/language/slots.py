# Two attributes of one object read and written, five million times.
class Account:
    balance = 0
    moves = 0


def run(times):
    account = Account()
    for i in range(1, times + 1):
        account.balance = account.balance + i
        account.moves = account.moves + 1
    return account.balance + account.moves


print(run(5000000))
