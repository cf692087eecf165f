//! Repeating and padding to a width, counted in items. A padding that is missing or empty is one space.

use super::{Sequence, SequenceError, check_size};

impl Sequence {
    pub fn repeated(&self, times: usize) -> Result<Sequence, SequenceError> {
        check_size(self.size_in_bytes().saturating_mul(times))?;
        Ok(self.like_vec(self.as_bytes().repeat(times)))
    }

    /// Pads on the right; never shortens.
    pub fn align_left_in_place(&mut self, width: i64, padding: Option<&Sequence>) -> Result<(), SequenceError> {
        let space = Sequence::from(" ");
        let padding = padding.filter(|padding| !padding.is_empty()).unwrap_or(&space);
        self.widen_for(padding);
        let target = usize::try_from(width).unwrap_or(0);
        let missing = target.saturating_sub(self.len());
        if missing > 0 {
            let unit = self.prefix_len(padding);
            self.append_seq(&padding.repeated(missing.div_ceil(unit))?);
            self.set_size(target)?;
        }
        Ok(())
    }

    pub fn align_left(&self, width: i64, padding: Option<&Sequence>) -> Result<Sequence, SequenceError> {
        let mut out = self.clone();
        out.align_left_in_place(width, padding).map(|()| out)
    }

    /// Pads on the left.
    pub fn align_right(&self, width: i64, padding: Option<&Sequence>) -> Result<Sequence, SequenceError> {
        let mut out = Sequence::new();
        out.align_left_in_place(width.saturating_sub(self.len() as i64), padding)?;
        out.append_seq(self);
        Ok(out)
    }

    /// Pads on both sides, the odd one on the right.
    pub fn align_center(&self, width: i64, padding: Option<&Sequence>) -> Result<Sequence, SequenceError> {
        let half = (self.len() as i64).saturating_add(width).div_euclid(2);
        let mut out = self.align_right(half, padding)?;
        out.align_left_in_place(width, padding).map(|()| out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligns_as_the_io_suite_says() {
        let abc = Sequence::from("abc");
        for width in [0, -10, i64::MIN] {
            assert_eq!(abc.align_left(width, None), Ok(abc.clone()));
            assert_eq!(abc.align_center(width, None), Ok(abc.clone()));
            assert_eq!(abc.align_right(width, None), Ok(abc.clone()));
        }
        let text = Sequence::from("[abc]");
        let padding = Sequence::from("123");
        let aligned = |result: Result<Sequence, SequenceError>| result.unwrap().to_text();
        assert_eq!(aligned(text.align_left(10, Some(&padding))), "[abc]12312");
        assert_eq!(aligned(text.align_center(10, Some(&padding))), "12[abc]123");
        assert_eq!(aligned(text.align_right(10, Some(&padding))), "12312[abc]");
        assert_eq!(aligned(abc.align_center(10, None)), "   abc    ");
        assert_eq!(aligned(text.align_center(9, Some(&Sequence::new()))), "  [abc]  ");
        assert!(text.align_left(i64::MAX, None).is_err());
    }
}
