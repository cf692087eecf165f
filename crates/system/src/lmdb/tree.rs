//! Finding a key of sixteen bytes by reading the pages of a snapshot where LMDB has mapped them. LMDB halves a page until it has
//! the key, and waits for memory at each step. Ids of objects are mostly numbers without gaps: the place of one in its
//! page follows from where the page begins, which the page above says.
//!
//! Decides nothing: what looks odd in any way, and what this does not know, is left to LMDB.

use super::bytes::{u16_at, u64_at};
use super::environment::{Environment, Table};
use super::transaction::get;
use lmdb_master_sys as sys;

/// The only size of pages that is read here: pages of it begin where pages of memory do.
const PAGE_BYTES: usize = 4096;
const PAGE_HEADER: usize = 16;
const NODE_HEADER: usize = 8;
const KEY_BYTES: usize = 16;
const BRANCH: u16 = 1;
const LEAF: u16 = 2;
const OVERFLOW: u16 = 4;
/// Leaves of another form, for tables that this program does not have.
const FIXED_LEAF: u16 = 32;
const BIG_VALUE: u16 = 1;
/// The table of tables, which every file has.
const MAIN: sys::MDB_dbi = 1;
/// A value there: the root is its last number.
const TABLE_BYTES: usize = 48;
const ROOT_AT: usize = 40;
/// Deeper than any tree that fits a file.
const DEPTH_MOST: usize = 40;

type Page = [u8; PAGE_BYTES];

/// The tree of one table in one snapshot.
#[derive(Clone, Copy)]
pub(super) struct Tree {
    /// Page nought of the mapped file.
    start: *const u8,
    /// As many are mapped and written; those of the snapshot are among them.
    pages: u64,
    root: u64,
}

impl Tree {
    /// None if LMDB must be asked.
    ///
    /// # Safety
    /// The transaction must be valid. The tree is of no use once it is ended or renewed.
    pub(super) unsafe fn of(transaction: *mut sys::MDB_txn, environment: &Environment, table: Table) -> Option<Tree> {
        // SAFETY: the caller vouches for the transaction; both structures are plain data for which zeroes are valid, and are
        // filled by the calls.
        let (entry, statistics, about) = unsafe {
            let mut statistics: sys::MDB_stat = std::mem::zeroed();
            let mut about: sys::MDB_envinfo = std::mem::zeroed();
            if sys::mdb_env_stat(environment.pointer(), &mut statistics) != 0
                || sys::mdb_env_info(environment.pointer(), &mut about) != 0
            {
                return None;
            }
            (get(transaction, environment, MAIN, table.name.as_bytes()).ok()??, statistics, about)
        };
        if statistics.ms_psize as usize != PAGE_BYTES || entry.len() != TABLE_BYTES {
            return None;
        }
        let inside = entry.as_ptr() as usize % PAGE_BYTES;
        // SAFETY: the entry lies in a page of the mapped file, all of which is mapped, and which says its number first.
        let (page, number) = unsafe {
            let page = entry.as_ptr().sub(inside);
            (page, page.cast::<u64>().read())
        };
        let pages = (about.me_last_pgno as u64).saturating_add(1).min((about.me_mapsize / PAGE_BYTES) as u64);
        let start = page.wrapping_sub((number as usize).checked_mul(PAGE_BYTES)?);
        (number < pages).then_some(Tree { start, pages, root: u64_at(entry, ROOT_AT) })
    }

    /// What is under a key, if anything is; none if LMDB must be asked.
    ///
    /// # Safety
    /// The transaction that the tree is of must neither end nor be renewed for `'t`.
    #[inline]
    pub(super) unsafe fn find<'t>(&self, key: &[u8; KEY_BYTES]) -> Option<Option<&'t [u8]>> {
        let wanted = u128::from_be_bytes(*key);
        let (mut number, mut least) = (self.root, None);
        for _ in 0..DEPTH_MOST {
            // SAFETY: what the pages of a snapshot name is of it, too; the caller vouches for the snapshot.
            let page = unsafe { self.page(number) }?;
            match u16_at(page, 10) & (BRANCH | LEAF | OVERFLOW | FIXED_LEAF) {
                BRANCH => (number, least) = child(page, wanted)?,
                LEAF => {
                    let Some(at) = node(page, wanted, least)? else { return Some(None) };
                    // SAFETY: as above.
                    return unsafe { self.value(page, at) }.map(Some);
                }
                _ => return None,
            }
        }
        None
    }

    /// # Safety
    /// The page must be of a snapshot that is kept for `'t`.
    #[inline]
    unsafe fn page<'t>(&self, number: u64) -> Option<&'t Page> {
        if number >= self.pages {
            return None;
        }
        // SAFETY: so many pages are mapped; nobody writes to one that a snapshot needs.
        let page = unsafe { &*self.start.add(number as usize * PAGE_BYTES).cast::<Page>() };
        (u64_at(page, 0) == number).then_some(page)
    }

