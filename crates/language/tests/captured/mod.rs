//! Output that a test reads afterwards.

use language::{Host, Output};
use std::cell::RefCell;
use std::rc::Rc;

struct Captured(Rc<RefCell<Vec<u8>>>);

impl Output for Captured {
    fn write(&mut self, bytes: &[u8]) {
        self.0.borrow_mut().extend_from_slice(bytes);
    }
}

/// A host that has nothing but an output, and what was written to it.
pub fn captured() -> (Host, Rc<RefCell<Vec<u8>>>) {
    let output = Rc::new(RefCell::new(Vec::new()));
    (Host { output: Some(Box::new(Captured(output.clone()))), ..Host::default() }, output)
}
