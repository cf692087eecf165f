//! Elements outside of any image, held while it does not hold them.

use object::change::{Datum, Run};
use std::collections::VecDeque;

/// Values that the image does not hold, or not yet.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Values {
    Items(VecDeque<Datum>),
    Units { width: u8, bytes: VecDeque<u8> },
}

impl Values {
    /// Some of a run.
    pub fn of(run: &Run, index: u64, count: u64) -> Values {
        let part = |length: usize| {
            let first = usize::try_from(index).map_or(length, |first| first.min(length));
            first..usize::try_from(count).map_or(length, |count| first.saturating_add(count).min(length))
        };
        match run {
            Run::Items(items) => Values::Items(items[part(items.len())].iter().cloned().collect()),
            Run::Units { width, bytes } => {
                let size = usize::from(*width).max(1);
                let units = part(bytes.len() / size);
                let bytes = bytes[units.start * size..units.end * size].iter().copied().collect();
                Values::Units { width: *width, bytes }
            }
        }
    }

    pub fn split_off(&mut self, at: u64) -> Values {
        match self {
            Values::Items(items) => Values::Items(split_off(items, at as usize)),
            Values::Units { width, bytes } => {
                Values::Units { width: *width, bytes: split_off(bytes, at as usize * usize::from(*width)) }
            }
        }
    }

    pub fn to_run(&self) -> Run {
        match self {
            Values::Items(items) => Run::items(items.iter().cloned()),
            Values::Units { width, bytes } => {
                Run::Units { width: *width, bytes: bytes.iter().copied().collect::<Vec<u8>>().into() }
            }
        }
    }

    pub fn width(&self) -> Option<u8> {
        if let Values::Units { width, .. } = self { Some(*width) } else { None }
    }

    pub fn item(&self, index: u64) -> Option<&Datum> {
        match self {
            Values::Items(items) => items.get(index as usize),
            Values::Units { .. } => None,
        }
    }

    pub fn set_item(&mut self, index: usize, value: Datum) {
        if let Values::Items(items) = self
            && let Some(item) = items.get_mut(index)
        {
            *item = value;
        }
    }
}

/// The shorter part is the one that is moved: however often a long run is split, each element moves a few times only.
fn split_off<T>(values: &mut VecDeque<T>, at: usize) -> VecDeque<T> {
    if at >= values.len() / 2 {
        return values.split_off(at);
    }
    let head = values.drain(..at).collect();
    std::mem::replace(values, head)
}

impl From<&Run> for Values {
    fn from(run: &Run) -> Values {
        Values::of(run, 0, u64::MAX)
    }
}
