//! What a program sees and whom it may call, as it is written on the command line: directories, files, variables, hosts.

use super::sockets::{self, Keeping};
use anyhow::{Context, bail, ensure};
use clap::builder::{OsStringValueParser, TypedValueParser, ValueParser};
use clap::{Args, ValueHint};
use sandbox::network::Destination;
use sandbox::network::sockets::Sockets;
use sandbox::process::HOME;
use sandbox::{Access, FileIn, Grant, Limits, Network};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

#[derive(Args, Clone, Debug, Default)]
pub struct ViewOptions {
    /// Let it read a directory or file; INSIDE is where it finds it, the same path unless given
    #[arg(long, value_name = "DIR[:INSIDE]", value_parser = mapping(), help_heading = "View")]
    pub read: Vec<Mapping>,

    /// Let it read and change a directory; what it changes stays in memory, see --diff and --apply
    #[arg(long, value_name = "DIR[:INSIDE]", value_parser = mapping(), help_heading = "View")]
    pub write: Vec<Mapping>,

    #[command(flatten)]
    pub handed: HandedOptions,

    /// Where it starts; in the first directory of --write or --read, else its home
    #[arg(long, value_name = "INSIDE", help_heading = "View")]
    directory: Option<PathBuf>,
}

/// What it is handed, whatever it sees else, and whom it may call.
#[derive(Args, Clone, Debug, Default)]
pub struct HandedOptions {
    /// Hand it a copy of a file; in its home unless INSIDE says where
    #[arg(long = "file", value_name = "FILE[:INSIDE]", value_parser = mapping(), help_heading = "View")]
    handed_in: Vec<Mapping>,

    /// Set a variable, or hand yours in; it has none of yours else
    #[arg(long, value_name = "NAME[=VALUE]", help_heading = "View")]
    env: Vec<OsString>,

    /// Let it call a host, through a proxy that refuses private addresses; *.example.org is all below it
    #[arg(long, value_name = "HOST:PORT", help_heading = "View")]
    net: Vec<Destination>,

    /// Block, redirect or replay socket calls that go past the proxy, as this TOML file says: docs/exec.md
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "View")]
    sockets: Option<PathBuf>,
}

/// `HOST[:INSIDE]`. A colon that has no `/` behind it belongs to the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    pub host: PathBuf,
    inside: Option<PathBuf>,
}

pub fn mapping() -> ValueParser {
    ValueParser::new(OsStringValueParser::new().try_map(|text| parse_mapping(&text)))
}

fn parse_mapping(text: &OsStr) -> Result<Mapping, String> {
    let bytes = text.as_bytes();
    let split = bytes.windows(2).rposition(|pair| pair == b":/").filter(|&position| position > 0);
    let (host, inside) = match split {
        Some(position) => (&bytes[..position], Some(PathBuf::from(OsStr::from_bytes(&bytes[position + 1..])))),
        None => (bytes, None),
    };
    if host.is_empty() {
        return Err("expected a path, and perhaps :/where/it/is/inside".to_string());
    }
    if inside.as_deref().is_some_and(|path| !is_plain(path)) {
        return Err("the path inside must not hold ..".to_string());
    }
    Ok(Mapping { host: OsStr::from_bytes(host).into(), inside })
}

