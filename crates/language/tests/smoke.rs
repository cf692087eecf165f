use language::{Host, Output, Vm};
use std::cell::RefCell;
use std::rc::Rc;

struct Collect(Rc<RefCell<Vec<u8>>>);
impl Output for Collect {
    fn write(&mut self, bytes: &[u8]) {
        self.0.borrow_mut().extend(bytes);
    }
}

#[test]
fn smoke() {
    let text = Rc::new(RefCell::new(Vec::new()));
    let mut vm = Vm::new(Host { output: Some(Box::new(Collect(text.clone()))), ..Host::default() });
    let source = std::env::var("IO").unwrap_or_else(|_| "1 + 2 * 3".into());
    match vm.evaluate(&source, "smoke") {
        Ok(value) => println!("=> {:?} {:?}", value, vm.simple_text(value)),
        Err(error) => println!("error {error}"),
    }
    println!("{}", String::from_utf8_lossy(&text.borrow()));
}
