ListTest := UnitTest clone do(
    testMapForms := method(
        assertEquals(list(2, 3), list(1, 2) map(+ 1))
        assertEquals(list(10, 20), list(1, 2) map(n, n * 10))
        assertEquals(list("0a", "1b"), list("a", "b") map(i, s, i asString .. s))
    )

    testMapNamesStayInTheBody := method(
        list(1, 2) map(index, inner, extra := inner)
        assertNil(getSlot("index"))
        assertNil(getSlot("inner"))
        assertNil(getSlot("extra"))
    )

    testMapBodySeesTheSender := method(
        factor := 3
        self offset := 1
        assertEquals(list(4, 7), list(1, 2) map(n, n * factor + offset))
    )

    testMapLeavesTheReceiverAlone := method(
        original := list(1, 2)
        original map(n, n + 1)
        assertEquals(list(1, 2), original)
        assertSame(original, original mapInPlace(n, n + 1))
        assertEquals(list(2, 3), original)
    )

    testMapWithoutBodyRaises := method(
        assertRaisesException(list(1) map)
        assertRaisesException(list(1) select)
        assertRaisesException(list(1) detect)
        assertRaisesException(list(1) reduce)
        assertRaisesException(list(1) groupBy)
    )

    testMapKeepsTheKindOfList := method(
        Stack := List clone do(top := method(self last))
        assertEquals(4, Stack clone append(1, 2) map(n, n * 2) top)
    )

    testMapOfBlocksDoesNotActivateThem := method(
        blocks := list(block(1), block(2))
        assertEquals(list(1, 2), blocks map(call))
    )

    testNestedLoopsSeeBothNames := method(
        rows := list(1, 2) map(a, list(10, 20) map(b, a + b))
        assertEquals(list(list(11, 21), list(12, 22)), rows)
    )

    testSelectForms := method(
        assertEquals(list(3), list(1, 3) select(> 2))
        assertEquals(list(3), list(1, 3) select(n, n > 2))
        assertEquals(list("b"), list("a", "b") select(i, s, i == 1))
    )

    testSelectInPlaceReturnsTheReceiver := method(
        numbers := list(1, 2, 3, 4)
        assertSame(numbers, numbers selectInPlace(n, n isEven))
        assertEquals(list(2, 4), numbers)
    )

    testSelectKeepsNilElements := method(
        assertEquals(list(nil, nil), list(nil, 1, nil) select(isNil))
    )

    testSelectBreakKeepsTheRest := method(
        assertEquals(list(2, 3, 4), list(1, 2, 3, 4) select(n, if(n == 3, break); n > 1))
    )

    testDetectReturnsTheFirst := method(
        assertEquals(2, list(1, 2, 4) detect(isEven))
        assertEquals(4, list(1, 2, 4) detect(i, n, i == 2))
        assertNil(list(1, 3) detect(n, n isEven))
    )

    testReduceForms := method(
        assertEquals(10, list(1, 2, 3, 4) reduce(+))
        assertEquals(20, list(1, 2, 3, 4) reduce(+, 10))
        assertEquals(24, list(1, 2, 3, 4) reduce(a, b, a * b))
        assertEquals("abc", list("a", "b", "c") reduce(a, b, a .. b, ""))
    )

    testReduceOfEmptyAndSingle := method(
        assertNil(list() reduce(+))
        assertEquals(5, list(5) reduce(+))
        assertEquals(7, list() reduce(+, 7))
    )

    testReverseReduceStartsAtTheRight := method(
        assertEquals("cba", list("a", "b", "c") reverseReduce(a, b, a .. b))
    )

    testGroupBy := method(
        groups := list(1, 2, 3, 4) groupBy(isEven)
        assertEquals(list(2, 4), groups at("true"))
        assertEquals(list(1, 3), groups at("false"))
    )

    testSumAndAverage := method(
        assertEquals(6, list(1, 2, 3) sum)
        assertNil(list() sum)
        assertEquals(2, list(1, 2, 3) average)
    )

    testMaxAndMin := method(
        assertEquals(9, list(4, 9, 2) max)
        assertEquals(2, list(4, 9, 2) min)
        assertEquals("long", list("a", "long", "bb") max(size))
        assertEquals("a", list("long", "a", "b") min(size))
        assertNil(list() max)
    )

    testFlatten := method(
        assertEquals(list(1, 2, 3, 4), list(1, list(2, list(3)), list(), 4) flatten)
    )

    testFlattenOfDeepNesting := method(
        deep := list(1)
        2000 repeat(deep = list(deep))
        assertEquals(list(1), deep flatten)
    )

    testUnique := method(
        assertEquals(list(1, 2, 3), list(1, 2, 1, 3, 2) unique)
        assertEquals(list(list("a", 2), list("b", 1)), list("a", "b", "a") uniqueCount)
    )

    testSets := method(
        assertEquals(list(2, 3), list(1, 2, 3) intersect(list(2, 3, 4)))
        assertEquals(list(1), list(1, 2, 3) difference(list(2, 3, 4)))
        assertEquals(list(1, 2, 3), list(1, 2) union(list(2, 3)))
        assertTrue(list(1, 2, 3) containsAll(list(1, 3)))
        assertFalse(list(1, 2, 3) containsAll(list(1, 4)))
        assertTrue(list(1, 2, 3) containsAny(list(9, 3)))
        assertFalse(list(1, 2, 3) containsAny(list(8, 9)))
    )

    testRemoveFirstAndLast := method(
        items := list(1, 2, 3)
        assertEquals(1, items removeFirst)
        assertEquals(3, items removeLast)
        assertEquals(list(2), items)
        assertNil(list() removeFirst)
        assertNil(list() removeLast)
    )

    testInserting := method(
        assertEquals(list(1, 9, 2), list(1, 2) insertAfter(9, 1))
        assertEquals(list(1, 9, 2), list(1, 2) insertBefore(9, 2))
        assertEquals(list(1, 2, 9), list(1, 2) insertBefore(9, 7))
        assertEquals(list(9, 1, 2), list(1, 2) insertAt(9, 0))
    )

    testRestSecondThird := method(
        assertEquals(list(2, 3), list(1, 2, 3) rest)
        assertEquals(2, list(1, 2, 3) second)
        assertEquals(3, list(1, 2, 3) third)
        assertNil(list(1) second)
    )

    testSortLeavesTheReceiverAlone := method(
        items := list(3, 1, 2)
        assertEquals(list(1, 2, 3), items sort)
        assertEquals(list(3, 2, 1), items sortBy(block(a, b, a > b)))
        assertEquals(list(3, 1, 2), items)
    )

    testSortByKey := method(
        words := list("ccc", "a", "bb")
        assertEquals(list("a", "bb", "ccc"), words sortByKey(size))
        assertEquals(list("ccc", "bb", "a"), words sortByKey(word, 0 - word size))
    )

    testSortKeyWithComparison := method(
        words := list("bb", "a", "ccc")
        assertEquals(list("ccc", "bb", "a"), words sortKey(size) sort(>))
        assertEquals(list("a", "bb", "ccc"), words sortKey(size) sort(x, y, x < y))
    )

    testJoin := method(
        assertEquals("1-2-3", list(1, 2, 3) join("-"))
        assertEquals("", list() join("-"))
        assertEquals("ab", list("a", "b") join)
    )

    testAsStringQuotesStrings := method(
        assertEquals("list(1, \"a\", list(nil))", list(1, "a", list(nil)) asString)
    )

    testAsSimpleStringIsShort := method(
        many := List clone
        100 repeat(many append("abcdef"))
        assertEquals(40, many asSimpleString size)
    )

    testAsMapAndBack := method(
        pairs := list(list("a", 1), list("b", 2))
        assertEquals(2, pairs asMap at("b"))
        assertEquals(2, pairs asMap asList size)
    )

    testAsMessage := method(
        arguments := list(1, block(2)) asMessage
        assertEquals(2, arguments argCount)
        assertEquals(1, arguments argAt(0) cachedResult)
    )

    testCursor := method(
        cursor := list("a", "b") cursor
        assertEquals("a", cursor value)
        assertTrue(cursor next)
        assertEquals("b", cursor value)
        assertFalse(cursor next)
        assertEquals("b", cursor value)
        assertTrue(cursor previous)
        assertFalse(cursor previous)
        cursor insert("z")
        assertEquals("z", cursor value)
        cursor remove
        assertEquals("a", cursor value)
    )
)
