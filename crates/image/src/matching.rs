//! What stays of a list: the longest common part of what it was and is, so that an edit is told as an edit, and one of another
//! author that meets it later finds the items that it knew.

/// Beyond so many comparisons it is not worth it.
pub const COMPARISONS_MAX: usize = 1 << 14;

/// Items that are others now.
#[derive(PartialEq, Eq, Debug)]
pub struct Gap<'n, T> {
    /// Where it begins, with all gaps before it filled.
    pub index: usize,
    pub removed: usize,
    pub inserted: &'n [T],
}

/// What stands between the items that stay, in order.
pub fn gaps<'n, T: PartialEq>(old: &[T], new: &'n [T]) -> Vec<Gap<'n, T>> {
    let lengths = common_lengths(old, new);
    let common = |old: usize, at: usize| lengths[old * (new.len() + 1) + at];
    let mut gaps = Vec::new();
    // Up to where both are told.
    let (mut told_old, mut told_new) = (0, 0);
    let (mut at_old, mut at_new) = (0, 0);
    loop {
        let stays = at_old < old.len() && at_new < new.len() && old[at_old] == new[at_new];
        let is_end = at_old == old.len() && at_new == new.len();
        if stays || is_end {
            if (told_old, told_new) != (at_old, at_new) {
                gaps.push(Gap { index: told_new, removed: at_old - told_old, inserted: &new[told_new..at_new] });
            }
            if is_end {
                return gaps;
            }
            (at_old, at_new) = (at_old + 1, at_new + 1);
            (told_old, told_new) = (at_old, at_new);
        } else if at_old == old.len()
            || (at_new < new.len() && common(at_old, at_new + 1) >= common(at_old + 1, at_new))
        {
            at_new += 1;
        } else {
            at_old += 1;
        }
    }
}

/// How long the common part is of what is left from each pair of places on.
fn common_lengths<T: PartialEq>(old: &[T], new: &[T]) -> Vec<u16> {
    let width = new.len() + 1;
    let mut lengths = vec![0u16; (old.len() + 1) * width];
    for at_old in (0..old.len()).rev() {
        for at_new in (0..new.len()).rev() {
            let at = at_old * width + at_new;
            lengths[at] = match old[at_old] == new[at_new] {
                true => lengths[at + width + 1] + 1,
                false => lengths[at + width].max(lengths[at + 1]),
            };
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(old: &str, new: &str) -> Vec<(usize, usize, String)> {
        let (old, new) = (old.as_bytes(), new.as_bytes());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        gaps(old, new).iter().map(|gap| (gap.index, gap.removed, text(gap.inserted))).collect()
    }

    #[test]
    fn what_stays_is_left_alone() {
        assert_eq!(told("abc", "abc"), []);
        assert_eq!(told("abc", "amb"), [(1, 0, "m".into()), (3, 1, String::new())]);
        assert_eq!(told("amb", "famby"), [(0, 0, "f".into()), (4, 0, "y".into())]);
        assert_eq!(told("abc", "axc"), [(1, 1, "x".into())]);
        assert_eq!(told("abc", ""), [(0, 3, String::new())]);
        assert_eq!(told("", "ab"), [(0, 0, "ab".into())]);
        assert_eq!(told("ab", "ba").len(), 2);
    }
}
