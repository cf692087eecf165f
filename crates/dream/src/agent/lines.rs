//! Bytes into lines. Of a line that is too long nothing is kept but that it was.

/// What came between two line ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Whole(Vec<u8>),
    TooLong,
}

pub struct Lines {
    most_bytes: usize,
    begun: Vec<u8>,
    /// The one that has begun is too long: told already, and left out to its end.
    is_skipping: bool,
}

impl Lines {
    pub fn new(most_bytes: usize) -> Lines {
        Lines { most_bytes, begun: Vec::new(), is_skipping: false }
    }

    /// Takes from the front of `bytes` up to the next line end; a line, if one is whole or too long by then.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Option<Line> {
        while !bytes.is_empty() {
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            *bytes = rest.get(1..).unwrap_or_default();
            if self.is_skipping {
                self.is_skipping = end.is_none();
            } else if self.begun.len() + piece.len() > self.most_bytes {
                self.begun = Vec::new();
                self.is_skipping = end.is_none();
                return Some(Line::TooLong);
            } else {
                self.begun.extend_from_slice(piece);
                if end.is_some() {
                    return Some(Line::Whole(std::mem::take(&mut self.begun)));
                }
            }
        }
        None
    }

    /// Of a line that has begun.
    pub fn held_bytes(&self) -> usize {
        self.begun.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<Line> {
        let mut lines = Lines::new(4);
        let mut all = Vec::new();
        for mut piece in pieces.iter().copied() {
            all.extend(std::iter::from_fn(|| lines.next(&mut piece)));
            assert!(lines.held_bytes() <= 4);
        }
        all
    }

    #[test]
    fn lines_come_in_pieces() {
        let whole = |text: &str| Line::Whole(text.into());
        assert_eq!(lines(&[b"ab\n\ncd", b"ef\ng"]), [whole("ab"), whole(""), whole("cdef")]);
    }

    #[test]
    fn a_line_that_is_too_long_is_told_once_and_left_out() {
        let whole = |text: &str| Line::Whole(text.into());
        assert_eq!(lines(&[b"abcde", b"fgh", b"ijkl\nok\n"]), [Line::TooLong, whole("ok")]);
        assert_eq!(lines(&[b"abcde\nok\n"]), [Line::TooLong, whole("ok")]);
    }
}
