//! The example of an embedder runs to its end.

#[path = "../examples/embed.rs"]
mod example;

#[test]
fn the_example_runs() {
    example::main().expect("the example handles what it provokes");
}
