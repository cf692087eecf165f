//! `--sockets FILE`: what becomes of socket calls of programs that know no proxy, as data that a person writes.

use anyhow::{Context, bail};
use sandbox::Network;
use sandbox::network::sockets::{Recorder, Recording, Sockets};
use serde::Deserialize;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What stands in the file. Paths in it are looked for beside it.
#[derive(Deserialize, Clone, Debug)]
#[serde(tag = "policy", rename_all = "lowercase", deny_unknown_fields)]
enum Policy {
    /// Refused.
    Block {},
    /// Made to hosts of `--net`; what is said can be written down.
    Redirect {
        #[serde(default)]
        record: Option<PathBuf>,
    },
    /// Answered with what was written down once.
    Replay { recording: PathBuf },
}

/// Writes down what was said, when the run has ended.
#[derive(Debug)]
pub struct Keeping {
    pub file: PathBuf,
    recorder: Arc<Recorder>,
}

const EXPECTED: &str = "it says policy = \"block\", \"redirect\" or \"replay\"; docs/exec.md has examples";

/// The policy of a file, and what is to be written down.
pub fn read(file: &Path, network: &Network) -> anyhow::Result<(Sockets, Option<Keeping>)> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read the policy \"{name}\""))?;
    let policy: Policy = toml::from_str(&text).with_context(|| format!("\"{name}\" is no policy: {EXPECTED}"))?;
    let beside = |path: PathBuf| file.parent().unwrap_or(Path::new("")).join(path);
    Ok(match policy {
        Policy::Block {} => (Sockets::Blocked, None),
        Policy::Redirect { .. } if *network == Network::None => {
            bail!("\"{name}\" redirects to hosts that are allowed, and none is; --net HOST:PORT allows one")
        }
        Policy::Redirect { record: None } => (Sockets::Redirected(None), None),
        Policy::Redirect { record: Some(path) } => {
            let recorder = Arc::new(Recorder::default());
            let keeping = Keeping { file: beside(path), recorder: Arc::clone(&recorder) };
            (Sockets::Redirected(Some(recorder)), Some(keeping))
        }
        Policy::Replay { recording } => {
            let path = beside(recording);
            let name = path.display();
            let text =
                std::fs::read_to_string(&path).with_context(|| format!("cannot read the recording \"{name}\""))?;
            let recording: Recording = text.parse().with_context(|| format!("in \"{name}\""))?;
            (Sockets::Recorded(Arc::new(recording)), None)
        }
    })
}

impl Keeping {
    /// What was said may hold secrets, so the file is its owner's.
    pub fn write(&self) -> anyhow::Result<()> {
        let cannot = || format!("cannot write the recording \"{}\"", self.file.display());
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&self.file)
            .with_context(cannot)?;
        file.write_all(self.recorder.recording().to_string().as_bytes()).with_context(cannot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Result<Policy, toml::de::Error> {
        toml::from_str(text)
    }

    #[test]
    fn a_policy_is_a_word_and_its_file() {
        assert!(matches!(policy("policy = \"block\""), Ok(Policy::Block {})));
        assert!(matches!(policy("policy = \"redirect\""), Ok(Policy::Redirect { record: None })));
        let kept = policy("policy = \"redirect\"\nrecord = \"talk\"");
        assert!(matches!(kept, Ok(Policy::Redirect { record: Some(path) }) if path == Path::new("talk")));
        assert!(matches!(policy("policy = \"replay\"\nrecording = \"a\""), Ok(Policy::Replay { .. })));
    }

    #[test]
    fn a_slip_in_a_policy_is_named() {
        for (text, named) in [
            ("policy = \"blok\"", "blok"),
            ("polcy = \"block\"", "policy"),
            ("policy = \"block\"\nrecord = \"x\"", "record"),
            ("policy = \"replay\"", "recording"),
            ("policy = \"redirect\"\nrecrd = \"x\"", "recrd"),
        ] {
            let error = policy(text).unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
