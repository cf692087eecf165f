//! The two first pages of a file of LMDB, each of which names a transaction and where its trees begin. Read as plain bytes:
//! LMDB has no checksums, so whoever keeps one elsewhere can tell whether they are what was written.

use super::bytes::{u32_at, u64_at};
use crate::error::SystemError;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const MAGIC: u32 = 0xbeef_c0de;
/// Sixteen bytes come before the header in its page.
const PAGE_HEADER: usize = 16;
/// Where in the page the size of pages, the last page and the transaction's number are, and where the header ends.
const PAGE_BYTES_AT: usize = PAGE_HEADER + 24;
const LAST_PAGE_AT: usize = PAGE_HEADER + 120;
const NUMBER_AT: usize = PAGE_HEADER + 128;
const END: usize = NUMBER_AT + 8;

const COPIED_TOGETHER: usize = 1 << 20;

/// What one of the two pages says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The number of the transaction.
    pub number: u64,
    pub page_bytes: u32,
    /// How long the file must be, at the least.
    pub file_bytes: u64,
    /// All of it, for a checksum; the same in whichever page it stands.
    pub bytes: Vec<u8>,
}

/// Both headers, in their order in the file.
pub fn read_headers(path: &Path) -> Result<[Header; 2], SystemError> {
    let file = File::open(path).map_err(SystemError::file("open", path))?;
    let first = read_header(&file, path, 0)?;
    let second = read_header(&file, path, u64::from(first.page_bytes))?;
    Ok([first, second])
}

/// Leaves out the last transaction, whose pages may not all be on the medium: from now on the one before is the newest. LMDB
/// can do this too (`MDB_PREVSNAPSHOT`), but version 0.9.70 forgets the first transaction that follows: on its commit
/// the number of the newest is taken from the headers while the older one is still preferred.
pub fn discard_newest(path: &Path) -> Result<(), SystemError> {
    let [first, second] = read_headers(path)?;
    let page = u64::from(first.page_bytes);
    let (kept, place) = if first.number < second.number { (first, page) } else { (second, 0) };
    let file = OpenOptions::new().write(true).open(path).map_err(SystemError::file("open", path))?;
    let written = file.write_all_at(&kept.bytes, place + PAGE_HEADER as u64);
    written.map_err(SystemError::file("write", path))
}

/// Writes a copy of the pages of the transaction of this header, as it is in either page of the copy. The file may be written
/// meanwhile, as long as somebody holds a snapshot of that transaction: pages that it does not need may be of any moment.
pub fn copy_pages(path: &Path, header: &Header, copy: &File, copy_path: &Path) -> Result<(), SystemError> {
    let file = File::open(path).map_err(SystemError::file("open", path))?;
    let mut piece = vec![0; COPIED_TOGETHER];
    let mut done = 0;
    while done < header.file_bytes {
        let wanted = (header.file_bytes - done).min(piece.len() as u64) as usize;
        let read = match file.read_at(&mut piece[..wanted], done) {
            // The last pages are not written if they are free.
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(SystemError::file("read", path)(error)),
        };
        copy.write_all_at(&piece[..read], done).map_err(SystemError::file("write", copy_path))?;
        done += read as u64;
    }
    let place = |page: u32| u64::from(page * header.page_bytes) + PAGE_HEADER as u64;
    let headed = (0..2).try_for_each(|page| copy.write_all_at(&header.bytes, place(page)));
    headed.and_then(|()| copy.set_len(header.file_bytes)).map_err(SystemError::file("write", copy_path))
}

fn read_header(file: &File, path: &Path, offset: u64) -> Result<Header, SystemError> {
    let broken = |reason| SystemError::NoImage { path: path.into(), reason };
    let mut bytes = vec![0; END];
    file.read_exact_at(&mut bytes, offset).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => broken("it is too short"),
        _ => SystemError::file("read", path)(error),
    })?;
    if u32_at(&bytes, PAGE_HEADER) != MAGIC {
        return Err(broken("its header is damaged"));
    }
    let page_bytes = u32_at(&bytes, PAGE_BYTES_AT);
    if !page_bytes.is_power_of_two() || !(512..=65536).contains(&page_bytes) {
        return Err(broken("its header is damaged"));
    }
    let (last_page, number) = (u64_at(&bytes, LAST_PAGE_AT), u64_at(&bytes, NUMBER_AT));
    let file_bytes = last_page.saturating_add(1).saturating_mul(u64::from(page_bytes));
    Ok(Header { number, page_bytes, file_bytes, bytes: bytes.split_off(PAGE_HEADER) })
}
