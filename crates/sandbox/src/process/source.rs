//! What an order grants and hands in, made ready outside: paths are checked, and owners mapped where only root can.

use super::ids::Ids;
use super::view::HOME;
use crate::error::SandboxError;
use crate::order::{Access, FileIn, Grant};
use rustix::fs::CWD;
use rustix::mount::{OpenTreeFlags, open_tree};
use serde::{Deserialize, Serialize};
use std::ffi::{CString, OsStr};
use std::fs::Metadata;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};

/// More layers than anybody needs; the process inside has room for no more.
pub const MOST_LAYERS: usize = 16;

/// A place inside, from the root, and the directories on the way to it.
pub struct Place {
    pub path: CString,
    /// Each as the directory that it is in and its name.
    pub ancestors: Vec<(CString, CString)>,
    pub parent: CString,
    pub name: CString,
}

pub struct Granted {
    pub from: Origin,
    pub place: Place,
    pub is_directory: bool,
    pub access: Access,
    /// Permissions of what is granted: the layer above has the same.
    pub mode: u32,
    /// Names of the layer's parts, for a directory: what is only read is below one as well, so that its sockets cannot be
    /// called and its files not be locked.
    pub layer: Option<Layer>,
}

pub enum Origin {
    /// The process inside takes it from there.
    Path(CString),
    /// A mount that hangs nowhere, through which the run owns what its owner owns.
    Mount(OwnedFd),
}

/// Where in memory the parts of a layer are.
pub struct Layer {
    pub lower: CString,
    pub upper: CString,
    pub work: CString,
}

pub struct Written<'a> {
    pub place: Place,
    pub bytes: &'a [u8],
    pub mode: u32,
}

/// What a grant is of, found on the host.
pub struct Source {
    pub from: Origin,
    pub about: About,
}

/// What must be known of it to show it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct About {
    pub is_directory: bool,
    /// Permissions: the layer above has the same.
    pub mode: u32,
}

/// Looks for all that is granted, on the host.
pub fn find(grants: &[Grant], ids: Ids) -> Result<Vec<Source>, SandboxError> {
    let layered = grants.iter().filter(|grant| grant.access == Access::Layered).count();
    if let (true, Some(grant)) = (layered > MOST_LAYERS, grants.last()) {
        return Err(refuse(
            &grant.host,
            format!("at most {MOST_LAYERS} directories can be layered; give one above them"),
        ));
    }
    grants.iter().map(|grant| find_one(grant, ids)).collect()
}

fn find_one(grant: &Grant, ids: Ids) -> Result<Source, SandboxError> {
    let failed = |source: io::Error| refuse(&grant.host, source.to_string());
    let host = grant.host.canonicalize().map_err(failed)?;
    let metadata = host.metadata().map_err(failed)?;
    if grant.access == Access::Layered && !metadata.is_dir() {
        return Err(refuse(&grant.host, "only a directory can be layered; give the one that it is in".into()));
    }
    if !metadata.is_dir() && !metadata.is_file() {
        return Err(refuse(&grant.host, "it is neither a directory nor a file".into()));
    }
    let path = word(&host)?;
    let mapped = if ids.are_own { mapped(&path, &metadata, ids).unwrap_or(None) } else { None };
    let about = About { is_directory: metadata.is_dir(), mode: metadata.mode() & 0o777 };
    Ok(Source { from: mapped.map_or(Origin::Path(path), Origin::Mount), about })
}

/// Makes ready what was found, those nearer to the root first, so that one can lie inside another.
pub fn grants(grants: &[Grant], sources: Vec<Source>) -> Result<Vec<(usize, Granted)>, SandboxError> {
    if grants.len() != sources.len() {
        return Err(refuse(Path::new("/"), "not all that was granted was found".into()));
    }
    let each = grants.iter().zip(sources).enumerate();
    let mut ready = each
        .map(|(index, (grant, source))| Ok((index, make_ready(index, grant, source)?)))
        .collect::<Result<Vec<_>, SandboxError>>()?;
    ready.sort_by_key(|(_, granted)| granted.place.ancestors.len());
    Ok(ready)
}

/// How many directories lead to a place.
pub fn depth(inside: &Path) -> usize {
    inside.components().filter(|component| matches!(component, Component::Normal(_))).count()
}

fn make_ready(index: usize, grant: &Grant, source: Source) -> Result<Granted, SandboxError> {
    let number = |name: &str| CString::new(format!("{name}{index}")).unwrap_or_default();
    let Source { from, about: About { is_directory, mode } } = source;
    let layer = || Layer { lower: number("lower"), upper: number("upper"), work: number("work") };
    let place = place(&grant.inside)?;
    if let Some(own) = covered(grant, is_directory) {
        let why =
            format!("{own} is the run's own and cannot be covered; give another place inside, such as :/mnt/data");
        return Err(refuse(&grant.inside, why));
    }
    Ok(Granted { from, place, is_directory, access: grant.access, mode, layer: is_directory.then(layer) })
}

