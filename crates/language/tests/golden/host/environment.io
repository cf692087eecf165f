# Environment variables: set, read, and nil when missing.
System getEnvironmentVariable("GOLDEN_NO_SUCH_VARIABLE") println
System setEnvironmentVariable("GOLDEN_VARIABLE", "value")
System getEnvironmentVariable("GOLDEN_VARIABLE") println
