//! What one item of a sequence can be: ten machine types, five encodings, and the conversions between them.
//! Owns the byte order (little-endian) and the rules by which a Number becomes an item.

use super::SequenceError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ItemType {
    #[default]
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Int8,
    Int16,
    Int32,
    Int64,
    Float32,
    Float64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Encoding {
    Ascii,
    #[default]
    Utf8,
    Ucs2,
    Ucs4,
    Number,
}

const ITEM_TYPES: [(ItemType, &str); 10] = [
    (ItemType::Uint8, "uint8"),
    (ItemType::Uint16, "uint16"),
    (ItemType::Uint32, "uint32"),
    (ItemType::Uint64, "uint64"),
    (ItemType::Int8, "int8"),
    (ItemType::Int16, "int16"),
    (ItemType::Int32, "int32"),
    (ItemType::Int64, "int64"),
    (ItemType::Float32, "float32"),
    (ItemType::Float64, "float64"),
];

const ENCODINGS: [(Encoding, &str); 5] = [
    (Encoding::Ascii, "ascii"),
    (Encoding::Utf8, "utf8"),
    (Encoding::Ucs2, "ucs2"),
    (Encoding::Ucs4, "ucs4"),
    (Encoding::Number, "number"),
];

impl ItemType {
    pub fn from_name(name: &str) -> Result<Self, SequenceError> {
        let found = ITEM_TYPES.iter().find(|(_, known)| *known == name);
        found.map(|(item_type, _)| *item_type).ok_or_else(|| SequenceError::InvalidItemTypeName(name.to_owned()))
    }

    pub fn name(self) -> &'static str {
        ITEM_TYPES[self as usize].1
    }

    /// Bytes per item.
    #[inline]
    pub fn size(self) -> usize {
        1 << self.size_shift()
    }

    /// The size as a power of two: item counts are found by shifting, not dividing.
    #[inline]
    pub(super) fn size_shift(self) -> u32 {
        match self {
            ItemType::Uint8 | ItemType::Int8 => 0,
            ItemType::Uint16 | ItemType::Int16 => 1,
            ItemType::Uint32 | ItemType::Int32 | ItemType::Float32 => 2,
            ItemType::Uint64 | ItemType::Int64 | ItemType::Float64 => 3,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, ItemType::Float32 | ItemType::Float64)
    }

    pub fn is_signed(self) -> bool {
        !matches!(self, ItemType::Uint8 | ItemType::Uint16 | ItemType::Uint32 | ItemType::Uint64)
    }

    /// The encoding that text takes when its items become this type.
    pub(super) fn text_encoding(self, previous: Encoding) -> Encoding {
        match (self.size(), previous) {
            _ if self.is_float() => Encoding::Number,
            (_, Encoding::Number) => Encoding::Number,
            (1, Encoding::Utf8) => Encoding::Utf8,
            (1, _) => Encoding::Ascii,
            (2, _) => Encoding::Ucs2,
            (4, _) => Encoding::Ucs4,
            _ => Encoding::Number,
        }
    }
}

impl Encoding {
    pub fn from_name(name: &str) -> Result<Self, SequenceError> {
        let found = ENCODINGS.iter().find(|(_, known)| *known == name);
        found.map(|(encoding, _)| *encoding).ok_or_else(|| SequenceError::InvalidEncodingName(name.to_owned()))
    }

    pub fn name(self) -> &'static str {
        ENCODINGS[self as usize].1
    }

    pub fn is_text(self) -> bool {
        self != Encoding::Number
    }
}

/// An item on its own, wide enough for every type without loss.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scalar {
    Integer(i128),
    Float(f64),
}

impl Scalar {
    pub(super) fn to_number(self) -> f64 {
        match self {
            Scalar::Integer(value) => value as f64,
            Scalar::Float(value) => value,
        }
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(std::cmp::Ordering::Equal)
    }
}

