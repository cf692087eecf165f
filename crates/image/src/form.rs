//! How values and kinds of the heap are written in records that outlive this program. Owns the numbers for that: they are
//! part of the file format, and a test pins them.

use object::change::Text;
use object::sequence::{Encoding, ItemType, Sequence};
use object::{Kind, Nest, Object, Symbol, flag};

const KINDS: [(Kind, u32); 14] = [
    (Kind::Object, 0),
    (Kind::Number, 1),
    (Kind::Sequence, 2),
    (Kind::List, 3),
    (Kind::Map, 4),
    (Kind::Block, 5),
    (Kind::Message, 6),
    (Kind::Call, 7),
    (Kind::Locals, 8),
    (Kind::Coroutine, 9),
    (Kind::Frame, 10),
    (Kind::Primitive, 11),
    (Kind::WeakLink, 12),
    (Kind::Counter, 13),
];

const ITEM_TYPES: [ItemType; 10] = [
    ItemType::Uint8,
    ItemType::Uint16,
    ItemType::Uint32,
    ItemType::Uint64,
    ItemType::Int8,
    ItemType::Int16,
    ItemType::Int32,
    ItemType::Int64,
    ItemType::Float32,
    ItemType::Float64,
];

const ENCODINGS: [Encoding; 5] = [Encoding::Ascii, Encoding::Utf8, Encoding::Ucs2, Encoding::Ucs4, Encoding::Number];

// Bits of the flags of a record.
const ACTIVATABLE: u32 = 1;
/// Four bits for the kind, which an object may change, four for the item type of a sequence, three for its encoding.
const KIND_SHIFT: u32 = 1;
const ITEM_TYPE_SHIFT: u32 = 5;
const ENCODING_SHIFT: u32 = 9;

pub fn kind_number(kind: Kind) -> u32 {
    KINDS.iter().find(|(each, _)| *each == kind).map_or(0, |(_, number)| *number)
}

fn kind_of(number: u32) -> Option<Kind> {
    KINDS.iter().find(|(_, each)| *each == number).map(|(kind, _)| *kind)
}

/// Whether the kind of a record, by its number there, is one of these.
pub fn is_one_of(number: u32, kinds: &[Kind]) -> bool {
    kind_of(number).is_some_and(|kind| kinds.contains(&kind))
}

/// What a record's flags say about an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags {
    pub kind: Kind,
    pub is_activatable: bool,
    pub item_type: ItemType,
    pub encoding: Encoding,
}

impl Flags {
    pub fn of(object: &Object) -> Flags {
        let flags = Flags::plain(object.kind(), object.has(flag::ACTIVATABLE));
        match object.data() {
            object::Data::Sequence(sequence) => flags.with(sequence),
            _ => flags,
        }
    }

    pub const fn plain(kind: Kind, is_activatable: bool) -> Flags {
        Flags { kind, is_activatable, item_type: ItemType::Uint8, encoding: Encoding::Ascii }
    }

    pub fn with(self, sequence: &Sequence) -> Flags {
        Flags { item_type: sequence.item_type(), encoding: sequence.encoding(), ..self }
    }

    pub fn number(self) -> u32 {
        let activatable = if self.is_activatable { ACTIVATABLE } else { 0 };
        activatable
            | kind_number(self.kind) << KIND_SHIFT
            | item_type_number(self.item_type) << ITEM_TYPE_SHIFT
            | encoding_number(self.encoding) << ENCODING_SHIFT
    }

    pub fn from_number(number: u32) -> Option<Flags> {
        Some(Flags {
            kind: kind_of(number >> KIND_SHIFT & 0xF)?,
            is_activatable: number & ACTIVATABLE != 0,
            item_type: *ITEM_TYPES.get((number >> ITEM_TYPE_SHIFT & 0xF) as usize)?,
            encoding: *ENCODINGS.get((number >> ENCODING_SHIFT) as usize)?,
        })
    }
}

fn item_type_number(item_type: ItemType) -> u32 {
    ITEM_TYPES.iter().position(|each| *each == item_type).unwrap_or(0) as u32
}

fn encoding_number(encoding: Encoding) -> u32 {
    ENCODINGS.iter().position(|each| *each == encoding).unwrap_or(0) as u32
}

