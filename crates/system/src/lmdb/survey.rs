//! Looks at every page of a file without LMDB, which trusts what it reads: that each tree holds together, and that every page
//! is used once or free once. A page that is both, or twice in use, would be overwritten by a later transaction.
//!
//! Reads with plain calls, so that a damaged file gives findings and no signal.

use super::bytes::{u16_at, u32_at, u64_at};
use super::header::Header;
use crate::error::SystemError;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

const PAGE_HEADER: usize = 16;
const BRANCH: u16 = 1;
const LEAF: u16 = 2;
const OVERFLOW: u16 = 4;
const BIG_VALUE: u16 = 1;
const TABLE_VALUE: u16 = 2;
const TABLE_BYTES: usize = 48;
/// In the header: the tables of free pages and of names, and the last page.
const FREE_AT: usize = 24;
const MAIN_AT: usize = FREE_AT + TABLE_BYTES;
const LAST_AT: usize = MAIN_AT + TABLE_BYTES;
const NONE: u64 = u64::MAX;
/// Deeper than any tree that fits a file: what is deeper goes round in circles.
const DEPTH_MOST: usize = 40;
const FINDINGS_MOST: usize = 100;

/// What a page is for; the numbers are kept, a byte a page.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Use {
    Header = 1,
    FreeList,
    Tables,
    LongValue,
    Free,
}

/// By number; no page has the first.
const NAMES: [&str; 6] =
    ["nothing", "a header", "the list of free pages", "the tables", "a long value", "the free ones"];

/// What is wrong with the pages of the transaction of this header; nothing, if all is well. A file that is in use keeps
/// them as long as somebody holds a snapshot of that transaction.
pub fn survey(path: &Path, header: &Header, progress: &mut dyn FnMut(u64, u64)) -> Result<Vec<String>, SystemError> {
    let file = File::open(path).map_err(SystemError::file("open", path))?;
    let last = u64_at(&header.bytes, LAST_AT);
    let (length, count) = (file.metadata().map_err(SystemError::file("look at", path))?.len(), last.saturating_add(1));
    if count.saturating_mul(u64::from(header.page_bytes)) > length {
        return Ok(vec![format!("the file has {length} bytes, too few for {count} pages")]);
    }
    let mut survey = Survey {
        file,
        page_bytes: header.page_bytes as usize,
        last,
        uses: vec![0; count as usize],
        seen: 0,
        findings: Vec::new(),
        progress,
    };
    survey.claim(0, Use::Header);
    survey.claim(1, Use::Header);
    survey.tree(u64_at(&header.bytes, FREE_AT + 40), Use::FreeList);
    survey.tree(u64_at(&header.bytes, MAIN_AT + 40), Use::Tables);
    if let Some(page) = survey.uses.iter().position(|used| *used == 0) {
        survey.find(format!("page {page} is neither in use nor free"));
    }
    Ok(survey.findings)
}

struct Survey<'p> {
    file: File,
    page_bytes: usize,
    last: u64,
    /// Of each page.
    uses: Vec<u8>,
    seen: u64,
    findings: Vec<String>,
    progress: &'p mut dyn FnMut(u64, u64),
}

