//! What counts against a limit: what the transaction under way made, and not what had to be loaded for it. Owns that the same
//! transaction counts the same whatever was in memory before it.
//!
//! Objects that were made since the transaction began carry a stamp of its levels; what it adds to others is counted as it
//! happens. Symbols are shared, so one counts from the moment at which the transaction asks for it, whether it was there
//! or not, and as long as something of the transaction holds it. That something else holds it, an object that happens to be
//! in memory or code that was compiled before, counts for nothing: so the collector marks in two rounds, first without
//! going through objects that are as the store has them.
//!
//! A plain heap, which has no loader, counts all that it holds.

use crate::handle_set::HandleSet;
use crate::heap::Heap;
use crate::object::flag;
use crate::transaction::Level;
use crate::value::Symbol;

#[derive(Default)]
pub(crate) struct Count {
    pub is_on: bool,
    /// Symbols that count.
    symbols: Vec<Symbol>,
}

impl Heap {
    /// From here on what is made counts, and nothing else.
    pub(crate) fn begin_count(&mut self) {
        self.count.is_on = self.late.loader.is_some();
        if !self.count.is_on {
            return;
        }
        self.settle();
        for symbol in self.count.symbols.drain(..) {
            self.objects[symbol.0 as usize].flags &= !flag::COUNTED;
        }
        self.usage.uncounted_bytes = self.usage.bytes;
    }

    /// A symbol that was asked for, and is there.
    #[inline(always)]
    pub(crate) fn counted(&mut self, symbol: Symbol) -> Symbol {
        if self.count.is_on && !self.objects[symbol.0 as usize].has(flag::COUNTED) {
            let bytes = self.objects[symbol.0 as usize].logical_bytes();
            self.uncount(bytes);
            self.note_counted(symbol);
        }
        symbol
    }

    /// A symbol that counts from now on.
    pub(crate) fn note_counted(&mut self, symbol: Symbol) {
        if self.count.is_on {
            self.objects[symbol.0 as usize].flags |= flag::COUNTED;
            self.count.symbols.push(symbol);
        }
    }

    /// So much of what does not count is gone, or counts now.
    pub(crate) fn uncount(&mut self, bytes: usize) {
        if self.count.is_on {
            self.usage.uncounted_bytes = self.usage.uncounted_bytes.saturating_sub(bytes);
        }
    }

    /// What some level of the transaction has written to.
    pub(crate) fn dirty(&self) -> HandleSet {
        let mut dirty = HandleSet::with_room(self.objects.len());
        for (handle, _) in self.levels.iter().flat_map(Level::befores) {
            dirty.insert(handle);
        }
        dirty
    }

    /// Symbols that nothing of the transaction holds count no more; those that nothing holds at all are about to go.
    pub(crate) fn uncount_symbols(&mut self, held: &HandleSet) {
        let mut symbols = std::mem::take(&mut self.count.symbols);
        symbols.retain(|&symbol| {
            let object = &mut self.objects[symbol.0 as usize];
            let is_held = held.contains(symbol);
            if !is_held {
                object.flags &= !flag::COUNTED;
                self.usage.uncounted_bytes += object.logical_bytes();
            }
            is_held
        });
        self.count.symbols = symbols;
    }
}
