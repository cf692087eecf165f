//! What a program can find out about the process that it runs in: through `/proc`, and by numbers of descriptors. That is another
//! process while it is judged, so who looks there is noted to have asked the machine.

use language::Vm;
use std::path::{Component, Path, PathBuf};

const PLACE: &str = "/proc";

/// A path that is about to be looked at.
pub fn seen(vm: &Vm, path: PathBuf) -> PathBuf {
    if is_in_place(&path) {
        vm.heap().note_machine();
    }
    path
}

fn is_in_place(path: &Path) -> bool {
    let name = PLACE.trim_start_matches('/').as_bytes();
    if !path.as_os_str().as_encoded_bytes().windows(name.len()).any(|part| part == name) {
        return false;
    }
    whole(path).starts_with(PLACE)
}

/// A path from the root on, by its names alone: no program here makes links.
pub fn whole(path: &Path) -> PathBuf {
    let here = if path.is_absolute() { PathBuf::new() } else { std::env::current_dir().unwrap_or_default() };
    let mut whole = PathBuf::new();
    for component in here.join(path).components() {
        match component {
            Component::ParentDir => _ = whole.pop(),
            Component::CurDir => {}
            component => whole.push(component),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_however_it_is_written() {
        for path in ["/proc", "/proc/self/fd", "/tmp/../proc/1", "//proc/./self", "/proc/../proc"] {
            assert!(is_in_place(Path::new(path)), "{path}");
        }
        for path in ["/", "/tmp/proc", "/procs", "/proc/../tmp", "/tmp/x"] {
            assert!(!is_in_place(Path::new(path)), "{path}");
        }
    }
}
