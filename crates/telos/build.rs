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
}
