//! What a dream is called: `d` and the number of its actor, which no other dream of the image ever has.

use crate::error::DreamError;
use object::change::ActorId;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DreamId(pub ActorId);

impl fmt::Display for DreamId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "d{}", self.0.0)
    }
}

impl FromStr for DreamId {
    type Err = DreamError;

    /// Only as it is written: a dream has one name.
    fn from_str(text: &str) -> Result<DreamId, DreamError> {
        let number = text.strip_prefix('d').and_then(|number| number.parse().ok());
        let id = number.map(|number| DreamId(ActorId(number))).filter(|id| id.0 <= ActorId::MAX);
        id.filter(|id| id.to_string() == text).ok_or_else(|| DreamError::NoName(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dream_has_one_name() {
        assert_eq!("d7".parse::<DreamId>().expect("a name"), DreamId(ActorId(7)));
        for text in ["", "d", "7", "d07", "d+7", "d-7", "D7", "d7 ", "../d7", "d7/x", "d18446744073709551615"] {
            assert!(text.parse::<DreamId>().is_err(), "{text}");
        }
    }
}