impl PartialOrd for Scalar {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Scalar::Integer(left), Scalar::Integer(right)) => Some(left.cmp(right)),
            (left, right) => left.to_number().partial_cmp(&right.to_number()),
        }
    }
}

/// One machine type. Integer arithmetic wraps; a Number becomes an integer by dropping its fraction and keeping the
/// low bits, as a C cast does on the machines Io runs on.
pub(super) trait Item: Copy + PartialOrd {
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
    fn from_number(number: f64) -> Self;
    fn to_number(self) -> f64;
    fn from_scalar(scalar: Scalar) -> Self;
    fn to_scalar(self) -> Scalar;
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    /// `None` is an integer divided by zero.
    fn divide(self, other: Self) -> Option<Self>;
}

macro_rules! byte_access {
    () => {
        #[inline]
        fn read(bytes: &[u8]) -> Self {
            let mut exact = [0; size_of::<Self>()];
            exact.copy_from_slice(bytes);
            Self::from_le_bytes(exact)
        }

        #[inline]
        fn write(self, bytes: &mut [u8]) {
            bytes.copy_from_slice(&self.to_le_bytes());
        }

        #[inline]
        fn to_number(self) -> f64 {
            self as f64
        }
    };
}

macro_rules! integer_item {
    ($($type:ty),*) => {$(
        impl Item for $type {
            byte_access!();

            #[inline]
            fn from_number(number: f64) -> Self {
                number as i128 as Self
            }

            fn from_scalar(scalar: Scalar) -> Self {
                match scalar {
                    Scalar::Integer(value) => value as Self,
                    Scalar::Float(value) => Self::from_number(value),
                }
            }

            fn to_scalar(self) -> Scalar {
                Scalar::Integer(self as i128)
            }

            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn subtract(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            fn divide(self, other: Self) -> Option<Self> {
                if other == 0 { None } else { Some(self.wrapping_div(other)) }
            }
        }
    )*};
}

macro_rules! float_item {
    ($($type:ty),*) => {$(
        impl Item for $type {
            byte_access!();

            #[inline]
            fn from_number(number: f64) -> Self {
                number as Self
            }

            fn from_scalar(scalar: Scalar) -> Self {
                scalar.to_number() as Self
            }

            fn to_scalar(self) -> Scalar {
                Scalar::Float(self as f64)
            }

            fn add(self, other: Self) -> Self {
                self + other
            }

            fn subtract(self, other: Self) -> Self {
                self - other
            }

            fn multiply(self, other: Self) -> Self {
                self * other
            }

            fn divide(self, other: Self) -> Option<Self> {
                Some(self / other)
            }
        }
    )*};
}

integer_item!(u8, u16, u32, u64, i8, i16, i32, i64);
float_item!(f32, f64);

/// Runs a body once with `$item` standing for the machine type, so that loops over items carry no dispatch.
macro_rules! with_item {
    ($item_type:expr, $item:ident => $body:expr) => {
        match $item_type {
            $crate::sequence::ItemType::Uint8 => {
                type $item = u8;
                $body
            }
            $crate::sequence::ItemType::Uint16 => {
                type $item = u16;
                $body
            }
            $crate::sequence::ItemType::Uint32 => {
                type $item = u32;
                $body
            }
            $crate::sequence::ItemType::Uint64 => {
                type $item = u64;
                $body
            }
            $crate::sequence::ItemType::Int8 => {
                type $item = i8;
                $body
            }
            $crate::sequence::ItemType::Int16 => {
                type $item = i16;
                $body
            }
            $crate::sequence::ItemType::Int32 => {
                type $item = i32;
                $body
            }
            $crate::sequence::ItemType::Int64 => {
                type $item = i64;
                $body
            }
            $crate::sequence::ItemType::Float32 => {
                type $item = f32;
                $body
            }
            $crate::sequence::ItemType::Float64 => {
                type $item = f64;
                $body
            }
        }
    };
}
pub(super) use with_item;
