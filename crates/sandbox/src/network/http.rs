//! HTTP/1 as a proxy hears it: CONNECT, and requests whose URI is absolute. One request for each connection; whoever
//! wants another connects again.

use super::body::Passing;
use super::conversation::Conversation;
use super::destination::{self, Host};
use super::outside::Refusal;
use std::io;

const HEADERS: usize = 128;
const HEAD_END: &[u8] = b"\r\n\r\n";
const HTTP_PORT: u16 = 80;

pub const CONNECTED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";
/// For those that have no place.
pub const BUSY: &[u8] = b"HTTP/1.1 503 Too Many Connections\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Headers that are about the connection to the proxy, and say nothing to the other side.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "proxy-connection",
    "proxy-authorization",
    "proxy-authenticate",
    "keep-alive",
    "te",
    "upgrade",
    "http2-settings",
    "host",
];

/// What a client wants.
#[derive(Debug, PartialEq, Eq)]
pub struct Wish {
    pub host: Host,
    pub port: u16,
    pub kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    Tunnel,
    /// With the head as the other side is to hear it, and how much of what follows belongs to it.
    Request {
        head: Vec<u8>,
        passing: Passing,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum Unclear {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("this is no HTTP request: {0}")]
    Syntax(#[from] httparse::Error),
    #[error("{0}")]
    Destination(#[from] destination::DestinationError),
    #[error("{0}")]
    Request(&'static str),
}

/// Reads a request up to its body.
pub fn hear(conversation: &mut Conversation<'_>) -> Result<Wish, Unclear> {
    let mut looked_at = 0;
    let head_end = loop {
        let from = looked_at;
        looked_at = conversation.heard.len().saturating_sub(HEAD_END.len() - 1);
        let found = conversation.heard[from..].windows(HEAD_END.len()).position(|window| window == HEAD_END);
        if let Some(position) = found {
            break from + position + HEAD_END.len();
        }
        conversation.hear()?;
    };
    let head = conversation.take(head_end)?;
    read(&head)
}

fn read(head: &[u8]) -> Result<Wish, Unclear> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let length = match request.parse(head)? {
        httparse::Status::Complete(length) => length,
        httparse::Status::Partial => return Err(Unclear::Request("the request ends in the middle of its head")),
    };
    if length != head.len() {
        return Err(Unclear::Request("the request's lines do not all end alike"));
    }
    let method = request.method.unwrap_or_default();
    let target = request.path.unwrap_or_default();
    if method == "CONNECT" {
        let (host, port) = destination::asked(target)?;
        return Ok(Wish { host, port, kind: Kind::Tunnel });
    }
    forwarded(method, target, request.version.unwrap_or_default(), request.headers)
}

fn forwarded(method: &str, uri: &str, version: u8, headers: &[httparse::Header<'_>]) -> Result<Wish, Unclear> {
    let rest = uri.split_at_checked("http://".len()).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("http://"));
    let Some((_, rest)) = rest else {
        return Err(Unclear::Request("this is a proxy: ask it with CONNECT HOST:PORT, or for http://HOST/… in full"));
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (host, port) = authority_of(authority)?;
    check_host_header(headers, &host, port)?;
    let passing = body(version, headers)?;
    let head = head(method, path, version, &host, port, headers)?;
    Ok(Wish { host, port, kind: Kind::Request { head, passing } })
}

fn authority_of(authority: &str) -> Result<(Host, u16), Unclear> {
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'));
    match has_port {
        true => Ok(destination::asked(authority)?),
        false => Ok((authority.parse()?, HTTP_PORT)),
    }
}

/// The other side goes by the header, we by the URI: they must name the same.
fn check_host_header(headers: &[httparse::Header<'_>], host: &Host, port: u16) -> Result<(), Unclear> {
    let mut named = values(headers, "host");
    let Some(first) = named.next() else { return Ok(()) };
    let first = text(first)?;
    if named.next().is_some() || authority_of(first)? != (host.clone(), port) {
        return Err(Unclear::Request("the Host header names another host than the URI"));
    }
    Ok(())
}

fn body(version: u8, headers: &[httparse::Header<'_>]) -> Result<Passing, Unclear> {
    let mut encodings = values(headers, "transfer-encoding");
    let mut lengths = values(headers, "content-length");
    let (encoding, length) = (encodings.next(), lengths.next());
    if encodings.next().is_some() || lengths.next().is_some() || (encoding.is_some() && length.is_some()) {
        return Err(Unclear::Request("the request says twice how long it is"));
    }
    if let Some(encoding) = encoding {
        let is_chunked = encoding.eq_ignore_ascii_case(b"chunked") && version == 1;
        return is_chunked
            .then(Passing::chunks)
            .ok_or(Unclear::Request("the only transfer encoding known here is chunked"));
    }
    let Some(length) = length else { return Ok(Passing::Length(0)) };
    let is_number = length.iter().all(u8::is_ascii_digit);
    let number = text(length)?.parse().ok().filter(|_| is_number);
    number.map(Passing::Length).ok_or(Unclear::Request("the request's length is no number"))
}

/// The head as the other side is to hear it: for itself, and to end after one answer.
fn head(
    method: &str,
    path: &str,
    version: u8,
    host: &Host,
    port: u16,
    headers: &[httparse::Header<'_>],
) -> Result<Vec<u8>, Unclear> {
    if path.contains('#') {
        return Err(Unclear::Request("the URI has a fragment, which is for the client alone"));
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    let named_port = if port == HTTP_PORT { String::new() } else { format!(":{port}") };
    let mut head = format!("{method} {slash}{path} HTTP/1.{version}\r\nHost: {host}{named_port}\r\n").into_bytes();
    let dropped: Vec<String> = connection_options(headers);
    for header in headers {
        let name = header.name.to_ascii_lowercase();
        if !HOP_BY_HOP.contains(&name.as_str()) && !dropped.contains(&name) {
            head.extend_from_slice(header.name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(header.value);
            head.extend_from_slice(b"\r\n");
        }
    }
    head.extend_from_slice(b"Connection: close\r\n\r\n");
    Ok(head)
}

/// The headers that a client says are for the proxy; never those that say how long the request is.
fn connection_options(headers: &[httparse::Header<'_>]) -> Vec<String> {
    let options = values(headers, "connection").flat_map(|value| value.split(|byte| *byte == b','));
    let names = options.map(|option| String::from_utf8_lossy(option).trim().to_ascii_lowercase());
    names.filter(|name| name != "content-length" && name != "transfer-encoding").collect()
}

fn values<'a>(headers: &'a [httparse::Header<'_>], name: &'static str) -> impl Iterator<Item = &'a [u8]> {
    headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
}

fn text(bytes: &[u8]) -> Result<&str, Unclear> {
    std::str::from_utf8(bytes).map_err(|_| Unclear::Request("a header that must be text is none"))
}

/// What one hears whose request was not understood.
pub fn unclear(unclear: &Unclear) -> Vec<u8> {
    let status = match unclear {
        Unclear::Io(error) if error.kind() == io::ErrorKind::TimedOut => "408 Request Timeout",
        Unclear::Io(error) if error.kind() == io::ErrorKind::InvalidData => "431 Request Header Fields Too Large",
        _ => "400 Bad Request",
    };
    answer(status, &unclear.to_string())
}

/// What one hears who may not, or cannot, reach somebody.
pub fn refusal(refusal: &Refusal) -> Vec<u8> {
    let status = match refusal {
        Refusal::Unreachable { source, .. } if source.kind() == io::ErrorKind::TimedOut => "504 Gateway Timeout",
        refusal if refusal.is_ours() => "403 Forbidden",
        _ => "502 Bad Gateway",
    };
    answer(status, &refusal.to_string())
}

fn answer(status: &str, why: &str) -> Vec<u8> {
    let length = why.len() + 1;
    let head = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n";
    format!("HTTP/1.1 {status}\r\n{head}Content-Length: {length}\r\n\r\n{why}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(head: &str) -> Wish {
        read(head.as_bytes()).unwrap_or_else(|error| panic!("{head:?}: {error}"))
    }

    fn forwarded_head(head: &str) -> String {
        match wish(head).kind {
            Kind::Request { head, .. } => String::from_utf8(head).unwrap(),
            Kind::Tunnel => panic!("a tunnel"),
        }
    }

    #[test]
    fn a_request_is_told_to_the_other_side_as_its_own() {
        let head = forwarded_head(
            "GET http://A.example:8080/x?y HTTP/1.1\r\nhost: a.example:8080\r\nProxy-Authorization: secret\r\n\
             Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\nAccept: */*\r\n\r\n",
        );
        let expected = "GET /x?y HTTP/1.1\r\nHost: a.example:8080\r\nAccept: */*\r\nConnection: close\r\n\r\n";
        assert_eq!(head, expected);
    }

    #[test]
    fn a_uri_without_path_or_port_means_the_root_at_port_80() {
        let asked = wish("GET http://a.example?q HTTP/1.0\r\n\r\n");
        assert_eq!((asked.host.to_string(), asked.port), ("a.example".into(), 80));
        assert!(forwarded_head("GET http://a.example?q HTTP/1.0\r\n\r\n").starts_with("GET /?q HTTP/1.0\r\n"));
    }

    #[test]
    fn requests_that_two_could_read_differently_are_refused() {
        for bad in [
            "GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n",
            "GET http://a.example/ HTTP/1.1\r\nHost: a.example:81\r\n\r\n",
            "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\n\r\n",
            "GET http://u@a.example/ HTTP/1.1\r\n\r\n",
            "GET http:///x HTTP/1.1\r\n\r\n",
            "GET http://a.example/#x HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "GET https://a.example/ HTTP/1.1\r\n\r\n",
            "GET ftp://a.example/ HTTP/1.1\r\n\r\n",
            "POST http://a.example/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "POST http://a.example/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "POST http://a.example/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST http://a.example/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
            "GET http://a.example/ HTTP/1.1\nHost: a.example\n\nX: y\r\n\r\n",
            "CONNECT a.example HTTP/1.1\r\n\r\n",
            "CONNECT http://a.example:443 HTTP/1.1\r\n\r\n",
            "CONNECT 0x7f000001:443 HTTP/1.1\r\n\r\n",
            "\r\n\r\n",
            "GET http://a.example/ HTTP/1.1\r\nX : y\r\n\r\n",
        ] {
            assert!(read(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_client_cannot_have_the_length_of_its_request_dropped() {
        let head = forwarded_head(
            "POST http://a.example/ HTTP/1.1\r\nConnection: content-length\r\nContent-Length: 3\r\n\r\n",
        );
        assert!(head.contains("Content-Length: 3\r\n"), "{head}");
    }
}
