//! How many of something there may be at once. Dreams ask as often as they like; what one call costs is bounded, so this
//! bounds what all cost together.

use crate::error::Refusal;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub struct Places {
    limit: usize,
    /// Such as `requests`.
    what: &'static str,
    taken: Arc<AtomicUsize>,
}

/// One of them, given back when it is dropped.
pub struct Place(Arc<AtomicUsize>);

impl Places {
    pub fn new(limit: usize, what: &'static str) -> Places {
        Places { limit, what, taken: Arc::default() }
    }

    pub fn take(&self) -> Result<Place, Refusal> {
        let place = Place(Arc::clone(&self.taken));
        match self.taken.fetch_add(1, Ordering::SeqCst) < self.limit {
            true => Ok(place),
            false => {
                let (limit, what) = (self.limit, self.what);
                Err(Refusal::failed(format!("{limit} {what} are under way already; wait until one has ended")))
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_it_was_given_back() {
        let places = Places::new(2, "requests");
        let first = places.take().ok();
        let _second = places.take().ok();
        assert!(matches!(places.take(), Err(Refusal::Failed(why)) if why.contains("2 requests")));
        drop(first);
        assert!(places.take().is_ok());
    }
}
