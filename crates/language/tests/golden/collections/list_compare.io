# Lists compare by size first, then item by item.
(list(1, 2) < list(1, 3)) println
(list(2) > list(1, 9)) println
(list(1) == list(1.0)) println
list(1, 2) compare(list(1, 2)) println
list("a") compare(list("b")) println
