//! Shell commands: of the live image as children of this process, of dreams in a sandbox beside theirs.

mod live;
mod sibling;

pub use live::live;
pub use sibling::sibling;

/// Of standard output and standard error together.
const OUTPUT_BYTES_MAX: usize = 16 << 20;
