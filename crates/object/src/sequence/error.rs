//! What can go wrong in a sequence operation. Where Io raises an error for the same reason, the text is Io's own, so
//! that scripts which match on it keep working.

use super::ItemType;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SequenceError {
    #[error("index out of bounds")]
    IndexOutOfBounds { index: i64, len: usize },
    #[error("insert index out of sequence bounds")]
    InsertOutOfBounds { index: usize, len: usize },
    #[error("aNumberOfItems must be > 0")]
    EveryZeroItems,
    #[error("aNumberOfItems out of sequence bounds")]
    EveryTooManyItems { count: usize, len: usize },
    #[error("either aNumberToLeave or aNumberToRemove must be > 0")]
    NothingToLeaveOrRemove,
    #[error("a Sequence cannot hold {bytes} bytes, the limit is {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("invalid item type name")]
    InvalidItemTypeName(String),
    #[error("invalid encoding name")]
    InvalidEncodingName(String),
    #[error("operation not valid on non-number encodings")]
    NotNumberEncoding,
    #[error("negate is not supported on items of type {}", .0.name())]
    NegateUnsigned(ItemType),
    #[error("division by zero in a Sequence of type {}", .0.name())]
    IntegerDivisionByZero(ItemType),
    #[error("empty string argument")]
    EmptySeparator,
    #[error("translation strings must be of the same length")]
    TranslationLengths { from: usize, to: usize },
    #[error("conversion from base {0} not supported")]
    FromBaseUnsupported(i64),
    #[error("conversion to base {0} not supported")]
    ToBaseUnsupported(i64),
    #[error("conversion of \"{text}\" to base {base} failed")]
    FromBaseFailed { text: String, base: i64 },
    #[error("resulting value \"{text}\" was out of range")]
    FromBaseRange { text: String },
    #[error("Sequence is {0} bytes but only conversion of 1, 2, or 4 bytes is supported")]
    BinaryIntegerSize(usize),
    #[error("requested first {requested} bytes, but Sequence only contains {available} bytes")]
    BinaryNumberSize { requested: usize, available: usize },
    #[error("a Number has 8 bytes, {0} were requested")]
    BinaryNumberTooWide(usize),
    #[error("not enough data for struct")]
    NotEnoughData { needed: usize, available: usize },
    #[error("pack format \"{code}\" has no value left")]
    PackValueMissing { code: char },
    #[error("pack format \"{code}\" needs a {expected}")]
    PackValueKind { code: char, expected: &'static str },
    #[error("unknown pack format \"{0}\"")]
    PackCodeUnknown(char),
}
