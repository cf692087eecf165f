//! Secrets: text that is put into requests to the hosts that it is bound to, and taken out of whatever is answered.

use sandbox::network::{Destination, Host};
use std::collections::BTreeMap;
use std::fmt;

pub const PLACEHOLDER_START: &str = "{{secret:";
const PLACEHOLDER_END: &str = "}}";

/// All of a house, by name.
#[derive(Clone, Default, Debug)]
pub struct Secrets(BTreeMap<String, Secret>);

/// Never shown: `Debug` leaves the value out, and there is no `Display`.
#[derive(Clone)]
pub struct Secret {
    pub(super) value: String,
    pub(super) hosts: Vec<Destination>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Secret").field("value", &"…").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

impl Secrets {
    pub(super) fn insert(&mut self, name: String, secret: Secret) {
        self.0.insert(name, secret);
    }

    /// Puts secrets in place of their placeholders, for a request to this host; says whether there was one. `written` is
    /// how the value is written there.
    pub fn fill(
        &self,
        text: &str,
        goal: (&Host, u16),
        is_encrypted: bool,
        written: fn(&str) -> String,
    ) -> Result<(String, bool), String> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(PLACEHOLDER_START) {
            let (name, after) = after
                .split_once(PLACEHOLDER_END)
                .ok_or_else(|| format!("`{PLACEHOLDER_START}` has no end; write {{{{secret:NAME}}}}"))?;
            let secret = self.usable(name, goal, is_encrypted)?;
            filled.push_str(before);
            filled.push_str(&written(&secret.value));
            rest = after;
        }
        let had_one = rest.len() != text.len();
        filled.push_str(rest);
        Ok((filled, had_one))
    }

    fn usable(&self, name: &str, (host, port): (&Host, u16), is_encrypted: bool) -> Result<&Secret, String> {
        let shown: String = name.chars().take(64).flat_map(char::escape_debug).collect();
        let secret = self
            .0
            .get(name)
            .ok_or_else(|| format!("there is no secret `{shown}`; [secrets.{shown}] in broker.toml makes one"))?;
        if !secret.hosts.iter().any(|bound| bound.grants(host, port)) {
            return Err(format!(
                "the secret `{shown}` is not for {host}:{port}; `hosts` of [secrets.{shown}] in broker.toml says for whom"
            ));
        }
        let is_here = matches!(host, Host::Address(address) if address.is_loopback()) || *host == local();
        if !is_encrypted && !is_here {
            return Err(format!("the secret `{shown}` goes over https only; write https://{host}"));
        }
        Ok(secret)
    }

    /// Puts placeholders in place of every secret; as it is if there is none, which is nearly always.
    pub fn scrub(&self, bytes: Vec<u8>) -> Vec<u8> {
        let mut bytes = bytes;
        for (needle, placeholder) in self.needles() {
            bytes = replaced(bytes, needle.as_bytes(), placeholder.as_bytes());
        }
        bytes
    }

    pub fn scrub_text(&self, text: String) -> String {
        let mut text = text;
        for (needle, placeholder) in self.needles() {
            if text.contains(&needle) {
                text = text.replace(&needle, &placeholder);
            }
        }
        text
    }

    /// Every form that a value has in a request, the longest first: one secret may be a part of another.
    fn needles(&self) -> Vec<(String, String)> {
        let mut needles = Vec::new();
        for (name, secret) in &self.0 {
            let placeholder = format!("{PLACEHOLDER_START}{name}{PLACEHOLDER_END}");
            let encoded = percent_encoded(&secret.value);
            if encoded != secret.value {
                needles.push((encoded, placeholder.clone()));
            }
            needles.push((secret.value.clone(), placeholder));
        }
        needles.sort_by_key(|(needle, _)| std::cmp::Reverse(needle.len()));
        needles
    }
}

fn local() -> Host {
    Host::Name("localhost".into())
}

/// For a query: all but letters, digits and four marks.
pub fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => encoded.push(byte.into()),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

fn replaced(bytes: Vec<u8>, needle: &[u8], by: &[u8]) -> Vec<u8> {
    let Some(first) = find(&bytes, needle) else { return bytes };
    let mut result = bytes[..first].to_vec();
    let mut rest = &bytes[first..];
    while let Some(at) = find(rest, needle) {
        result.extend_from_slice(&rest[..at]);
        result.extend_from_slice(by);
        rest = &rest[at + needle.len()..];
    }
    result.extend_from_slice(rest);
    result
}

/// Needles are short and answers bounded: looking for the first byte is quick enough.
fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == first) {
        if bytes[from + at..].starts_with(needle) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        for (name, value) in [("one", "sk-1234+67"), ("two", "sk-1234+67-longer")] {
            let hosts = vec!["api.example.com:443".parse().unwrap()];
            secrets.insert(name.into(), Secret { value: value.into(), hosts });
        }
        secrets
    }

    #[test]
    fn a_secret_is_not_shown_by_debug() {
        assert!(!format!("{:?} {:#?}", secrets(), secrets()).contains("sk-"));
    }

    #[test]
    fn every_form_of_a_secret_is_taken_out() {
        let scrubbed = secrets().scrub(b"a sk-1234+67 b sk-1234+67-longer c sk-1234%2B67sk-1234+67".to_vec());
        let expected = "a {{secret:one}} b {{secret:two}} c {{secret:one}}{{secret:one}}";
        assert_eq!(String::from_utf8(scrubbed).unwrap(), expected);
        assert_eq!(secrets().scrub_text("x sk-1234+67".into()), "x {{secret:one}}");
        assert_eq!(secrets().scrub(b"sk-1234+6".to_vec()), b"sk-1234+6");
    }

    #[test]
    fn a_placeholder_is_filled_for_its_host_only() {
        let host: Host = "api.example.com".parse().unwrap();
        let other: Host = "evil.example.com".parse().unwrap();
        let fill =
            |text: &str, host: &Host, port, encrypted| secrets().fill(text, (host, port), encrypted, str::to_string);
        let (filled, had_one) = fill("Bearer {{secret:one}}!", &host, 443, true).unwrap();
        assert_eq!((filled.as_str(), had_one), ("Bearer sk-1234+67!", true));
        assert_eq!(fill("plain", &host, 443, true).unwrap(), ("plain".into(), false));
        for (text, host, port, encrypted, word) in [
            ("{{secret:one}}", &other, 443, true, "not for"),
            ("{{secret:one}}", &host, 80, true, "not for"),
            ("{{secret:one}}", &host, 443, false, "https"),
            ("{{secret:none}}", &host, 443, true, "no secret"),
            ("{{secret:one", &host, 443, true, "no end"),
        ] {
            let error = fill(text, host, port, encrypted).unwrap_err();
            assert!(error.contains(word) && !error.contains("sk-"), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_put_into_a_query_is_encoded() {
        assert_eq!(percent_encoded("a+b/ä&~"), "a%2Bb%2F%C3%A4%26~");
    }
}
