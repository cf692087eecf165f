//! The telos command: arguments, configuration and wiring; nothing else.

fn main() {
    println!("telos {}", env!("CARGO_PKG_VERSION"));
}
