//! The files that every run sees, as data: directories, links and small files that are made anew for each, and what is
//! shown of the host, read-only.

use std::ffi::{CStr, CString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The home of the run's user.
pub const HOME: &str = "/home/user";
/// Where programs are looked for if the environment does not say.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
pub const HOST_NAME: &str = "sandbox";
/// Of the run's user and its group, inside.
pub const USER: u32 = 1000;

/// Made in memory for each run, parents first. What a run may write is in `WRITABLE`.
const DIRECTORIES: &[&str] = &[
    "usr",
    "etc",
    "proc",
    "dev",
    "dev/shm",
    "home",
    "home/user",
    "mnt",
    "opt",
    "run",
    "srv",
    "tmp",
    "var",
    "var/lib",
    "var/cache",
    CODE_NAME,
];

/// Where code is handed in, usually: a run finds it there, or nothing. From the root.
const CODE_NAME: &str = "code";
pub const CODE: &CStr = c"code";
pub const CODE_PLACE: &str = "/code";

/// What every program finds in its environment.
pub const VARIABLES: [(&str, &str); 4] = [("PATH", PATH), ("HOME", HOME), ("USER", "user"), ("LANG", "C.UTF-8")];

/// Directories that a run may write to.
pub const WRITABLE: &[&str] = &["tmp", "home/user", "dev/shm"];

/// What a run's own file system in memory has, if it is not the whole view, and where that is shown. It lies at `OWN_PLACE`,
/// read-only.
pub const OWN: &[(&CStr, &CStr)] = &[(c"tmp", c"tmp"), (c"home", c"home/user"), (c"shm", c"dev/shm")];
pub const OWN_PLACE: &CStr = c"/run";
/// There, too: a link leads to it.
pub const OWN_MACHINE_ID: &CStr = c"run/machine-id";

/// A file that is another one in each run.
pub const MACHINE_ID: &CStr = c"etc/machine-id";

const LINKS: &[(&str, &str)] = &[
    ("var/tmp", "/tmp"),
    ("var/run", "/run"),
    ("dev/fd", "/proc/self/fd"),
    ("dev/stdin", "/proc/self/fd/0"),
    ("dev/stdout", "/proc/self/fd/1"),
    ("dev/stderr", "/proc/self/fd/2"),
    ("etc/mtab", "/proc/self/mounts"),
];

/// Directories at the root that most hosts have as links into /usr, and some as directories.
const ROOTS: &[&str] = &["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/// Devices that hold nothing and tell nothing of the host.
pub const DEVICES: &[&str] = &["dev/null", "dev/zero", "dev/full", "dev/random", "dev/urandom"];

/// What programs and libraries of the system are configured by, where it is there and names nobody. Small files are copied,
/// since a mount of each costs more; directories and large files are shown.
const CONFIGURATION: &[&str] = &[
    "etc/ld.so.cache",
    "etc/alternatives",
    "etc/ssl",
    "etc/pki",
    "etc/localtime",
    "etc/timezone",
    "etc/mime.types",
    "etc/protocols",
    "etc/services",
    "etc/inputrc",
    "etc/bash.bashrc",
    "etc/profile",
    "etc/perl",
    "etc/php",
    "etc/java-17-openjdk",
    "etc/java-21-openjdk",
    "etc/java-25-openjdk",
    "etc/fonts",
];

/// None of them is nearly as large.
const MOST_BYTES: u64 = 1 << 20;
/// From here on a file is shown: a page that is copied takes 4 µs with its end, a mount 30.
const SHOWN_BYTES: u64 = 64 << 10;

const FILES: &[(&str, &str)] = &[
    (
        "etc/passwd",
        "root:x:0:0:root:/:/usr/sbin/nologin\nuser:x:1000:1000:user:/home/user:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
    ),
    ("etc/group", "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n"),
    ("etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n"),
    ("etc/hostname", "sandbox\n"),
    ("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
    ("etc/resolv.conf", ""),
];

/// A place on the host that is shown at the same place inside, read-only.
pub struct Shown {
    pub host: CString,
    pub inside: CString,
    pub is_directory: bool,
}

impl Shown {
    /// Whether the last part of its path is that of the other.
    fn is_named_as(&self, path: &[u8]) -> bool {
        let is_between = |byte: &u8| *byte == b'/';
        self.inside.to_bytes().rsplit(is_between).next() == path.rsplit(is_between).next()
    }
}

/// An overlay as it is asked for.
pub struct Cover {
    /// Directories of the host, as the kernel's overlay wants them: no fewer than two.
    pub lowers: CString,
    /// Where in memory it is while things are taken from it.
    pub place: CString,
}

/// A directory at the root of the host that something is shown of, below an overlay.
pub struct Part {
    /// From the root.
    name: &'static str,
    /// Over it and an empty one.
    pub cover: Cover,
}

impl Part {
    fn of(path: &'static str) -> Part {
        let name = path.split_once('/').map_or(path, |(name, _)| name);
        let lowers = literal(&format!("/{name}:{}", NOTHING.to_string_lossy()));
        Part { name, cover: Cover { lowers, place: literal(&format!("over-{name}")) } }
    }

    /// Where in the overlay a thing is that is shown, if it is of this part: by its name there, and nothing for all of it.
    pub fn below<'a>(&self, shown: &'a Shown) -> Option<&'a CStr> {
        let rest = shown.inside.to_bytes_with_nul().strip_prefix(self.name.as_bytes())?;
        let rest = rest.strip_prefix(b"/").or_else(|| (rest == b"\0").then_some(rest))?;
        CStr::from_bytes_with_nul(rest).ok()
    }
}

/// An empty directory in memory.
pub const NOTHING: &CStr = c"nothing";

/// What is made and shown, ready for a process that must not ask for memory.
pub struct Skeleton {
    pub directories: Vec<CString>,
    pub links: Vec<(CString, CString)>,
    pub files: Vec<(CString, Content)>,
    pub shown: Vec<Shown>,
    /// What those are of.
    pub parts: Vec<Part>,
    /// One overlay over all parts, if what is shown has another name in each: the kernel waits for all processors before it
    /// removes one, which takes as long as all other files of a run.
    pub together: Option<Cover>,
    pub devices: Vec<Shown>,
    pub writable: Vec<CString>,
}

/// What is in a file that is made.
pub enum Content {
    Words(&'static str),
    /// As much as this of a file of the host.
    Copied {
        host: CString,
        bytes: u64,
    },
}

impl Content {
    fn bytes(&self) -> u64 {
        match self {
            Content::Words(words) => words.len() as u64,
            Content::Copied { bytes, .. } => *bytes,
        }
    }
}

/// Where whoever is given nothing else may write.
pub const SCRATCH: &str = "/tmp";

impl Skeleton {
    /// For who starts no program, and so needs none, nor what they are configured by.
    pub fn without_programs() -> Skeleton {
        let is_needed = |path: &&&str| ["etc", "proc", "dev", "tmp"].contains(*path);
        let is_told = |file: &&(&str, &str)| file.0 == "etc/hostname";
        let is_used = |path: &&&str| ["dev/null", "dev/urandom"].contains(*path);
        Skeleton {
            directories: DIRECTORIES.iter().filter(is_needed).map(|path| literal(path)).collect(),
            links: Vec::new(),
            files: FILES.iter().filter(is_told).map(|(path, words)| (literal(path), Content::Words(words))).collect(),
            shown: Vec::new(),
            parts: Vec::new(),
            together: None,
            devices: DEVICES.iter().filter(is_used).map(|path| shown(path, false)).collect(),
            writable: vec![literal("tmp")],
        }
    }

    /// Looks at the host for what of it is there.
    pub fn of_host() -> Skeleton {
        let mut skeleton = Skeleton {
            directories: DIRECTORIES.iter().map(|path| literal(path)).collect(),
            links: LINKS.iter().map(|(path, target)| (literal(path), literal(target))).collect(),
            files: FILES.iter().map(|(path, words)| (literal(path), Content::Words(words))).collect(),
            shown: Vec::new(),
            parts: vec![Part::of("usr")],
            together: None,
            devices: DEVICES.iter().map(|path| shown(path, false)).collect(),
            writable: WRITABLE.iter().map(|path| literal(path)).collect(),
        };
        for path in ROOTS.iter().chain(CONFIGURATION) {
            skeleton.show_if_there(path);
        }
        skeleton.show_programs();
        skeleton
    }

    /// All of /usr: by what is in it where that lets one overlay be over /etc as well, else as a whole.
    fn show_programs(&mut self) {
        let is_of_both = self.parts.iter().map(|part| part.name).eq(["usr", "etc"]);
        let programs = Programs::of_host().filter(|programs| is_of_both && self.is_apart_from(programs));
        let Some(Programs { directories, links }) = programs else {
            return self.shown.push(shown("usr", true));
        };
        self.together = Some(Cover { lowers: literal("/usr:/etc"), place: literal("over-both") });
        self.links.extend(links);
        for path in directories {
            self.directories.push(literal(&path));
            self.shown.push(shown(&path, true));
        }
    }

    /// Whether no name is in both: an overlay shows what is in either then.
    fn is_apart_from(&self, programs: &Programs) -> bool {
        let is_in_etc = |path: &String| fs::symlink_metadata(path.replacen("usr/", "/etc/", 1)).is_ok();
        let is_in_usr = |shown: &Shown| {
            let mut links = programs.links.iter().map(|(path, _)| path.to_bytes());
            programs.directories.iter().any(|path| shown.is_named_as(path.as_bytes()))
                || links.any(|path| shown.is_named_as(path))
        };
        !programs.directories.iter().any(is_in_etc) && !self.shown.iter().any(is_in_usr)
    }

    /// What its files take in memory.
    pub fn bytes(&self) -> u64 {
        const PAGE: u64 = 4096;
        self.files.iter().map(|(_, content)| content.bytes().next_multiple_of(PAGE)).sum()
    }

    /// A link is made again, a directory is shown, and a file that everybody may read copied or shown; what is not there is not
    /// there inside either.
    fn show_if_there(&mut self, path: &'static str) {
        let host = Path::new("/").join(path);
        let Ok(metadata) = fs::symlink_metadata(&host) else { return };
        if metadata.is_symlink() {
            let target = fs::read_link(&host).ok().and_then(|target| CString::new(target.as_os_str().as_bytes()).ok());
            self.links.extend(target.map(|target| (literal(path), target)));
        } else if metadata.is_dir() {
            self.directories.push(literal(path));
            self.show(path, true);
        } else if metadata.is_file() && metadata.mode() & 0o004 != 0 && metadata.len() < MOST_BYTES {
            let is_shown = metadata.len() >= SHOWN_BYTES;
            let content = match is_shown {
                true => Content::Words(""),
                false => Content::Copied { host: literal(&format!("/{path}")), bytes: metadata.len() },
            };
            self.files.push((literal(path), content));
            if is_shown {
                self.show(path, false);
            }
        }
    }

    fn show(&mut self, path: &'static str, is_directory: bool) {
        self.shown.push(shown(path, is_directory));
        let part = Part::of(path);
        if !self.parts.iter().any(|other| other.name == part.name) {
            self.parts.push(part);
        }
    }
}

/// What lies in /usr.
struct Programs {
    /// From the root.
    directories: Vec<String>,
    links: Vec<(CString, CString)>,
}

impl Programs {
    /// More would take longer to show than one overlay more.
    const MOST: usize = 24;

    /// Nothing if there is something else than directories and links, or too much of it.
    fn of_host() -> Option<Programs> {
        let mut programs = Programs { directories: Vec::new(), links: Vec::new() };
        for entry in fs::read_dir("/usr").ok()?.take(Programs::MOST + 1) {
            let entry = entry.ok()?;
            let path = format!("usr/{}", entry.file_name().to_str()?);
            let kind = entry.file_type().ok()?;
            if kind.is_dir() {
                programs.directories.push(path);
            } else if kind.is_symlink() {
                let target = CString::new(fs::read_link(entry.path()).ok()?.as_os_str().as_bytes()).ok()?;
                programs.links.push((literal(&path), target));
            } else {
                return None;
            }
        }
        (programs.directories.len() + programs.links.len() <= Programs::MOST).then_some(programs)
    }
}

fn shown(path: &str, is_directory: bool) -> Shown {
    Shown { host: literal(&format!("/{path}")), inside: literal(path), is_directory }
}

fn literal(text: &str) -> CString {
    CString::new(text).expect("paths of this module hold no zero")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_lies_in_the_overlay_of_its_part() {
        let (etc, usr) = (Part::of("etc/ssl"), Part::of("usr"));
        assert_eq!((etc.cover.lowers.as_c_str(), etc.cover.place.as_c_str()), (c"/etc:nothing", c"over-etc"));
        let ssl = shown("etc/ssl", true);
        assert_eq!((etc.below(&ssl), usr.below(&ssl)), (Some(c"ssl"), None));
        assert_eq!((usr.below(&shown("usr", true)), usr.below(&shown("usrx", true))), (Some(c""), None));
    }

    #[test]
    fn all_that_is_shown_of_this_host_is_of_a_part() {
        let skeleton = Skeleton::of_host();
        for shown in &skeleton.shown {
            let count = skeleton.parts.iter().filter(|part| part.below(shown).is_some()).count();
            assert_eq!(count, 1, "{:?}", shown.inside);
        }
    }

    /// An overlay over two directories shows in one what has the same name in the other, and /etc has what nobody may see.
    #[test]
    fn what_has_the_same_name_in_two_directories_is_not_below_one_overlay() {
        let mut skeleton = Skeleton { shown: vec![shown("etc/ssl", true)], ..Skeleton::without_programs() };
        let of = |path: &str| Programs { directories: vec![path.into()], links: Vec::new() };
        assert!(skeleton.is_apart_from(&of("usr/telos-nowhere")));
        assert!(!skeleton.is_apart_from(&of("usr/ssl")), "it is shown of /etc");
        assert!(!skeleton.is_apart_from(&of("usr/passwd")), "it is there in /etc, and not shown");
        skeleton.shown.clear();
        assert!(!skeleton.is_apart_from(&of("usr/ssl")) || !Path::new("/etc/ssl").exists());
    }
}
