//! SHA-256, as `sha256sum` prints it: of code, of output, of files.

use sha2::{Digest as _, Sha256};
use std::fmt::Write;

/// That of nothing. Most programs say nothing on one stream, and the first use of SHA-256 asks the processor what it can,
/// which takes long on virtual machines.
const OF_NOTHING: [u8; 32] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27, 0xae, 0x41,
    0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];

/// Begun with the first byte.
#[derive(Clone, Default)]
pub struct Digest(Option<Sha256>);

impl Digest {
    pub fn add(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.0.get_or_insert_default().update(bytes);
        }
    }

    fn bytes(&self) -> [u8; 32] {
        self.0.clone().map_or(OF_NOTHING, |begun| begun.finalize().into())
    }

    pub fn text(&self) -> String {
        self.bytes().iter().fold("sha256:".to_string(), |mut text, byte| {
            // Writing to a String never fails.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Digest) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Digest {}

impl std::fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text())
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
        let three = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(super::of(b"abc").text(), three);
    }
}
