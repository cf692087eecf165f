//! An image inside this process, on a machine that has nothing of its host but what it prints.

use image::{Cause, Embedder, Image, Options};
use language::{Host, Output, Value, Vm};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

/// What a program printed.
#[derive(Clone, Default)]
pub struct Printed(Rc<RefCell<Vec<u8>>>);

impl Printed {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.borrow()).trim_end().to_string()
    }

    pub fn host(&self) -> Host {
        Host { output: Some(Box::new(self.clone())), ..Host::default() }
    }
}

impl Output for Printed {
    fn write(&mut self, bytes: &[u8]) {
        self.0.borrow_mut().extend(bytes);
    }
}

impl Embedder for Printed {
    fn newborn(&self) -> Vm {
        Vm::new(self.host())
    }

    fn bare(&self) -> Vm {
        Vm::bare(self.host())
    }
}

/// An image that was made and put to rest before it is used: its objects come from the store, and nothing is left to do
/// for a checkpoint.
pub fn rested(directory: &Path, source: &str, printed: &Printed) -> Image {
    let mut image = Image::create(directory, &Options::default(), Box::new(printed.clone())).expect("it can be made");
    send(&mut image, source);
    image.store().checkpoint().expect("there is room");
    image.close().expect("it closes");
    open(directory, &Options::default(), printed)
}

pub fn open(directory: &Path, options: &Options, printed: &Printed) -> Image {
    Image::open(directory, options, Box::new(printed.clone())).expect("it opens")
}

/// One transaction, until it is durable.
pub fn send(image: &mut Image, source: &str) -> Value {
    let done = image.transact(&Cause::default(), |vm| vm.evaluate(source, "bench"));
    let (value, ticket) = done.unwrap_or_else(|error| panic!("{source}: {error}"));
    ticket.map_or(Ok(()), |ticket| image.wait(ticket)).expect("it is flushed");
    value
}
