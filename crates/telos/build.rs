//! How the program is linked. `telos exec` is started for each run, so what the loader does counts there.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") != "linux" || target("ENV") != "gnu" {
        return;
    }
    // The unwinder comes from the compiler's archive: its shared library asks the processor what it can when it is loaded,
    // which takes 0.1 ms on virtual machines, and is one more file to map.
    println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    // Places that depend on where the program is loaded are told as bits, and not in 24 bytes each: the loader reads 680 KiB less.
    if knows_packed_relocations() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The C library's loader does from version 2.36 on.
fn knows_packed_relocations() -> bool {
    let asked = std::process::Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let text = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let version = text.split_whitespace().nth(1).and_then(|version| version.split_once('.'));
    let number = |word: &str| word.parse::<u32>().unwrap_or(0);
    version.is_some_and(|(major, minor)| (number(major), number(minor)) >= (2, 36))
}
