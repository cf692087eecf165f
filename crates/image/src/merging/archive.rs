//! Sources of methods that were merged, in `Telos archive`: a later change is compared with them. It is a list of the image with
//! a bound, so that writing to it costs the same however much was merged before. Rejections are noted by the image itself.

use super::pages::Pages;
use crate::error::ImageError;
use object::change::{Datum, Field, Line, ObjectId, Operation, Run};

const NAME: &str = "archive";
/// So many are kept; the oldest go.
const KEPT_MAX: usize = 256;

impl Pages<'_> {
    /// Puts those behind the others that are not there yet.
    pub fn archive(&mut self, telos: ObjectId, sources: &[String]) -> Result<(), ImageError> {
        let found = self.list_of(telos, NAME)?;
        let kept = found.as_ref().map(|(_, draft)| draft.elements(Line::Items, 0, draft.len(Line::Items)));
        let is_kept = |source: &Datum| matches!(&kept, Some(Run::Items(items)) if items.contains(source));
        let mut fresh: Vec<Datum> = sources.iter().map(|source| Datum::text(source)).collect();
        fresh.retain(|source| !is_kept(source));
        if fresh.is_empty() {
            return Ok(());
        }
        // Of more than there is room for, the last.
        let fresh = fresh.split_off(fresh.len().saturating_sub(KEPT_MAX));
        match found {
            Some((list, draft)) => {
                let (line, index) = (Line::Items, draft.len(Line::Items));
                self.push(list, Operation::Insert { line, index, run: Run::items(fresh) });
            }
            None => {
                let list = self.list(fresh);
                self.push(telos, Operation::Put { field: Field::Slot(NAME.into()), value: Datum::Object(list) });
            }
        }
        self.shorten(telos, NAME, KEPT_MAX as u64)
    }
}
