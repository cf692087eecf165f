//! How much of what a client sends after the head of a request belongs to that request. What comes behind it would be
//! another request, whose host nobody checked, and is not passed on.

/// What may still pass from the run to the other side.
#[derive(Debug, PartialEq, Eq)]
pub enum Passing {
    /// A tunnel.
    Everything,
    Length(u64),
    Chunks(Chunk),
}

/// Where in a body of chunks the next byte stands.
#[derive(Debug, PartialEq, Eq)]
pub enum Chunk {
    Size { value: u64, digits: u8 },
    Extension { value: u64 },
    SizeEnd { value: u64 },
    Data { left: u64 },
    DataReturn,
    DataEnd,
    LineStart,
    Trailer,
    TrailerEnd,
    LastEnd,
    Done,
}

/// The chunks are not such as everybody would read alike.
#[derive(Debug, PartialEq, Eq)]
pub struct BadChunks;

/// More would be no size of anything.
const SIZE_DIGITS: u8 = 15;

impl Passing {
    pub fn chunks() -> Passing {
        Passing::Chunks(Chunk::Size { value: 0, digits: 0 })
    }

    pub fn is_done(&self) -> bool {
        matches!(self, Passing::Length(0) | Passing::Chunks(Chunk::Done))
    }

    /// How many of these bytes may pass.
    pub fn take(&mut self, bytes: &[u8]) -> Result<usize, BadChunks> {
        match self {
            Passing::Everything => Ok(bytes.len()),
            Passing::Length(left) => {
                let taken = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= taken as u64;
                Ok(taken)
            }
            Passing::Chunks(chunk) => take_chunks(chunk, bytes),
        }
    }
}

fn take_chunks(chunk: &mut Chunk, bytes: &[u8]) -> Result<usize, BadChunks> {
    let mut taken = 0;
    while taken < bytes.len() && *chunk != Chunk::Done {
        if let Chunk::Data { left } = chunk {
            let step = (bytes.len() - taken).min(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= step as u64;
            taken += step;
            if *left == 0 {
                *chunk = Chunk::DataReturn;
            }
        } else {
            *chunk = after(chunk, bytes[taken])?;
            taken += 1;
        }
    }
    Ok(taken)
}

/// Where one is after a byte that is no data.
fn after(chunk: &Chunk, byte: u8) -> Result<Chunk, BadChunks> {
    let next = match (chunk, byte) {
        (Chunk::Size { value, digits }, _) if byte.is_ascii_hexdigit() && *digits < SIZE_DIGITS => {
            let digit = char::from(byte).to_digit(16).ok_or(BadChunks)?;
            Chunk::Size { value: value << 4 | u64::from(digit), digits: digits + 1 }
        }
        (Chunk::Size { value, digits: 1.. }, b';') => Chunk::Extension { value: *value },
        (Chunk::Size { value, digits: 1.. } | Chunk::Extension { value }, b'\r') => Chunk::SizeEnd { value: *value },
        (Chunk::SizeEnd { value: 0 }, b'\n') => Chunk::LineStart,
        (Chunk::SizeEnd { value }, b'\n') => Chunk::Data { left: *value },
        (Chunk::DataReturn, b'\r') => Chunk::DataEnd,
        (Chunk::DataEnd, b'\n') => Chunk::Size { value: 0, digits: 0 },
        (Chunk::LineStart, b'\r') => Chunk::LastEnd,
        (Chunk::Trailer, b'\r') => Chunk::TrailerEnd,
        (Chunk::TrailerEnd, b'\n') => Chunk::LineStart,
        (Chunk::LastEnd, b'\n') => Chunk::Done,
        (Chunk::Extension { value }, other) if other != b'\n' => Chunk::Extension { value: *value },
        (Chunk::LineStart | Chunk::Trailer, other) if other != b'\n' => Chunk::Trailer,
        _ => return Err(BadChunks),
    };
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"5;x=y\r\nhello\r\n0\r\nTrailer: 1\r\n\r\n";

    #[test]
    fn a_body_ends_where_its_length_says() {
        let mut passing = Passing::Length(5);
        assert_eq!(passing.take(b"hel"), Ok(3));
        assert_eq!(passing.take(b"loGET /"), Ok(2));
        assert!(passing.is_done());
        assert_eq!(passing.take(b"more"), Ok(0));
    }

    #[test]
    fn chunks_end_where_they_end_however_they_are_cut() {
        for cut in 0..=BODY.len() {
            let mut passing = Passing::chunks();
            assert_eq!(passing.take(&BODY[..cut]), Ok(cut));
            let rest = [&BODY[cut..], b"GET http://other/"].concat();
            assert_eq!(passing.take(&rest), Ok(BODY.len() - cut));
            assert!(passing.is_done());
        }
    }

    #[test]
    fn chunks_that_two_could_read_differently_are_refused() {
        for bad in [
            "5\nhello",
            "\r\n",
            "-1\r\n",
            "0x5\r\nhello\r\n",
            "5\r\nhelloX",
            "1000000000000000\r\n",
            "5 \r\n",
            "0\r\n\n",
        ] {
            assert_eq!(Passing::chunks().take(bad.as_bytes()), Err(BadChunks), "{bad:?}");
        }
    }
}