impl Survey<'_> {
    fn find(&mut self, what: String) {
        if self.findings.len() < FINDINGS_MOST {
            self.findings.push(what);
        }
    }

    /// Notes what a page is for; false if it cannot be.
    fn claim(&mut self, page: u64, use_of: Use) -> bool {
        let name = NAMES[use_of as usize];
        let Some(used) = self.uses.get_mut(page as usize) else {
            self.find(format!("page {page}, of {name}, lies behind the end"));
            return false;
        };
        let other = std::mem::replace(used, use_of as u8);
        if other != 0 {
            self.find(format!("page {page} belongs to {name} and to {}", NAMES[usize::from(other)]));
            return false;
        }
        self.seen += 1;
        if self.seen.is_multiple_of(10_000) {
            (self.progress)(self.seen, self.last);
        }
        true
    }

    fn read(&mut self, page: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; self.page_bytes];
        if let Err(error) = self.file.read_exact_at(&mut bytes, page * self.page_bytes as u64) {
            self.find(format!("page {page} cannot be read: {error}"));
            return None;
        }
        if u64_at(&bytes, 0) != page {
            self.find(format!("page {page} says that it is page {}", u64_at(&bytes, 0)));
            return None;
        }
        Some(bytes)
    }

    /// Walks a tree, with a stack of our own.
    fn tree(&mut self, root: u64, use_of: Use) {
        let is_free_list = matches!(use_of, Use::FreeList);
        let mut stack = vec![(root, 0)];
        while let Some((page, depth)) = stack.pop() {
            if page == NONE || !self.claim(page, use_of) {
                continue;
            }
            let Some(bytes) = self.read(page) else { continue };
            let (flags, nodes) = (u16_at(&bytes, 10), self.nodes(page, &bytes));
            match flags & (BRANCH | LEAF | OVERFLOW) {
                BRANCH if depth < DEPTH_MOST => {
                    let child = |at: &usize| {
                        let low = u64::from(u16_at(&bytes, *at)) | u64::from(u16_at(&bytes, at + 2)) << 16;
                        low | u64::from(u16_at(&bytes, at + 4)) << 32
                    };
                    stack.extend(nodes.iter().map(|at| (child(at), depth + 1)));
                }
                LEAF => nodes.iter().for_each(|at| self.leaf(&bytes, *at, &mut stack, is_free_list)),
                _ => self.find(format!("page {page}, of {}, is no page of a tree", NAMES[use_of as usize])),
            }
        }
    }

    /// Where the nodes of a page begin; none if they do not fit it.
    fn nodes(&mut self, page: u64, bytes: &[u8]) -> Vec<usize> {
        let lower = usize::from(u16_at(bytes, 12));
        let count = lower.saturating_sub(PAGE_HEADER) / 2;
        let nodes: Vec<usize> = (0..count)
            .map_while(|index| bytes.get(PAGE_HEADER + index * 2..).filter(|rest| rest.len() >= 2))
            .map(|rest| usize::from(u16_at(rest, 0)))
            .collect();
        let fits = |at: &usize| {
            *at >= lower && at + 8 <= bytes.len() && at + 8 + usize::from(u16_at(bytes, at + 6)) <= bytes.len()
        };
        if nodes.len() != count || !nodes.iter().all(fits) {
            self.find(format!("page {page} holds nodes that do not fit it"));
            return Vec::new();
        }
        nodes
    }

    fn leaf(&mut self, bytes: &[u8], at: usize, stack: &mut Vec<(u64, usize)>, is_free_list: bool) {
        let length = usize::from(u16_at(bytes, at)) | usize::from(u16_at(bytes, at + 2)) << 16;
        let (flags, key) = (u16_at(bytes, at + 4), usize::from(u16_at(bytes, at + 6)));
        let data = bytes.get(at + 8 + key..).unwrap_or_default();
        let value = if flags & BIG_VALUE != 0 && data.len() >= 8 {
            self.big_value(u64_at(data, 0), length, is_free_list)
        } else {
            data.get(..length).map(<[u8]>::to_vec)
        };
        let Some(value) = value else {
            return self.find("a value does not fit its page".into());
        };
        if flags & TABLE_VALUE != 0 && value.len() == TABLE_BYTES {
            stack.push((u64_at(&value, 40), 0));
        } else if is_free_list {
            self.free_pages(&value);
        }
    }

    /// The pages of a long value; its content only where it is needed.
    fn big_value(&mut self, first: u64, length: usize, is_needed: bool) -> Option<Vec<u8>> {
        let pages = (PAGE_HEADER + length).div_ceil(self.page_bytes) as u64;
        let head = if first <= self.last { self.read(first) } else { None };
        let is_head =
            head.is_some_and(|head| u16_at(&head, 10) & OVERFLOW != 0 && u64::from(u32_at(&head, 12)) == pages);
        if !is_head {
            self.find(format!("page {first} is no beginning of a value of {length} bytes"));
            return Some(Vec::new());
        }
        for page in first..first + pages {
            self.claim(page, Use::LongValue);
        }
        let mut value = vec![0; if is_needed { length } else { 0 }];
        let start = first * self.page_bytes as u64 + PAGE_HEADER as u64;
        self.file.read_exact_at(&mut value, start).ok()?;
        Some(value)
    }

    fn free_pages(&mut self, value: &[u8]) {
        let mut numbers = value.chunks_exact(8).map(|chunk| u64_at(chunk, 0));
        let count = numbers.next().unwrap_or(0);
        if count.saturating_add(1).saturating_mul(8) > value.len() as u64 {
            return self.find("the list of free pages is longer than its room".into());
        }
        for page in numbers.take(count as usize) {
            self.claim(page, Use::Free);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lmdb::{Access, Environment, Options, Snapshot, read_headers};

    fn found(path: &Path, header: &Header) -> Vec<String> {
        survey(path, header, &mut |_, _| {}).unwrap()
    }

    #[test]
    fn headers_that_cannot_be_give_findings_and_whole_ones_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tree");
        let (access, snapshot) = (Access::Write, Snapshot::Newest);
        let options = Options { access, snapshot, map_bytes: 1 << 26, tables: 4, readers: 8 };
        let environment = Environment::open(&path, &options).unwrap();
        let table = environment.table("things", true).unwrap();
        for round in 0..20_u32 {
            let mut transaction = environment.write().unwrap();
            for key in 0..200_u32 {
                let value = vec![round as u8; 100 + (key as usize * 37) % 9000];
                transaction.put(table, &key.to_be_bytes(), &value).unwrap();
            }
            transaction.commit().unwrap();
        }
        let headers = read_headers(&path).unwrap();
        let newest = headers.iter().max_by_key(|header| header.number).unwrap();
        assert_eq!(found(&path, newest), Vec::<String>::new());
        let with = |at: usize, number: u64| {
            let mut header = newest.clone();
            header.bytes[at..at + 8].copy_from_slice(&number.to_ne_bytes());
            header
        };
        let told = found(&path, &with(LAST_AT, u64::MAX));
        assert!(told.len() == 1 && told[0].contains("too few"), "{told:?}");
        let free = u64_at(&newest.bytes, FREE_AT + 40);
        let told = found(&path, &with(MAIN_AT + 40, free));
        let twice = format!("page {free} belongs to the tables and to the list of free pages");
        assert!(told.contains(&twice), "{told:?}");
        let told = found(&path, &with(MAIN_AT + 40, NONE - 1));
        assert!(told[0].contains("of the tables, lies behind the end"), "{told:?}");
        assert!(told[1].contains("neither in use nor free"), "{told:?}");
    }
}
