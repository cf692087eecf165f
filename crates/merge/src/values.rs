//! Elements outside of any image, held while it does not hold them.

use object::change::{Datum, Run};

/// Values that the image does not hold, or not yet.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Values {
    Items(Vec<Datum>),
    Units { width: u8, bytes: Vec<u8> },
}

impl Values {
    pub fn split_off(&mut self, at: u64) -> Values {
        match self {
            Values::Items(items) => Values::Items(items.split_off(at as usize)),
            Values::Units { width, bytes } => {
                Values::Units { width: *width, bytes: bytes.split_off(at as usize * usize::from(*width)) }
            }
        }
    }

    pub fn slice(mut self, index: u64, count: u64) -> Values {
        let mut tail = self.split_off(index);
        tail.split_off(count);
        tail
    }

    pub fn to_run(&self) -> Run {
        match self {
            Values::Items(items) => Run::Items(items.as_slice().into()),
            Values::Units { width, bytes } => Run::Units { width: *width, bytes: bytes.as_slice().into() },
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

impl From<&Run> for Values {
    fn from(run: &Run) -> Values {
        match run {
            Run::Items(items) => Values::Items(items.to_vec()),
            Run::Units { width, bytes } => Values::Units { width: *width, bytes: bytes.to_vec() },
        }
    }
}
