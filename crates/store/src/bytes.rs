//! Fixed numbers in bytes, least first: the headers of our files, which must be found without decoding anything.

/// Reads fields one after the other; past the end they are zero, so lengths are checked before.
pub struct Fields<'b> {
    bytes: &'b [u8],
}

impl<'b> Fields<'b> {
    pub const fn new(bytes: &'b [u8]) -> Fields<'b> {
        Fields { bytes }
    }

    pub fn u8(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        if let Some((first, rest)) = self.bytes.split_first_chunk::<N>() {
            array = *first;
            self.bytes = rest;
        } else {
            self.bytes = &[];
        }
        array
    }

    /// So many bytes, if there are.
    pub fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (first, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(first)
    }

    pub fn rest(self) -> &'b [u8] {
        self.bytes
    }
}

/// The checksum of everything that is ours: XXH3 with 64 bits. At 64 bits no burst or chance that a disk produces goes
/// unseen; on the 50 to 700 bytes of a frame it is as fast as CRC in hardware, and needs no instruction of the processor.
pub fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(bytes, seed)
}
