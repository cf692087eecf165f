Shop := Object clone do(
    stock := 100
    opens := "9:00"
    total := method(price, amount, price + amount)
)
Till := Object clone do(
    sold := 0
    sell := method(price, amount,
        sold = sold + 1
        Shop total(price, amount)
    )
)
ShopTest := UnitTest clone do(
    testTotal := method(assertEquals(12, Shop total(3, 4)))
)
nil
