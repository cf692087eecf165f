//! A person's token: the secret without which nothing that is protected or locked changes. Owns its file: beside an image lies a
//! digest, its owner's alone, and never the token. Whoever keeps an image looks there, and tells the image process no more than
//! that a person allows something.
//!
//! A token is 256 random bits, so that one digest is enough: nobody guesses what it was made from.

use crate::error::KeeperError;
use rustix::fs::{FileType, Mode, OFlags};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The file with the digest, in the directory of an image.
pub const TOKEN_FILE: &str = "telos.token";
const NEW_FILE: &str = ".telos.token.new";
const SECRET_BYTES: usize = 32;
const PREFIX: &str = "telos-";
/// What is read of a file that has a token or a digest.
const FILE_BYTES_MAX: u64 = 4 << 10;
/// What the digest is of, so that it is that of nothing else.
const DOMAIN: &[u8] = b"telos, the token of a person\0";

/// The secret itself. It is shown to people, and to the keeper.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Whoever opens an image without a keeper may make copies of itself, which have all of its memory.
impl Drop for Token {
    fn drop(&mut self) {
        wipe(std::mem::take(&mut self.0).into_bytes());
    }
}

fn wipe(mut bytes: Vec<u8>) {
    bytes.fill(0);
    std::hint::black_box(bytes);
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

impl Token {
    pub fn random() -> Result<Token, KeeperError> {
        let mut secret = [0; SECRET_BYTES];
        system::random::fill(&mut secret)
            .map_err(|error| KeeperError::System { action: "make a token", source: std::io::Error::other(error) })?;
        Ok(Token(format!("{PREFIX}{}", hexadecimal(&secret))))
    }

    /// What a person has kept, with whatever white space an editor left around it.
    pub fn read(bytes: &[u8]) -> Option<Token> {
        let text = std::str::from_utf8(bytes).ok()?.trim();
        let digits = text.strip_prefix(PREFIX)?;
        let is_token = digits.len() == 2 * SECRET_BYTES && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_token.then(|| Token(text.to_ascii_lowercase()))
    }

    /// That of a file which its owner alone may read.
    pub fn read_file(path: &Path) -> Result<Token, KeeperError> {
        let bytes = read_private(path)?.ok_or_else(|| untrusted(path, "it is not there"))?;
        let token = Token::read(&bytes);
        wipe(bytes);
        token.ok_or_else(|| untrusted(path, "it has no token"))
    }

    /// Into a new file that is its owner's alone.
    pub fn write_file(&self, path: &Path) -> Result<(), KeeperError> {
        write_new(path, format!("{}\n", self.0).as_bytes())
    }

    /// For the eyes of a person, or on its way to the keeper.
    pub fn text(&self) -> &str {
        &self.0
    }

    fn digest(&self) -> [u8; SECRET_BYTES] {
        Sha256::new().chain_update(DOMAIN).chain_update(self.0.as_bytes()).finalize().into()
    }
}

/// What is kept of a token.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Imprint {
    digest: String,
    /// When it was made.
    pub made_ms: u64,
}

impl Imprint {
    /// That of the image in a directory; none if nobody made a token for it.
    pub fn of(directory: &Path) -> Result<Option<Imprint>, KeeperError> {
        let path = directory.join(TOKEN_FILE);
        let Some(bytes) = read_private(&path)? else { return Ok(None) };
        let imprint: Imprint = serde_json::from_slice(&bytes).map_err(|_| untrusted(&path, "it is no digest"))?;
        if imprint.digest.len() != 2 * SECRET_BYTES {
            return Err(untrusted(&path, "it is no digest"));
        }
        Ok(Some(imprint))
    }

    /// Whether it is of this token; how long that takes says nothing about where they differ.
    pub fn is_of(&self, token: &Token) -> bool {
        let (shown, kept) = (hexadecimal(&token.digest()), self.digest.as_bytes());
        let differing = shown.bytes().zip(kept).fold(0, |differing, (one, other)| differing | (one ^ other));
        shown.len() == kept.len() && std::hint::black_box(differing) == 0
    }

    /// Lets this token, and no other, be the one of the image in a directory.
    pub fn make(directory: &Path, token: &Token) -> Result<(), KeeperError> {
        let made_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let imprint = Imprint { digest: hexadecimal(&token.digest()), made_ms };
        imprint.copy_to(directory)
    }

    /// The same token for another directory, such as that of a backup.
    pub fn copy_to(&self, directory: &Path) -> Result<(), KeeperError> {
        let (new, path) = (directory.join(NEW_FILE), directory.join(TOKEN_FILE));
        // What a process left that was killed here.
        let _ = std::fs::remove_file(&new);
        let text = serde_json::to_string(self).unwrap_or_default();
        write_new(&new, format!("{text}\n").as_bytes())?;
        system::file::give_name(&new, &path).map_err(|error| KeeperError::Token { path, why: error.to_string() })
    }