/// What every run has of its own, and would not have if this lay over it.
fn covered(grant: &Grant, is_directory: bool) -> Option<&'static str> {
    let inside = grant.inside.as_path();
    if inside.starts_with("/proc") {
        return Some("/proc");
    }
    if inside == Path::new("/dev") {
        return Some("/dev");
    }
    let rest = Path::new(HOME).strip_prefix(inside).ok()?;
    let has_home = if rest.as_os_str().is_empty() { is_directory } else { grant.host.join(rest).is_dir() };
    (!has_home).then_some(HOME)
}

/// Where a file system does not know mapped owners, or only the root of the host may map them, the run sees what everybody
/// may see.
fn mapped(path: &CString, metadata: &Metadata, ids: Ids) -> io::Result<Option<OwnedFd>> {
    let mount = open_tree(CWD, path, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
    let namespace = ids.namespace_for(metadata.uid(), metadata.gid())?;
    Ok(system::mount::map_owners(&mount, &namespace).is_ok().then_some(mount))
}

pub fn files(files: &[FileIn]) -> Result<Vec<Written<'_>>, SandboxError> {
    files
        .iter()
        .map(|file| {
            let mode = if file.is_executable { 0o755 } else { 0o644 };
            Ok(Written { place: place(&file.inside)?, bytes: &file.bytes, mode })
        })
        .collect()
}

/// Checks a path inside: from the root, without `..`, not the root itself.
fn place(inside: &Path) -> Result<Place, SandboxError> {
    let mut names: Vec<&OsStr> = Vec::new();
    for component in inside.components() {
        match component {
            Component::RootDir | Component::CurDir => {}
            Component::Normal(name) => names.push(name),
            Component::ParentDir | Component::Prefix(_) => {
                return Err(refuse(inside, "a place inside is named from the root, without ..".into()));
            }
        }
    }
    let (Some((name, parents)), true) = (names.split_last(), inside.is_absolute()) else {
        return Err(refuse(inside, "a place inside is named from the root, and is not the root".into()));
    };
    let directory = |names: &[&OsStr]| match names.is_empty() {
        true => Ok(c".".to_owned()),
        false => word(&names.iter().collect::<std::path::PathBuf>()),
    };
    let ancestors = (0..parents.len())
        .filter_map(|count| Some((directory(parents.get(..count)?), word(Path::new(parents.get(count)?)))))
        .map(|(directory, name)| Ok((directory?, name?)))
        .collect::<Result<Vec<_>, SandboxError>>()?;
    Ok(Place {
        path: word(&names.iter().collect::<std::path::PathBuf>())?,
        ancestors,
        parent: directory(parents)?,
        name: word(Path::new(name))?,
    })
}

fn word(path: &Path) -> Result<CString, SandboxError> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| refuse(path, "there is a zero byte in it".into()))
}

fn refuse(path: &Path, why: String) -> SandboxError {
    SandboxError::Grant { path: path.into(), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_inside_has_its_way_from_the_root() {
        let place = place(Path::new("/data/a/b")).unwrap();
        assert_eq!(place.path.to_str(), Ok("data/a/b"));
        let ancestors: Vec<_> =
            place.ancestors.iter().map(|(a, b)| (a.to_str().unwrap(), b.to_str().unwrap())).collect();
        assert_eq!(ancestors, [(".", "data"), ("data", "a")]);
        assert_eq!((place.parent.to_str(), place.name.to_str()), (Ok("data/a"), Ok("b")));
    }

    /// Whoever did that was told that this host had no Landlock.
    #[test]
    fn what_every_run_has_of_its_own_is_not_covered() {
        let host = tempfile::tempdir().unwrap();
        let covered = |inside: &str| {
            covered(&Grant { host: host.path().into(), inside: inside.into(), access: Access::Read }, true)
        };
        assert_eq!(["/dev", "/proc", "/proc/1", "/home"].map(covered), ["/dev", "/proc", "/proc", HOME].map(Some));
        assert_eq!(["/dev/data", "/home/user", "/home/user/data", "/tmp", "/mnt"].map(covered), [None; 5]);
        std::fs::create_dir(host.path().join("user")).unwrap();
        assert_eq!(covered("/home"), None, "there is one, too");
    }

    #[test]
    fn places_that_are_none_are_refused() {
        for path in ["", "/", "data", "/data/../etc", ".."] {
            assert!(place(Path::new(path)).is_err(), "{path}");
        }
    }
}
