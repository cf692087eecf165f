//! How the program is linked. `telos exec` is started for each run, so what the loader does counts there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let told = |key: &str| std::env::var(key).unwrap_or_default();
    if told("CARGO_CFG_TARGET_OS") != "linux" || told("CARGO_CFG_TARGET_ENV") != "gnu" {
        return Ok(());
    }
    // The unwinder comes from the compiler's archive: its shared library asks the processor what it can when it is loaded,
    // which takes 0.1 ms on virtual machines, and is one more file to map.
    println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    // Places that depend on where the program is loaded are told as bits, and not in 24 bytes each: the loader reads 680 KiB less.
    if knows_packed_relocations() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    let own = PathBuf::from(told("OUT_DIR"));
    if told("HOST") == told("TARGET") {
        take_libraries_in(&own.join("libraries"))?;
    }
    start_allocator_late(&own.join("late.ld"))
}

/// The C library's loader does from version 2.36 on.
fn knows_packed_relocations() -> bool {
    let asked = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let text = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let version = text.split_whitespace().nth(1).and_then(|version| version.split_once('.'));
    let number = |word: &str| word.parse::<u32>().unwrap_or(0);
    version.is_some_and(|(major, minor)| (number(major), number(minor)) >= (2, 36))
}

/// Libraries that programs of Rust ask for, and the archives that have the same.
const LIBRARIES: [(&str, &[&str]); 7] = [
    ("c", &["libc.a", "libgcc_eh.a", "libgcc.a"]),
    ("gcc_s", &["libgcc_eh.a", "libgcc.a"]),
    ("m", &["libm.a"]),
    ("dl", &["libdl.a"]),
    ("rt", &["librt.a"]),
    ("pthread", &["libpthread.a"]),
    ("util", &["libutil.a"]),
];

/// Puts the C library into the program, which is loaded at a random address as before: 0.3 ms less for files that are mapped and
/// names that are looked up. Where its archives are not installed, the program asks for the shared ones.
fn take_libraries_in(directory: &Path) -> io::Result<()> {
    let archives = LIBRARIES.map(|(_, names)| names.iter().map(|name| found(name)).collect::<Option<Vec<String>>>());
    if archives.iter().any(Option::is_none) || found("rcrt1.o").is_none() {
        return Ok(());
    }
    fs::create_dir_all(directory)?;
    // The compiler asks for shared libraries by name; what it finds first are these, which lead to the archives.
    for ((name, _), archives) in LIBRARIES.iter().zip(archives.into_iter().flatten()) {
        fs::write(directory.join(format!("lib{name}.so")), format!("GROUP ( {} )\n", archives.join(" ")))?;
    }
    println!("cargo::rustc-link-arg-bins=-static-pie");
    println!("cargo::rustc-link-arg-bins=-L{}", directory.display());
    Ok(())
}

/// Where the C compiler finds a file, if it does.
fn found(name: &str) -> Option<String> {
    let answer = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = String::from_utf8(answer.stdout).ok()?.trim().to_string();
    Path::new(&path).is_absolute().then_some(path)
}

/// jemalloc gets itself ready before `main`, which takes 0.2 ms; without that it does when it is first asked for something, and
/// `telos exec` does not ask it.
fn start_allocator_late(script: &Path) -> io::Result<()> {
    let discarded = "*jemalloc.pic.o(.init_array .init_array.* .ctors .ctors.*)";
    fs::write(script, format!("SECTIONS {{ /DISCARD/ : {{ {discarded} }} }}\nINSERT AFTER .text;\n"))?;
    println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", script.display());
    Ok(())
}
