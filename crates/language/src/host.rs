//! What the embedder hands in: the only way from a program to the world. A machine without any of it still runs every
//! program that needs none.

use std::any::Any;

/// Where a program's output goes.
pub trait Output {
    fn write(&mut self, bytes: &[u8]);
}

/// Capabilities, each absent unless handed in.
#[derive(Default)]
pub struct Host {
    pub output: Option<Box<dyn Output>>,
    /// What the embedder's own primitives share.
    pub extra: Option<Box<dyn Any>>,
}

impl Host {
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if let Some(output) = &mut self.output {
            output.write(bytes);
        }
    }
}