    /// # Safety
    /// The page must be of a snapshot that is kept for `'t`.
    #[inline]
    unsafe fn value<'t>(&self, page: &'t Page, at: usize) -> Option<&'t [u8]> {
        let length = usize::from(u16_at(page, at)) | usize::from(u16_at(page, at + 2)) << 16;
        let content = page.get(at + NODE_HEADER + KEY_BYTES..)?;
        match u16_at(page, at + 4) {
            0 => content.get(..length),
            BIG_VALUE => {
                let first = u64_at(content, 0);
                let count = (PAGE_HEADER + length).div_ceil(PAGE_BYTES) as u64;
                // SAFETY: the caller vouches for the snapshot, of which this is.
                let head = unsafe { self.page(first) }?;
                if u16_at(head, 10) & OVERFLOW == 0 || first.checked_add(count)? > self.pages {
                    return None;
                }
                // SAFETY: the value goes on through that many pages, all of which are mapped and of the snapshot.
                Some(unsafe { std::slice::from_raw_parts(head.as_ptr().add(PAGE_HEADER), length) })
            }
            _ => None,
        }
    }
}

fn count(page: &Page) -> usize {
    usize::from(u16_at(page, 12)).saturating_sub(PAGE_HEADER) / 2
}

/// Where a node begins, and its key; none if it is of another length.
#[inline]
fn keyed(page: &Page, index: usize) -> Option<(usize, u128)> {
    let at = usize::from(u16_at(page, PAGE_HEADER + index * 2));
    let node = page.get(at..)?.first_chunk::<{ NODE_HEADER + KEY_BYTES }>()?;
    let key: [u8; KEY_BYTES] = *node.last_chunk()?;
    (usize::from(u16_at(node, 6)) == KEY_BYTES).then_some((at, u128::from_be_bytes(key)))
}

/// The page below in which the key must be, and the least key that can be in there: none of the first page.
#[inline]
fn child(page: &Page, wanted: u128) -> Option<(u64, Option<u128>)> {
    // The first node's key says nothing.
    let (mut from, mut end, mut least) = (0, count(page), None);
    while from + 1 < end {
        let middle = (from + end) / 2;
        let (_, key) = keyed(page, middle)?;
        if key <= wanted {
            (from, least) = (middle, Some(key));
        } else {
            end = middle;
        }
    }
    let at = usize::from(u16_at(page, PAGE_HEADER + from * 2));
    let number = |offset: usize| u64::from(u16_at(page, at + offset));
    (end > 0).then(|| (number(0) | number(2) << 16 | number(4) << 32, least))
}

/// Where in a leaf the key is, if it is there.
#[inline]
fn node(page: &Page, wanted: u128, least: Option<u128>) -> Option<Option<usize>> {
    let count = count(page);
    let steps = least.map_or(usize::MAX, |least| usize::try_from(wanted.wrapping_sub(least)).unwrap_or(usize::MAX));
    if steps < count {
        let (at, key) = keyed(page, steps)?;
        if key == wanted {
            return Some(Some(at));
        }
    }
    let (mut from, mut end) = (0, count);
    while from < end {
        let middle = (from + end) / 2;
        let (at, key) = keyed(page, middle)?;
        match key.cmp(&wanted) {
            std::cmp::Ordering::Equal => return Some(Some(at)),
            std::cmp::Ordering::Less => from = middle + 1,
            std::cmp::Ordering::Greater => end = middle,
        }
    }
    Some(None)
}

#[cfg(test)]
mod tests {
    use crate::lmdb::{Access, Environment, Options, Snapshot};

    fn key(actor: u64, number: u64) -> [u8; 16] {
        (u128::from(actor) << 64 | u128::from(number)).to_be_bytes()
    }

    /// Whatever the tree looks like: what LMDB finds is found, and nothing else.
    #[test]
    fn what_is_found_is_what_lmdb_finds() {
        let directory = tempfile::tempdir().unwrap();
        let (access, snapshot) = (Access::Write, Snapshot::Newest);
        let options = Options { access, snapshot, map_bytes: 1 << 28, tables: 4, readers: 8 };
        let environment = Environment::open(&directory.path().join("tree"), &options).unwrap();
        let (table, other) = (environment.table("things", true).unwrap(), environment.table("others", true).unwrap());
        let mut kept = environment.read().unwrap();
        assert_eq!(kept.find(table, &key(7, 1)).unwrap(), None, "the table is empty");
        for round in 0..6_u64 {
            let mut transaction = environment.write().unwrap();
            for number in 0..4000_u64 {
                // With gaps, of two actors, some values longer than a page, and some written again.
                let number = number * (1 + number % 3 % 2) + round * 1000;
                let length = if number % 97 == 0 { 9000 } else { 20 + number as usize % 300 };
                transaction.put(table, &key(number % 2 * 5, number), &vec![round as u8; length]).unwrap();
            }
            transaction.put(other, b"of another length", b"value").unwrap();
            transaction.put(other, &key(1, 1), &[round as u8]).unwrap();
            transaction.commit().unwrap();
            let fresh = environment.read().unwrap();
            for snapshot in [&kept, &fresh] {
                for number in 0..15_000_u64 {
                    for actor in [0, 1, 5, 6] {
                        let key = key(actor, number);
                        assert_eq!(snapshot.find(table, &key).unwrap(), snapshot.get(table, &key).unwrap());
                    }
                }
                assert_eq!(snapshot.find(other, &key(1, 1)).unwrap(), snapshot.get(other, &key(1, 1)).unwrap());
            }
            if round % 2 == 0 {
                kept.renew().unwrap();
            }
        }
    }
}
