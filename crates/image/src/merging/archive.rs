//! Sources of methods that were merged, in `Telos archive`: a later change is compared with them. It is a list of the image with
//! a bound, so that writing to it costs the same however much was merged before. Rejections are noted by the image itself.

use super::pages::Pages;
use crate::error::ImageError;
use object::change::{Datum, Field, Line, ObjectId, Operation, Run};

/// So many are kept; the oldest go.
const KEPT_MAX: u64 = 256;

impl Pages<'_> {
    pub(super) fn archive(&mut self, telos: ObjectId, methods: &[String]) -> Result<(), ImageError> {
        let found = self.list_of(telos, "archive")?.map(|(list, draft)| {
            let count = draft.len(Line::Items);
            (list, count, draft.elements(Line::Items, 0, count))
        });
        let is_kept = |source: &Datum| matches!(&found, Some((_, _, Run::Items(items))) if items.contains(source));
        let mut fresh: Vec<Datum> = methods.iter().map(|source| Datum::text(source)).collect();
        fresh.retain(|source| !is_kept(source));
        // Of more than there is room for, the last.
        let fresh = fresh.split_off(fresh.len().saturating_sub(KEPT_MAX as usize));
        if fresh.is_empty() {
            return Ok(());
        }
        match found {
            Some((list, count, _)) => {
                let surplus = (count + fresh.len() as u64).saturating_sub(KEPT_MAX).min(count);
                let line = Line::Items;
                if surplus > 0 {
                    self.push(list, Operation::Delete { line, index: 0, count: surplus });
                }
                let index = count - surplus;
                self.push(list, Operation::Insert { line, index, run: Run::items(fresh) });
            }
            None => {
                let list = self.list(fresh);
                self.push(telos, Operation::Put { field: Field::Slot("archive".into()), value: Datum::Object(list) });
            }
        }
        Ok(())
    }
}
