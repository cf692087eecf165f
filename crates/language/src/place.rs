//! What programs are told of where objects lie: `uniqueId`, and the order of what has no other. It is the place itself, unless the
//! embedder gave a key; then it is a number from which nobody can tell how many objects there are, or which came first.

use crate::vm::Vm;
use object::Handle;

/// Numbers of 48 bits are exact as an Io number.
const HALF_BITS: u32 = 24;
const HALF: u64 = (1 << HALF_BITS) - 1;
const ROUNDS: u64 = 4;

#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaceKey(u64);

impl PlaceKey {
    /// One number for each place: a Feistel network takes none of them together.
    fn number(self, place: u64) -> u64 {
        let (mut left, mut right) = (place >> HALF_BITS & HALF, place & HALF);
        for round in 1..=ROUNDS {
            (left, right) = (right, left ^ (mixed(right ^ self.0.wrapping_mul(round << 1 | 1)) & HALF));
        }
        left << HALF_BITS | right
    }
}

/// The last step of SplitMix64.
fn mixed(mut word: u64) -> u64 {
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

impl Vm {
    /// From now on programs are told other numbers for the places of objects, and another order of them, drawn by this key.
    ///
    /// ```
    /// # use language::Vm;
    /// let mut vm = Vm::default();
    /// let places = |vm: &mut Vm| vm.evaluate("list(Object uniqueId, Lobby uniqueId) asString", "example").map(|text| vm.simple_text(text));
    /// let plain = places(&mut vm)?;
    /// vm.hide_places(7);
    /// assert_ne!(places(&mut vm)?, plain);
    /// assert_eq!(places(&mut vm)?, places(&mut vm)?);
    /// # Ok::<(), language::Error>(())
    /// ```
    pub fn hide_places(&mut self, key: u64) {
        self.place_key = Some(PlaceKey(key));
    }

    pub(crate) fn place_of(&self, handle: Handle) -> u64 {
        let place = u64::from(handle.0);
        self.place_key.map_or(place, |key| key.number(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_places_have_one_number_and_no_order_shows() {
        for key in [0, 1, 7, u64::MAX] {
            let numbers: Vec<u64> = (0..10_000).map(|place| PlaceKey(key).number(place)).collect();
            assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), numbers.len());
            let rising = numbers.windows(2).filter(|pair| pair[0] < pair[1]).count();
            assert!((4_000..6_000).contains(&rising), "{rising}");
        }
    }
}
