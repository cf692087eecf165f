//! SHA-256, as `sha256sum` prints it: of code, of output, of files.

use sha2::{Digest as _, Sha256};
use std::fmt::Write;

#[derive(Clone, Default)]
pub struct Digest(Sha256);

impl Digest {
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn bytes(&self) -> [u8; 32] {
        self.0.clone().finalize().into()
    }

    pub fn text(&self) -> String {
        self.bytes().iter().fold("sha256:".to_string(), |mut text, byte| {
            // Writing to a String never fails.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

pub fn of(bytes: &[u8]) -> Digest {
    let mut digest = Digest::default();
    digest.add(bytes);
    digest
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_digest_is_that_of_sha256sum() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(super::of(b"").text(), empty);
    }
}
