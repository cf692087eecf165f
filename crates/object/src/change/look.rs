//! What a draft holds, without taking it apart: as the creation that it would become says it.

use super::creation::Form;
use super::datum::Datum;
use super::draft::{Content, Draft, flags_datum};
use super::operation::{Field, Line, Run};

impl Draft {
    pub const fn form(&self) -> Form {
        match &self.body {
            Content::Nothing | Content::Data(_) => Form::Plain,
            Content::Items(_) => Form::Items,
            Content::Units { .. } => Form::Units,
            Content::Map(_) => Form::Map,
            Content::Counters(_) => Form::Counters,
            Content::Members(_) => Form::Members,
        }
    }

    /// `Absent` if it has no such field.
    pub fn field(&self, field: &Field) -> Datum {
        let found = match (field, &self.body) {
            (Field::Slot(name), _) => self.slots.get(name),
            (Field::Entry(key), Content::Map(entries)) => entries.get(key),
            (Field::Data, Content::Data(data)) => Some(data),
            (Field::Flags, _) => return flags_datum(self.flags),
            _ => None,
        };
        found.cloned().unwrap_or_default()
    }

    /// How many elements; 0 of a line that it does not have.
    pub fn len(&self, line: Line) -> u64 {
        self.length(line).map_or(0, |length| length as u64)
    }

    /// Elements that are there: none of those beyond the end.
    pub fn elements(&self, line: Line, index: u64, count: u64) -> Run {
        let length = self.len(line);
        let end = index.saturating_add(count).min(length) as usize;
        let start = (index.min(length) as usize).min(end);
        match (line, &self.body) {
            (Line::Protos, _) => Run::items(self.protos[start..end].iter().map(|proto| Datum::Object(*proto))),
            (Line::Items, Content::Items(items)) => Run::items(items.range(start..end).cloned()),
            (Line::Units, Content::Units { width, bytes }) => {
                let each = usize::from(*width);
                Run::Units { width: *width, bytes: bytes[start * each..end * each].into() }
            }
            (Line::Items, _) => Run::items([]),
            (Line::Units, _) => Run::bytes(&[]),
        }
    }

    pub fn counter(&self, key: &Datum) -> i64 {
        let Content::Counters(counters) = &self.body else { return 0 };
        counters.get(key).copied().unwrap_or(0)
    }

    /// How often the set or bag holds this.
    pub fn occurrences(&self, member: &Datum) -> u64 {
        let Content::Members(members) = &self.body else { return 0 };
        members.get(member).copied().unwrap_or(0)
    }
}
