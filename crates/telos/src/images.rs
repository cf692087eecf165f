//! Where images lie. Whoever writes to an image's files is the image, whoever reads its token's digest can guess at it, and whoever
//! reaches its socket may ask it for anything: so no directory of one is given to a dream, to a program in a sandbox, or to the broker.

use std::path::{Path, PathBuf};

/// Where one of them is, there is an image, with all that is below.
pub const MARKS: [&str; 4] = [store::IMAGE, store::LOG, store::LOCK, keeper::SOCKET];

pub fn holds_image(directory: &Path) -> bool {
    MARKS.iter().any(|mark| directory.join(mark).symlink_metadata().is_ok())
}

/// Refuses directories that are an image, that lie in one, or that contain `own`, wherever that is. Others below are not looked for: that
/// would take as long as the directory is large.
pub fn check_apart(own: Option<&Path>, directories: impl IntoIterator<Item = PathBuf>) -> Result<(), String> {
    // One that is not there, whoever lays the directories says so.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let own = own.map(real);
    for directory in directories {
        let (found, told) = (real(&directory), directory.display());
        if holds_image(&found) || own.as_ref().is_some_and(|own| own.starts_with(&found)) {
            return Err(format!("an image lies in {told}; give a directory that does not contain it"));
        }
        if found.ancestors().any(|around| own.as_deref() == Some(around) || holds_image(around)) {
            return Err(format!("{told} lies in the directory of an image; give one outside of it"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_refused_by_where_it_is_and_not_by_its_name() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        for name in ["deep/garden/dreams", "deep/garden-notes", "other/shop", "fine"] {
            std::fs::create_dir_all(path(name)).unwrap();
        }
        std::os::unix::fs::symlink(path("deep/garden"), path("link")).unwrap();
        std::fs::write(path("other/shop/telos.wal"), "").unwrap();
        let own = path("deep/garden");
        let check = |name: &str| check_apart(Some(&own), [path(name)]);
        for refused in ["", ".", "deep", "deep/garden", "deep/garden/dreams", "link/dreams", "fine/../deep/garden"] {
            assert!(check(refused).is_err(), "{refused}");
        }
        assert!(check_apart(None, [path("other/shop")]).is_err());
        for allowed in ["deep/garden-notes", "fine", "nowhere", "other"] {
            assert_eq!(check(allowed), Ok(()), "{allowed}");
        }
    }
}
