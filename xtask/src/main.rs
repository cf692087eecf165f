//! The gate: formatting, lints, tidiness, tests and benchmarks.

fn main() {}
