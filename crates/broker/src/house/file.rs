//! `broker.toml`. It may hold secrets, so nothing that is said about it repeats what stands in it as a value.

use super::secret::{Secret, Secrets};
use super::{House, destinations};
use crate::error::BrokerError;
use sandbox::network::Destination;
use sandbox::network::address::special;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use ureq::tls::{Certificate, PemItem, parse_pem};

const BYTES_MAX: usize = 1 << 20;
/// Shorter ones would be found everywhere in what is answered.
const SECRET_BYTES_MIN: usize = 8;
const SECRET_BYTES_MAX: usize = 8 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HouseFile {
    #[serde(default)]
    http: Http,
    /// Looked at by hand: what the library says of a wrong value repeats it.
    secrets: Option<toml::Value>,
    #[serde(default)]
    files: Files,
    #[serde(default)]
    environment: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Http {
    hosts: Vec<String>,
    private: Vec<String>,
    authorities: Option<PathBuf>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Files {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
}

/// Reads one file, with what is said about it.
struct Reading<'a> {
    path: &'a Path,
}

pub fn read(path: &Path) -> Result<House, BrokerError> {
    let reading = Reading { path };
    let (text, others_may_read) = read_text(path)?;
    let file: HouseFile = toml::from_str(&text).map_err(|error| toml_error(path, &text, &error))?;
    if file.secrets.is_some() && others_may_read {
        return Err(BrokerError::Open { path: path.into() });
    }
    let hosts = reading.hosts("[http] hosts", &file.http.hosts)?;
    let private = reading.private(&file.http.private, &file.http.hosts, &hosts)?;
    Ok(House {
        authorities: file.http.authorities.as_deref().map(|path| reading.authorities(path)).transpose()?,
        secrets: reading.secrets(file.secrets)?,
        readable: reading.directories("read", file.files.read)?,
        writable: reading.directories("write", file.files.write)?,
        environment: file.environment,
        hosts,
        private,
    })
}

impl Reading<'_> {
    fn wrong(&self, why: impl Into<String>) -> BrokerError {
        BrokerError::Content { path: self.path.into(), line: None, why: why.into() }
    }

    fn hosts(&self, place: &str, texts: &[String]) -> Result<Vec<Destination>, BrokerError> {
        let each = texts.iter().map(|text| destinations(text).map_err(|error| self.wrong(format!("{place}: {error}"))));
        Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Each is exactly one host and port, and one of the hosts; and what among the hosts needs one has it.
    fn private(
        &self,
        texts: &[String],
        host_texts: &[String],
        hosts: &[Destination],
    ) -> Result<Vec<Destination>, BrokerError> {
        let mut private = Vec::new();
        for text in texts {
            let wrong = |why: &dyn std::fmt::Display| self.wrong(format!("[http] private: {why}"));
            let (host, port) = sandbox::network::destination::asked(text).map_err(|error| wrong(&error))?;
            if !hosts.iter().any(|each| each.grants(&host, port)) {
                return Err(wrong(&format!("\"{text}\" is not among `hosts`; add it there too")));
            }
            private.push(Destination::of_anywhere(text).map_err(|error| wrong(&error))?);
        }
        for (text, host) in
            host_texts.iter().flat_map(|text| std::iter::repeat(text).zip(destinations(text).unwrap_or_default()))
        {
            let Some(what) = host.address().and_then(special) else { continue };
            if !private.contains(&host) {
                let why = format!("\"{text}\" is {what}; `private = [\"{host}\"]` in [http] allows that too");
                return Err(self.wrong(why));
            }
        }
        Ok(private)
    }

    /// Certificates in a file, whose path is from the directory of this one.
    fn authorities(&self, file: &Path) -> Result<Vec<Certificate<'static>>, BrokerError> {
        let path = self.path.parent().unwrap_or(Path::new("")).join(file);
        let (text, _) = read_text(&path)?;
        let certificates: Vec<_> = parse_pem(text.as_bytes())
            .filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            })
            .collect();
        match certificates.is_empty() {
            true => Err(self.wrong(format!("[http] authorities: there is no certificate in {}", path.display()))),
            false => Ok(certificates),
        }
    }

    fn directories(&self, place: &str, paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, BrokerError> {
        for path in &paths {
            if !path.is_absolute() || path.components().any(|part| part == std::path::Component::ParentDir) {
                let path = path.display();
                return Err(self.wrong(format!("[files] {place}: {path} must begin with / and be without `..`")));
            }
        }
        Ok(paths)
    }

    fn secrets(&self, written: Option<toml::Value>) -> Result<Secrets, BrokerError> {
        let mut secrets = Secrets::default();
        let Some(written) = written else { return Ok(secrets) };
        let toml::Value::Table(table) = written else {
            return Err(self.wrong("`secrets` is a table: write [secrets.NAME]"));
        };
        for (name, written) in table {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            if name.is_empty() || !name.bytes().all(is_letter) {
                return Err(self.wrong("a name in [secrets.NAME] has only letters, digits, `-` and `_`"));
            }
            let secret = self.secret(&name, written)?;
            secrets.insert(name, secret);
        }
        Ok(secrets)
    }

    fn secret(&self, name: &str, written: toml::Value) -> Result<Secret, BrokerError> {
        let wrong = |why: String| self.wrong(format!("[secrets.{name}]: {why}"));
        let toml::Value::Table(mut table) = written else {
            return Err(wrong("it is a table, with `hosts` and one of `value`, `file`, `variable`".into()));
        };
        let mut text = |key: &str| match table.remove(key) {
            None => Ok(None),
            Some(toml::Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(format!("`{key}` is text: put it into quotes"))),
        };
        let sources = (text("value")?, text("file")?, text("variable")?);
        let hosts = match table.remove("hosts") {
            None => return Err(wrong("`hosts` is missing: say to whom it may be sent".into())),
            Some(hosts) => hosts.try_into::<Vec<String>>().map_err(|_| wrong("`hosts` is a list of texts".into()))?,
        };
        if let Some(other) = table.keys().next() {
            return Err(wrong(format!("there is no `{other}`; it has `hosts` and one of `value`, `file`, `variable`")));
        }
        let value = match sources {
            (Some(value), None, None) => value,
            (None, Some(file), None) => self.secret_of_file(Path::new(&file))?,
            (None, None, Some(variable)) => {
                std::env::var(&variable).map_err(|_| wrong(format!("the variable {variable} is not set to text")))?
            }
            _ => return Err(wrong("it has exactly one of `value`, `file` and `variable`".into())),
        };
        if !(SECRET_BYTES_MIN..=SECRET_BYTES_MAX).contains(&value.len()) || value.chars().any(char::is_control) {
            return Err(wrong(format!(
                "it must be one line of {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX} bytes, or it could not be told from other text"
            )));
        }
        let hosts = self.hosts(&format!("[secrets.{name}] hosts"), &hosts)?;
        Ok(Secret { value, hosts })
    }

    /// The first line of a file that nobody else may read; its path is from the directory of this one.
    fn secret_of_file(&self, file: &Path) -> Result<String, BrokerError> {
        let path = self.path.parent().unwrap_or(Path::new("")).join(file);
        let (text, others_may_read) = read_text(&path)?;
        match others_may_read {
            true => Err(BrokerError::Open { path }),
            false => Ok(text.trim_end_matches(['\r', '\n']).into()),
        }
    }
}

/// The text, and whether others than its owner may read it.
fn read_text(path: &Path) -> Result<(String, bool), BrokerError> {
    let unread = |source| BrokerError::Read { path: path.into(), source };
    let file = File::open(path).map_err(unread)?;
    let details = file.metadata().map_err(unread)?;
    if !details.is_file() {
        return Err(BrokerError::NotAFile { path: path.into() });
    }
    let mut bytes = Vec::new();
    file.take(BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() > BYTES_MAX {
        return Err(BrokerError::TooBig { path: path.into(), limit: BYTES_MAX });
    }
    let text = String::from_utf8(bytes).map_err(|_| BrokerError::Content {
        path: path.into(),
        line: None,
        why: "it is no UTF-8 text".into(),
    })?;
    Ok((text, details.mode() & 0o077 != 0))
}

/// The message without the line of the file that the library would show.
pub fn toml_error(path: &Path, text: &str, error: &toml::de::Error) -> BrokerError {
    let line = error.span().map(|span| {
        let before = &text.as_bytes()[..span.start.min(text.len())];
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    });
    BrokerError::Content { path: path.into(), line, why: error.message().into() }
}
