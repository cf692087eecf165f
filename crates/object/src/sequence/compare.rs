//! Order, equality and hashing. Owns two notions of equality: [`Sequence::equals`] is Io's `==`, by value across item
//! types; `Eq` and `Hash` are identity of item type and bytes, for tables that intern sequences.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::{Encoding, Scalar, Sequence};

impl Sequence {
    /// Item by item as numbers, then by length. What cannot be ordered (NaN) counts as equal.
    pub fn compare(&self, other: &Sequence) -> Ordering {
        if self.has_byte_items() && other.has_byte_items() {
            return self.as_bytes().cmp(other.as_bytes());
        }
        let differing = self.pairs(other).find_map(|(left, right)| match left.partial_cmp(&right) {
            Some(Ordering::Equal) | None => None,
            different => different,
        });
        differing.unwrap_or_else(|| self.len().cmp(&other.len()))
    }

    /// Io's `==`: as many items, each of equal value; the encoding does not matter.
    #[inline]
    pub fn equals(&self, other: &Sequence) -> bool {
        if self.item_type == other.item_type && !self.item_type.is_float() {
            return self.as_bytes() == other.as_bytes();
        }
        self.len() == other.len() && self.pairs(other).all(|(left, right)| left == right)
    }

    /// Vectors compare item by item: no item of the receiver may be less. Equal vectors are thus greater *and* less,
    /// as in Io. Text compares in order.
    pub fn is_greater_than(&self, other: &Sequence) -> bool {
        match self.encoding {
            Encoding::Number => !self.pairs(other).any(|(left, right)| left < right),
            _ => self.compare(other) == Ordering::Greater,
        }
    }

    pub fn is_less_than(&self, other: &Sequence) -> bool {
        match self.encoding {
            Encoding::Number => !self.pairs(other).any(|(left, right)| left > right),
            _ => self.compare(other) == Ordering::Less,
        }
    }

    pub fn is_greater_than_or_equal_to(&self, other: &Sequence) -> bool {
        match self.encoding {
            Encoding::Number => self.is_greater_than(other) || self.equals(other),
            _ => self.compare(other) != Ordering::Less,
        }
    }

    pub fn is_less_than_or_equal_to(&self, other: &Sequence) -> bool {
        match self.encoding {
            Encoding::Number => self.is_less_than(other) || self.equals(other),
            _ => self.compare(other) != Ordering::Greater,
        }
    }

    /// Whether every item is zero.
    pub fn is_zero(&self) -> bool {
        self.numbers().all(|item| item == 0.0)
    }

    /// The same on every machine and in every run; equal for sequences that are `Eq`.
    pub fn hash_code(&self) -> u64 {
        hash_bytes(self.as_bytes())
    }

    /// Io's `hash`: the hash as a Number, without loss.
    pub fn hash_number(&self) -> f64 {
        (self.hash_code() >> 11) as f64
    }

    fn has_byte_items(&self) -> bool {
        self.item_type == super::ItemType::Uint8
    }

    fn pairs<'a>(&'a self, other: &'a Sequence) -> impl Iterator<Item = (Scalar, Scalar)> + 'a {
        self.scalars().zip(other.scalars())
    }
}

impl PartialEq for Sequence {
    fn eq(&self, other: &Self) -> bool {
        self.item_type == other.item_type && self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Sequence {}

impl Hash for Sequence {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash_code());
    }
}

/// Eight bytes at a time through a folded 128-bit product, which mixes every input bit into every output bit.
fn hash_bytes(bytes: &[u8]) -> u64 {
    const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
    const STEP: u64 = 0xd6e8_feb8_6659_fd93;
    let fold = |left: u64, right: u64| {
        let product = u128::from(left) * u128::from(right);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let mut hash = SEED ^ bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word), STEP);
    }
    let tail = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    fold(hash ^ tail, STEP ^ SEED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence::ItemType;

    fn text(source: &str) -> Sequence {
        Sequence::from(source)
    }

    #[test]
    fn text_compares_in_order() {
        assert_eq!(text("abc").compare(&text("abc")), Ordering::Equal);
        assert_eq!(text("ab").compare(&text("abc")), Ordering::Less);
        assert_eq!(text("abc").compare(&text("a c")), Ordering::Greater);
        assert_eq!(text("\u{ff}").compare(&text("a")), Ordering::Greater);
        assert!(text("ab").is_less_than(&text("ba")) && text("ab").is_less_than_or_equal_to(&text("ba")));
        assert!(!text("ab").is_greater_than(&text("ba")) && !text("ab").is_greater_than_or_equal_to(&text("ba")));
    }

    #[test]
    fn vectors_compare_item_by_item() {
        let middle = Sequence::vector(&[2.0, 2.0]);
        for mixed in [Sequence::vector(&[1.0, 3.0]), Sequence::vector(&[3.0, 1.0])] {
            assert!(!mixed.is_less_than(&middle) && !mixed.is_less_than_or_equal_to(&middle));
            assert!(!mixed.is_greater_than(&middle) && !mixed.is_greater_than_or_equal_to(&middle));
            assert!(!mixed.equals(&middle));
        }
        assert!(Sequence::vector(&[1.0, 1.0]).is_less_than(&middle));
        assert!(Sequence::vector(&[3.0, 3.0]).is_greater_than_or_equal_to(&middle));
    }

    #[test]
    fn equality_is_by_value_across_types() {
        assert!(text("abc").equals(&text("abc").as_ucs4()));
        assert_ne!(text("abc"), text("abc").as_ucs4());
        let mut signed = Sequence::with_type(ItemType::Int8, Encoding::Number);
        signed.append_number(-1.0);
        assert!(!signed.equals(&Sequence::from_bytes(&[255])));
        assert_eq!(signed.compare(&Sequence::from_bytes(&[255])), Ordering::Less);
        assert!(!Sequence::vector(&[f64::NAN]).equals(&Sequence::vector(&[f64::NAN])));
    }

    #[test]
    fn hashes_are_stable_and_spread() {
        assert_eq!(text("telos").hash_code(), text("telos").hash_code());
        let hashes: std::collections::HashSet<u64> = (0..10_000).map(|n| text(&n.to_string()).hash_code()).collect();
        assert_eq!(hashes.len(), 10_000);
        assert_ne!(text("a").hash_code(), text("a\0").hash_code());
    }
}
