//! Where the workspace lies, what cargo knows about it, and how its commands are started.

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `cargo metadata` tells about the members of the workspace.
#[derive(Deserialize)]
pub struct Workspace {
    #[serde(rename = "workspace_root")]
    pub root: PathBuf,
    #[serde(rename = "target_directory")]
    pub target: PathBuf,
    pub packages: Vec<Package>,
}

#[derive(Deserialize)]
pub struct Package {
    pub name: String,
    pub manifest_path: PathBuf,
    pub dependencies: Vec<Dependency>,
    pub features: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
pub struct Dependency {
    pub name: String,
    /// `None` for an ordinary dependency, else `dev` or `build`.
    pub kind: Option<String>,
    /// Set for members of the workspace.
    pub path: Option<PathBuf>,
}

impl Workspace {
    pub fn find() -> Result<Workspace> {
        let output = Command::new(cargo_program())
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .output()
            .context("cannot start cargo")?;
        ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).context("cannot read the output of cargo metadata")
    }

    /// A cargo command at the root of the workspace.
    pub fn cargo<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(cargo_program());
        command.current_dir(&self.root).args(arguments);
        command
    }

    pub fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }

    /// Builds the telos binary as users get it and returns its path. `variant` names a build with other features,
    /// which is kept apart.
    pub fn build_telos(&self, variant: Option<(&str, &str)>) -> Result<PathBuf> {
        let mut command = self.cargo(["build", "--quiet", "--release", "--package", "telos"]);
        let target = match variant {
            None => self.target.clone(),
            Some((name, features)) => {
                let target = self.target.join(name);
                command.args(["--features", features, "--target-dir"]).arg(&target);
                target
            }
        };
        run(&mut command)?;
        Ok(target.join("release").join("telos"))
    }
}

/// Runs a command with inherited output and fails when it fails.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", describe(command)))?;
    ensure!(status.success(), "{} failed ({status})", describe(command));
    Ok(())
}

/// The command as a person would type it.
pub fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Whether a program can be started at all.
pub fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Fails with the package to install when a program is missing.
pub fn require(program: &str, package: &str) -> Result<()> {
    if is_installed(program) {
        return Ok(());
    }
    bail!("{program} is missing: install it, on Debian and Ubuntu with `apt-get install {package}`")
}

fn cargo_program() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
