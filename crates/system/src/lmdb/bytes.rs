//! Numbers in pages, in the byte order of the machine, as LMDB writes them. Past the end of the bytes they are zero: what is
//! read is not trusted.

#[inline]
pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes(array_at(bytes, at))
}

#[inline]
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(array_at(bytes, at))
}

#[inline]
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(array_at(bytes, at))
}

#[inline]
fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}
