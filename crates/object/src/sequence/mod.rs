//! Stand-in until the real one is merged.
#[derive(Default, Clone, Debug, PartialEq)]
pub struct Sequence {
    bytes: Vec<u8>,
}
impl Sequence {
    pub fn from_bytes(bytes: Vec<u8>) -> Sequence {
        Sequence { bytes }
    }
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}
