//! What no dream is begun with, whoever asks for it: a mandate without end, and a directory in which the image could be reached that
//! the dream is one of.

use dream::Bounds;
use std::path::{Path, PathBuf};

/// As long as the texts of a journal may be: a mandate is in all that is told of a dream.
pub fn check_mandate(mandate: &str) -> Result<(), String> {
    let (bytes, most) = (mandate.len(), Bounds::default().text_bytes);
    match bytes > most {
        true => Err(format!("a mandate of {bytes} bytes is too long: {most} are the most")),
        false => Ok(()),
    }
}

/// Neither to write nor to read: the image's files are the image, and whoever has its token is a person.
pub fn check_directories(image: &Path, directories: impl IntoIterator<Item = PathBuf>) -> Result<(), String> {
    // One that is not there, whoever lays the directories says so.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let image = real(image);
    for directory in directories {
        let (found, told) = (real(&directory), directory.display());
        if image.starts_with(&found) {
            return Err(format!("the image itself lies in {told}; give a directory that does not contain it"));
        }
        if found.starts_with(&image) {
            return Err(format!("{told} lies in the image's own directory; give one outside of it"));
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
        for name in ["garden/dreams", "garden-notes"] {
            std::fs::create_dir_all(path(name)).unwrap();
        }
        std::os::unix::fs::symlink(path("garden"), path("link")).unwrap();
        let check = |name: &str| check_directories(&path("garden"), [path(name)]);
        for refused in ["", ".", "garden", "garden/dreams", "link", "link/dreams", "garden-notes/../garden"] {
            assert!(check(refused).is_err(), "{refused}");
        }
        assert_eq!((check("garden-notes"), check("nowhere")), (Ok(()), Ok(())));
    }
}
