//! A program that embeds Io, from end to end: a small shop whose prices are rules written in Io.
//! `cargo run -p language --example embed` prints the receipt.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "an example of an embedder, which may print and start threads"
)]

use language::{ALL, Args, Error, Foreign, Function, Halt, Host, Limits, NONE, ONE, Output, Value, Vm};
use std::any::Any;
use std::time::Duration;

/// A capability: the program's output, each line marked.
struct Marked;

impl Output for Marked {
    fn write(&mut self, bytes: &[u8]) {
        print!("{}", String::from_utf8_lossy(bytes).replace('\n', "  (said by the program)\n"));
    }
}

/// State that stays in Rust.
#[derive(Default)]
struct Stock(Vec<(String, f64)>);

impl Foreign for Stock {
    fn logical_bytes(&self) -> usize {
        self.0.iter().map(|(name, _)| name.len() + 8).sum()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// `Shop price(name)`, which raises if there is no such thing.
fn price(vm: &mut Vm, args: Args) -> Result<Value, language::Signal> {
    let name = args.text(vm, 0)?;
    let stock = vm.foreign::<Stock>(args.target);
    let found = stock.and_then(|stock| stock.0.iter().find(|(each, _)| *each == name)).map(|&(_, price)| price);
    found.map(Value::number).ok_or_else(|| vm.raise(format!("the shop has no '{name}'")))
}

/// A machine that knows a shop, and whose programs may not run for ever.
fn machine(tax: f64) -> Vm {
    let mut vm = Vm::new(Host { output: Some(Box::new(Marked)), ..Host::default() });
    let shop = vm.prototype("Shop");
    vm.set_foreign(shop, Stock(vec![("tea".into(), 3.0), ("cup".into(), 8.0)]));
    vm.define(shop, "price", ONE, Function::Plain(price));
    vm.define(shop, "tax", NONE, Function::shared(move |_, _| Ok(Value::number(tax))));
    vm.define(shop, "sell", ALL, Function::Plain(sell));
    vm.set_limits(Limits { fuel: Some(1_000_000), memory_bytes: Some(64 << 20), ..Limits::default() });
    vm
}

/// `Shop sell(name, …)` takes things out of the stock and answers how many it had.
fn sell(vm: &mut Vm, args: Args) -> Result<Value, language::Signal> {
    let mut names = Vec::new();
    for index in 0..args.count {
        names.push(args.text(vm, index)?);
    }
    let sold = vm.foreign_edit(args.target, |stock: &mut Stock| {
        let before = stock.0.len();
        stock.0.retain(|(name, _)| !names.contains(name));
        before - stock.0.len()
    });
    Ok(Value::number(sold.unwrap_or(0) as f64))
}

fn receipt(vm: &mut Vm) -> Result<(), Error> {
    vm.evaluate(
        "Receipt := Object clone do(
            total := method(names, names map(name, Shop price(name)) sum * (1 + Shop tax))
            lines := method(names, map := Map clone; names foreach(name, map atPut(name, Shop price(name))); map)
        )",
        "receipt.io",
    )?;
    let receipt = vm.evaluate("Receipt", "main")?;
    // Held by Rust alone, and the machine runs in between: it has to be retained.
    let names = ["tea", "cup"].map(|name| vm.symbol(name));
    let names = vm.list(names);
    vm.retain(names);
    let total = vm.send(receipt, "total", &[names])?;
    println!("total: {}", vm.number_of(total).unwrap_or_default());
    let lines = vm.send(receipt, "lines", &[names])?;
    for (name, price) in vm.map_of(lines).unwrap_or_default() {
        println!("{name}: {}", vm.to_text(price)?);
    }
    vm.release(names);
    vm.set_slot(receipt, "number", Value::number(7.0));
    vm.evaluate("(\"receipt \" .. Receipt number) println", "main").map(|_| ())
}

pub fn main() -> Result<(), Error> {
    let mut vm = machine(0.25);
    receipt(&mut vm)?;

    // An exception says what and where.
    match vm.evaluate("Shop sell(\"tea\")\nReceipt total(list(\"tea\"))", "order.io") {
        Err(Error::Exception(exception)) => {
            println!("{}", exception.message);
            for entry in &exception.trace.entries {
                println!("    {} at {}:{}", entry.name, entry.label, entry.line);
            }
        }
        other => println!("unexpected: {other:?}"),
    }

    // A limit ends a program that its own `try` cannot save; the machine goes on.
    let endless = vm.evaluate("try(loop(nil))", "endless.io");
    println!("{}", endless.map_or_else(|error| error.to_string(), |_| "it ended".to_string()));

    // So does another thread.
    vm.set_limits(Limits::default());
    let interrupt = vm.interrupt();
    let clock = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        interrupt.set();
    });
    let stopped = vm.evaluate("loop(nil)", "endless.io");
    assert!(matches!(stopped, Err(Error::Halted(Halt::Interrupted))));
    clock.join().expect("the clock thread does not panic");
    println!("interrupted; 6 * 7 is still {}", vm.evaluate("6 * 7", "main").and_then(|value| vm.to_text(value))?);
    Ok(())
}
