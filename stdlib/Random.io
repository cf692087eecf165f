// Random: numbers by chance from the host, or from a seed, and then always the same.
//
// Without a seed every number comes from the primitive Random systemValue. With one, two
// multiplicative congruential generators are combined, as L'Ecuyer proposed in 1988; all their
// intermediate values are whole numbers below 2^47, so doubles compute them exactly.

//metadoc Random description A source of random numbers.
Random do(
    firstState ::= nil
    secondState ::= nil

    //doc Random setSeed(number) Makes the receiver give the sequence of numbers that belongs to the seed. Returns self.
    setSeed := method(seed,
        whole := seed floor abs
        setFirstState(whole % 2147483562 + 1)
        setSecondState((whole / 2147483562) floor % 2147483398 + 1)
        // Neighbouring seeds start alike; a few steps part them.
        16 repeat(nextValue)
        self
    )

    nextValue := method(
        if(firstState isNil, return systemValue)
        self firstState := firstState * 40014 % 2147483563
        self secondState := secondState * 40692 % 2147483399
        difference := firstState - secondState
        if(difference < 0, difference = difference + 2147483562)
        difference / 2147483562
    )

    //doc Random value(low, high) Returns a number from 0 up to 1, up to the only argument, or from low up to high; the upper bound itself is left out.
    value := method(low, high,
        if(low isNil, return nextValue)
        if(high isNil, low * nextValue, low + (high - low) * nextValue)
    )

    //doc Random int(low, high) Returns a whole number from 0 up to the only argument, or from low up to high; the upper bound itself is left out.
    int := method(low, high, self value(low, high) floor)

    //doc Random flip Returns true or false.
    flip := method(nextValue < 0.5)

    //doc Random gaussian(mean, standardDeviation) Returns a normally distributed number, by default around 0 with deviation 1.
    gaussian := method(mean, standardDeviation,
        radius := (-2 * (1 - nextValue) log) sqrt
        angle := 2 * Number constants pi * nextValue
        (mean ifNilEval(0)) + (standardDeviation ifNilEval(1)) * radius * angle cos
    )

    //doc Random bytes(count) Returns a Sequence of so many random bytes.
    bytes := method(count,
        random := Sequence clone setEncoding("number") preallocateToSize(count)
        count repeat(random append((nextValue * 256) floor))
        random
    )
)
