//! What `telos exec` shows to every program, in the words of bwrap. What is of the host is bound read-only where the host has
//! it; what is made is made for each run: directories, links and files in the root, which is read-only afterwards, and a
//! file system in memory for each place that may be written. Beyond that bwrap's `/dev` has a terminal, ours has none.
//!
//! It follows `crates/sandbox/src/process/view.rs`.

use std::fs::{self, File};
use std::io::{Seek, Write};
use std::os::fd::AsRawFd;
use std::path::Path;

const FLAGS: &str = "--unshare-all --die-with-parent --new-session --uid 1000 --gid 1000 --hostname sandbox";
const ROOTS: &str = "bin sbin lib lib32 lib64 libx32";
const CONFIGURATION: &str = "etc/ld.so.cache etc/alternatives etc/ssl etc/pki etc/localtime \
                             etc/timezone etc/mime.types etc/protocols etc/services etc/inputrc etc/bash.bashrc \
                             etc/profile etc/perl etc/php etc/java-17-openjdk etc/java-21-openjdk \
                             etc/java-25-openjdk etc/fonts";
const DIRECTORIES: &str = "mnt opt run srv var var/lib var/cache code";
const LINKS: [(&str, &str); 3] = [("/tmp", "/var/tmp"), ("/run", "/var/run"), ("/proc/self/mounts", "/etc/mtab")];
const WRITABLE: &str = "/tmp /home/user /dev/shm";
const FILES: [(&str, &str); 7] = [
    (
        "/etc/passwd",
        "root:x:0:0:root:/:/usr/sbin/nologin\nuser:x:1000:1000:user:/home/user:/bin/sh\n\
         nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
    ),
    ("/etc/group", "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n"),
    ("/etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n"),
    ("/etc/hostname", "sandbox\n"),
    ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
    ("/etc/resolv.conf", ""),
    ("/etc/machine-id", "00000000000000000000000000000000\n"),
];

/// A command line of bwrap, and the files that it copies in. One worker has it at a time: bwrap reads from where the last one
/// stopped.
pub struct Bwrap {
    words: Vec<String>,
    handed_in: Vec<File>,
}

impl Bwrap {
    pub fn of(program: &[&str]) -> Bwrap {
        let mut words: Vec<String> = ["bwrap"].into_iter().chain(FLAGS.split(' ')).map(String::from).collect();
        let mut add = |each: &[&str]| words.extend(each.iter().map(|word| (*word).to_string()));
        // Files are copied, as ours are: binding each costs more.
        let mut copied: Vec<(String, Vec<u8>)> =
            FILES.iter().map(|(path, text)| ((*path).to_string(), text.as_bytes().to_vec())).collect();
        add(&["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]);
        for path in ROOTS.split(' ').chain(CONFIGURATION.split_whitespace()).map(|path| format!("/{path}")) {
            match (fs::read_link(&path), Path::new(&path).exists()) {
                (Ok(target), _) => add(&["--symlink", target.to_str().expect("links of the system are text"), &path]),
                (Err(_), true) if Path::new(&path).is_file() => {
                    let bytes = fs::read(&path).expect("files of the system can be read");
                    copied.push((path, bytes));
                }
                (Err(_), true) => add(&["--ro-bind", &path, &path]),
                (Err(_), false) => {}
            }
        }
        DIRECTORIES.split(' ').for_each(|path| add(&["--dir", &format!("/{path}")]));
        LINKS.iter().for_each(|(target, path)| add(&["--symlink", target, path]));
        WRITABLE.split(' ').for_each(|path| add(&["--tmpfs", path]));
        let handed_in: Vec<File> = copied.iter().map(|(_, bytes)| file_with(bytes)).collect();
        for ((path, _), file) in copied.iter().zip(&handed_in) {
            add(&["--file", &file.as_raw_fd().to_string(), path]);
        }
        add(&["--remount-ro", "/", "--chdir", "/home/user"]);
        add(program);
        Bwrap { words, handed_in }
    }

    /// The words for one more run.
    pub fn words(&self) -> &[String] {
        self.handed_in.iter().for_each(|mut file| file.rewind().expect("it is a file"));
        &self.words
    }
}

/// That the programs which are started inherit.
fn file_with(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("there is room for temporary files");
    file.write_all(bytes).expect("there is room for temporary files");
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).expect("it is open");
    file
}
