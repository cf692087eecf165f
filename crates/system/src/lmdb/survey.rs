//! Looks at every page of a file without LMDB, which trusts what it reads: that each tree holds together, and that every page
//! is used once or free once. A page that is both, or twice in use, would be overwritten by a later transaction.
//!
//! Reads with plain calls, so that a damaged file gives findings and no signal.

use super::header::Header;
use crate::error::SystemError;
use std::collections::HashMap;
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

/// What is wrong with the pages of the transaction of this header; nothing, if all is well. A file that is in use keeps
/// them as long as somebody holds a snapshot of that transaction.
pub fn survey(path: &Path, header: &Header, progress: &mut dyn FnMut(u64, u64)) -> Result<Vec<String>, SystemError> {
    let file = File::open(path).map_err(SystemError::file("open", path))?;
    let last = u64_at(&header.bytes, LAST_AT);
    let mut survey = Survey {
        file,
        page_bytes: header.page_bytes as usize,
        last,
        uses: HashMap::new(),
        seen: 0,
        findings: Vec::new(),
        progress,
    };
    let length = survey.file.metadata().map_err(SystemError::file("look at", path))?.len();
    if (last + 1).saturating_mul(u64::from(header.page_bytes)) > length {
        survey.find(format!("the file has {length} bytes, too few for {} pages", last + 1));
        return Ok(survey.findings);
    }
    survey.uses.insert(0, "a header");
    survey.uses.insert(1, "a header");
    survey.tree(u64_at(&header.bytes, FREE_AT + 40), "the list of free pages", true);
    survey.tree(u64_at(&header.bytes, MAIN_AT + 40), "the tables", false);
    let missing = (0..=last).find(|page| !survey.uses.contains_key(page));
    if let Some(page) = missing {
        survey.find(format!("page {page} is neither in use nor free"));
    }
    Ok(survey.findings)
}

struct Survey<'p> {
    file: File,
    page_bytes: usize,
    last: u64,
    uses: HashMap<u64, &'static str>,
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
    fn claim(&mut self, page: u64, use_of: &'static str) -> bool {
        if page > self.last {
            self.find(format!("page {page}, of {use_of}, lies behind the end"));
            return false;
        }
        if let Some(other) = self.uses.insert(page, use_of) {
            self.find(format!("page {page} belongs to {use_of} and to {other}"));
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
    fn tree(&mut self, root: u64, use_of: &'static str, is_free_list: bool) {
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
                _ => self.find(format!("page {page}, of {use_of}, is no page of a tree")),
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
            self.claim(page, "a long value");
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
            self.claim(page, "the free ones");
        }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |two| u16::from_ne_bytes([two[0], two[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
