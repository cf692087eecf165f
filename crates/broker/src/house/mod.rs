//! What the operator allows at the most, to the live image and to every dream.
//!
//! - `file`: how it is written, `broker.toml`
//! - `secret`: what is put into requests here and never told

mod file;
mod secret;

use crate::error::BrokerError;
use sandbox::network::{Destination, DestinationError, Host};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use ureq::tls::Certificate;

pub use file::toml_error;
pub use secret::{PLACEHOLDER_START, Secrets, percent_encoded};

/// By default nobody is reached, nothing is read and there is no secret.
#[derive(Clone, Default, Debug)]
pub struct House {
    pub(crate) hosts: Vec<Destination>,
    /// Of those, the ones that may be at an address that is no public host's.
    pub(crate) private: Vec<Destination>,
    /// Whom https trusts, if not those that everybody does.
    pub(crate) authorities: Option<Vec<Certificate<'static>>>,
    pub(crate) secrets: Secrets,
    /// Directories that dreams may read and write below.
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) environment: BTreeMap<String, String>,
}

impl House {
    pub fn read(file: &Path) -> Result<House, BrokerError> {
        file::read(file)
    }

    /// All that dreams may read or write below.
    pub fn directories(&self) -> Vec<PathBuf> {
        self.readable.iter().chain(&self.writable).cloned().collect()
    }
}

/// Whether one of these texts names a host. What cannot be read names none.
pub fn granted(texts: &[String], host: &Host, port: u16) -> bool {
    let named = texts.iter().flat_map(|text| destinations(text).unwrap_or_default());
    named.into_iter().any(|destination| destination.grants(host, port))
}

/// `HOST` or `HOST:PORT`; without a port, those of https and http.
pub fn destinations(text: &str) -> Result<Vec<Destination>, DestinationError> {
    match Destination::of_anywhere(text) {
        Ok(destination) => Ok(vec![destination]),
        Err(DestinationError::NoPort(_)) => {
            ["443", "80"].iter().map(|port| Destination::of_anywhere(&format!("{text}:{port}"))).collect()
        }
        Err(error) => Err(error),
    }
}
