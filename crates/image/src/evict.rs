//! Keeps memory bounded: forgets objects that are as the store has them, oldest handles first, round and round. What a
//! program uses comes back at its next touch; nothing marks it on a read, for that would dirty its page.

use crate::identity::Identities;
use language::Vm;
use object::{Data, Handle, Kind};

pub struct Evictor {
    cache_bytes: usize,
    /// Where the last round ended.
    hand: u32,
    /// Bytes in use below which nothing is done: what was left the last time, and a share more.
    next_bytes: usize,
}

impl Evictor {
    pub fn new(cache_bytes: usize) -> Evictor {
        Evictor { cache_bytes, hand: 0, next_bytes: cache_bytes }
    }

    /// Between transactions only: then everything that has an id is as the store has it.
    pub fn run(&mut self, vm: &mut Vm, identities: &Identities) {
        if vm.heap().usage().bytes <= self.next_bytes {
            return;
        }
        vm.collect();
        let used = vm.heap().usage().bytes;
        if used > self.cache_bytes {
            let target = self.cache_bytes / 4 * 3;
            let chosen = self.choose(vm, identities, used - target.min(used));
            vm.hollow_out(chosen);
            vm.collect();
        }
        self.next_bytes = self.cache_bytes.max(vm.heap().usage().bytes + self.cache_bytes / 4);
    }

    fn choose(&mut self, vm: &Vm, identities: &Identities, bytes: usize) -> Vec<Handle> {
        let (heap, count) = (vm.heap(), vm.heap().table_len());
        let (mut chosen, mut gained) = (Vec::new(), 0);
        for step in 0..count {
            let handle = Handle((self.hand.wrapping_add(step)) % count.max(1));
            let object = heap.resident(handle);
            let is_forgettable = object.kind() != Kind::Hollow && !matches!(object.data(), Data::Foreign(_));
            if is_forgettable && identities.id(handle).is_some() {
                gained += object.logical_bytes();
                chosen.push(handle);
            }
            if gained >= bytes {
                self.hand = handle.0 + 1;
                break;
            }
        }
        chosen
    }
}
