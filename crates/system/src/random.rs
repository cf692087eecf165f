//! Randomness from the kernel, by its own call: a program that carries its C library finds no other way to it than a file, and a
//! copy of the process that gave up its files would have none.

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;

pub fn fill(bytes: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
            Ok(more) => filled += more,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

pub fn number() -> io::Result<u64> {
    let mut bytes = [0; 8];
    fill(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}