fn is_plain(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

impl Mapping {
    pub fn grant(&self, access: Access) -> anyhow::Result<Grant> {
        let host =
            self.host.canonicalize().with_context(|| format!("cannot let it see \"{}\"", self.host.display()))?;
        let is_directory = host.is_dir();
        if access == Access::Layered && !is_directory {
            bail!("{} is no directory; --file hands in a file, --read lets one be read", self.host.display());
        }
        // The name that was written is the one that the program's author knows, also where it is a link.
        let written = || std::path::absolute(&self.host).ok().filter(|path| is_plain(path));
        let inside = self.inside.clone().or_else(written).unwrap_or_else(|| host.clone());
        ensure!(inside.parent().is_some(), "/ cannot be let in as a whole; name the directories that it needs");
        Ok(Grant { host, inside, access })
    }

    fn file_in(&self) -> anyhow::Result<FileIn> {
        let cannot = || format!("cannot hand in \"{}\"", self.host.display());
        let name = self.host.file_name().with_context(cannot)?;
        let details = std::fs::metadata(&self.host).with_context(cannot)?;
        ensure!(details.is_file(), "{} is no file; --read lets a directory be read", self.host.display());
        let bytes = std::fs::read(&self.host).with_context(cannot)?;
        let inside = self.inside.clone().unwrap_or_else(|| Path::new(HOME).join(name));
        Ok(FileIn { inside, bytes, is_executable: details.permissions().mode() & 0o111 != 0 })
    }
}

impl ViewOptions {
    /// Those that may be changed come first, in the order in which they were written.
    pub fn grants(&self) -> anyhow::Result<Vec<Grant>> {
        let written = self.write.iter().map(|mapping| mapping.grant(Access::Layered));
        written.chain(self.read.iter().map(|mapping| mapping.grant(Access::Read))).collect()
    }

    pub fn directory(&self, grants: &[Grant]) -> PathBuf {
        let first = || grants.iter().find(|grant| grant.host.is_dir()).map(|grant| grant.inside.clone());
        self.directory.clone().or_else(first).unwrap_or_else(|| HOME.into())
    }
}

impl HandedOptions {
    pub fn is_empty(&self) -> bool {
        self.handed_in.is_empty() && self.env.is_empty() && self.net.is_empty() && self.sockets.is_none()
    }

    /// They lie in memory, so they count against what it may write.
    pub fn files(&self, limits: &Limits) -> anyhow::Result<Vec<FileIn>> {
        let room_bytes = limits.disk_bytes.unwrap_or(u64::MAX);
        let mut used_bytes = 0;
        for mapping in &self.handed_in {
            used_bytes += std::fs::metadata(&mapping.host).map_or(0, |details| details.len());
        }
        ensure!(used_bytes <= room_bytes, "the files that are handed in do not fit: --disk SIZE makes room");
        self.handed_in.iter().map(Mapping::file_in).collect()
    }

    /// Whom it may call, what becomes of calls past the proxy, and what of them is to be written down.
    pub fn network(&self) -> anyhow::Result<(Network, Sockets, Option<Keeping>)> {
        let network = if self.net.is_empty() { Network::None } else { Network::Allowed(self.net.clone()) };
        let policy = self.sockets.as_deref().map(|file| sockets::read(file, &network));
        let (sockets, keeping) = policy.transpose()?.unwrap_or_default();
        Ok((network, sockets, keeping))
    }

    /// What the user sets, over what every program and this language has.
    pub fn environment<'l>(&self, own: impl Iterator<Item = (&'l str, &'l str)>) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = own.map(|(name, value)| (name.into(), value.into())).collect();
        for written in &self.env {
            let bytes = written.as_bytes();
            let (name, value) = match bytes.iter().position(|&byte| byte == b'=') {
                Some(position) => (&bytes[..position], Some(OsStr::from_bytes(&bytes[position + 1..]).to_os_string())),
                None => (bytes, std::env::var_os(written)),
            };
            let name = OsStr::from_bytes(name).to_os_string();
            variables.retain(|(other, _)| *other != name);
            // A variable that the caller does not have, the program has not either.
            variables.extend(value.map(|value| (name, value)));
        }
        variables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_names_a_host_path_and_perhaps_one_inside() {
        let parse = |text: &str| parse_mapping(OsStr::new(text));
        assert_eq!(parse("a:/b").unwrap(), Mapping { host: "a".into(), inside: Some("/b".into()) });
        assert_eq!(parse("a:b").unwrap(), Mapping { host: "a:b".into(), inside: None });
        assert_eq!(parse("/x:/y:/z").unwrap(), Mapping { host: "/x:/y".into(), inside: Some("/z".into()) });
        assert!(parse("").is_err() && parse("a:/b/../c").is_err());
    }

    #[test]
    fn what_the_user_sets_wins_and_nothing_else_is_handed_in() {
        let options =
            HandedOptions { env: vec!["A=2".into(), "TELOS_SURELY_UNSET".into()], ..HandedOptions::default() };
        let variables = options.environment([("A", "1"), ("B", "3")].into_iter());
        assert_eq!(variables, [("B".into(), "3".into()), ("A".into(), "2".into())]);
    }
}