/// In front of a symbol that is not what its text would be made into. No text in UTF-8 begins so.
const RAW: u8 = 0xFF;

/// A symbol outside of the heap: as UTF-8 if that says it all, else with its item type and encoding in front of its bytes.
pub fn symbol_text(sequence: &Sequence) -> Text {
    let bytes = sequence.as_bytes();
    if sequence.item_type() == ItemType::Uint8 && sequence.encoding() == Encoding::Ascii && bytes.is_ascii() {
        return Text::from(bytes);
    }
    if sequence.encoding().is_text() {
        let text = sequence.to_text();
        if is_same(&Sequence::from(text.as_str()).as_fixed_size_type(), sequence) {
            return Text::from(text.as_str());
        }
    }
    let kind = [RAW, item_type_number(sequence.item_type()) as u8, encoding_number(sequence.encoding()) as u8];
    Text::from([&kind, bytes].concat().as_slice())
}

/// The symbol that `symbol_text` wrote, for an object that is being loaded; none if it never does so.
pub fn symbol_of_text(nest: &mut dyn Nest, text: &[u8]) -> Option<Symbol> {
    if text.is_ascii() { Some(nest.ascii_symbol(text)) } else { Some(nest.symbol(symbol_sequence(text)?)) }
}

/// What is not ASCII, as a sequence.
fn symbol_sequence(text: &[u8]) -> Option<Sequence> {
    match text {
        [RAW, item_type, encoding, items @ ..] => {
            let (item_type, encoding) = (ITEM_TYPES.get(*item_type as usize)?, ENCODINGS.get(*encoding as usize)?);
            Some(Sequence::from_parts(*item_type, *encoding, items))
        }
        bytes => Some(Sequence::from(std::str::from_utf8(bytes).ok()?).as_fixed_size_type()),
    }
}

/// What a person reads where `symbol_text` wrote this; what it never writes is read as well as may be.
pub fn readable_text(text: &[u8]) -> String {
    match symbol_sequence(text) {
        Some(sequence) if !text.is_ascii() => sequence.to_text(),
        _ => String::from_utf8_lossy(text).into_owned(),
    }
}

fn is_same(left: &Sequence, right: &Sequence) -> bool {
    (left.item_type(), left.encoding(), left.as_bytes()) == (right.item_type(), right.encoding(), right.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::Heap;

    /// If this must change, images of earlier versions break.
    #[test]
    fn numbers_never_change() {
        let kinds: Vec<u32> = KINDS.iter().map(|(_, number)| *number).collect();
        assert_eq!(kinds, (0..14).collect::<Vec<u32>>());
        assert_eq!(kind_number(Kind::WeakLink), 12);
        assert_eq!(kind_number(Kind::Counter), 13);
        assert_eq!(kind_of(6), Some(Kind::Message));
        let flags = Flags {
            kind: Kind::Sequence,
            is_activatable: true,
            item_type: ItemType::Float64,
            encoding: Encoding::Number,
        };
        assert_eq!(flags.number(), 4 << 9 | 9 << 5 | 2 << 1 | 1);
        assert_eq!(Flags::from_number(flags.number()), Some(flags));
        assert_eq!(Flags::from_number(5 << 9), None);
        assert_eq!(Flags::from_number(14 << 1), None);
    }

    #[test]
    fn any_symbol_comes_back() {
        let wide = Sequence::from("größe").as_fixed_size_type();
        assert_eq!(symbol_text(&wide), Text::from("größe"));
        let raw = Sequence::from_bytes(b"gr\xF6\xDFe");
        let number = Sequence::from_parts(ItemType::Int32, Encoding::Number, &[1, 0, 0, 0]);
        for sequence in [wide, raw, number, Sequence::from_parts(ItemType::Uint8, Encoding::Ascii, b"plain")] {
            let mut heap = Heap::new();
            let symbol = symbol_of_text(&mut heap, symbol_text(&sequence).as_bytes()).expect("it was written so");
            let back = heap.sequence(symbol).expect("a symbol is a sequence");
            assert!(is_same(back, &sequence), "{}", sequence.to_text());
        }
        assert!(symbol_of_text(&mut Heap::new(), &[RAW, 99, 0]).is_none());
    }
}