    /// Then there is no token for the image in a directory.
    pub fn remove(directory: &Path) -> Result<(), KeeperError> {
        let path = directory.join(TOKEN_FILE);
        std::fs::remove_file(&path).map_err(KeeperError::file("remove", &path))
    }
}

/// Whether this is the token of the image in a directory. What it says is for whoever showed it.
pub fn check(directory: &Path, token: &Token) -> Result<(), KeeperError> {
    let Some(imprint) = Imprint::of(directory)? else { return Err(KeeperError::NoToken(directory.into())) };
    if imprint.is_of(token) { Ok(()) } else { Err(KeeperError::WrongToken(directory.into())) }
}

/// A file that only its owner can read or write, and that is ours or root's; none if there is none. Nothing is followed or waited for.
fn read_private(path: &Path) -> Result<Option<Vec<u8>>, KeeperError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => file,
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => return Err(untrusted(path, "it is a link; name the file itself")),
        Err(error) => return Err(KeeperError::file("read", path)(error.into())),
    };
    let found = rustix::fs::fstat(&file).map_err(|error| KeeperError::file("look at", path)(error.into()))?;
    let own = rustix::process::geteuid().as_raw();
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(untrusted(path, "it is no plain file"));
    }
    if found.st_uid != own && found.st_uid != 0 && own != 0 {
        return Err(untrusted(path, "it belongs to another user"));
    }
    if found.st_mode & 0o077 != 0 {
        return Err(untrusted(path, "others may read or write it; `chmod 600` makes it yours alone"));
    }
    let mut bytes = Vec::new();
    File::from(file).take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(KeeperError::file("read", path))?;
    Ok(Some(bytes))
}

/// A file that was not there, its owner's alone, flushed.
fn write_new(path: &Path, bytes: &[u8]) -> Result<(), KeeperError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR);
    let mut file = File::from(file.map_err(|error| KeeperError::file("make", path)(error.into()))?);
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(KeeperError::file("write", path))
}

fn untrusted(path: &Path, why: &str) -> KeeperError {
    KeeperError::Token { path: PathBuf::from(path), why: why.into() }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        // Writing to a String never fails.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_token_is_known_by_its_digest_and_the_digest_is_not_the_token() {
        let directory = tempfile::tempdir().unwrap();
        let (token, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert!(matches!(check(directory.path(), &token), Err(KeeperError::NoToken(_))));
        Imprint::make(directory.path(), &token).unwrap();
        assert!(check(directory.path(), &token).is_ok());
        assert!(matches!(check(directory.path(), &other), Err(KeeperError::WrongToken(_))), "that of another image");
        let path = directory.path().join(TOKEN_FILE);
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(!kept.contains(&token.text()[PREFIX.len()..]), "{kept}");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!format!("{token:?}").contains(token.text()), "no report shows it");
        Imprint::make(directory.path(), &other).unwrap();
        assert!(check(directory.path(), &other).is_ok() && check(directory.path(), &token).is_err());
        Imprint::remove(directory.path()).unwrap();
        assert!(matches!(check(directory.path(), &other), Err(KeeperError::NoToken(_))));
    }

    #[test]
    fn what_editors_leave_around_a_token_is_no_part_of_it() {
        let token = Token::random().unwrap();
        assert_eq!(Token::read(format!("\n  {}\r\n", token.text()).as_bytes()), Some(token.clone()));
        for text in ["", "telos-", "telos-12", "1234", &token.text()[1..], &format!("{}0", token.text())] {
            assert_eq!(Token::read(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_digest_that_somebody_else_may_have_put_there_is_not_believed() {
        let directory = tempfile::tempdir().unwrap();
        let (path, aside) = (directory.path().join(TOKEN_FILE), directory.path().join("aside"));
        let token = Token::random().unwrap();
        Imprint::make(directory.path(), &token).unwrap();
        let untrusted = |words: &str| {
            let refused = check(directory.path(), &token).unwrap_err().to_string();
            assert!(refused.contains(words), "{refused}");
        };
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o620)).unwrap();
        untrusted("chmod 600");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        std::fs::rename(&path, &aside).unwrap();
        symlink(&aside, &path).unwrap();
        untrusted("it is a link");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        untrusted("no plain file");
        std::fs::remove_dir(&path).unwrap();
        std::fs::copy(&aside, &path).unwrap();
        std::fs::write(&path, "{}").unwrap();
        untrusted("no digest");
    }

    #[test]
    fn a_token_is_written_over_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mine");
        let token = Token::random().unwrap();
        token.write_file(&path).unwrap();
        assert_eq!(Token::read_file(&path).unwrap(), token);
        assert!(token.write_file(&path).is_err(), "it is there already");
        let link = directory.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(Token::read_file(&link).is_err_and(|error| error.to_string().contains("link")));
    }
}
