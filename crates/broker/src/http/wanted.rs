//! A request as it was asked for. Who asks is hostile: a host, a method or a header that two readers could take
//! differently is refused.

use super::{BODY_BYTES_MAX, HEADER_BYTES_MAX};
use crate::call::Call;
use crate::error::Refusal;
use crate::house::{PLACEHOLDER_START, Secrets, percent_encoded};
use sandbox::network::Host;
use sandbox::network::destination::asked;
use ureq::http::{HeaderName, HeaderValue, Method, Request, Uri};

const URL_BYTES_MAX: usize = 8 << 10;
const METHODS: &[(&str, Method)] = &[
    ("GET", Method::GET),
    ("HEAD", Method::HEAD),
    ("POST", Method::POST),
    ("PUT", Method::PUT),
    ("PATCH", Method::PATCH),
    ("DELETE", Method::DELETE),
    ("OPTIONS", Method::OPTIONS),
];
/// By which whoever is asked can tell that it is the same request again.
const KEY: &str = "idempotency-key";
/// What the connection is about, which is ours.
const OURS: &[&str] = &[
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    // A secret in an answer that is packed or cut could not be found.
    "accept-encoding",
];

pub struct Wanted {
    pub request: Request<Vec<u8>>,
    pub host: Host,
    pub port: u16,
    /// A secret was put in.
    pub has_secret: bool,
}

impl Wanted {
    pub fn read(secrets: &Secrets, call: &Call) -> Result<Wanted, Refusal> {
        call.at_most(4)?;
        let verb = call.text(0, "a method, such as GET")?;
        let url = call.text(1, "a url")?;
        let headers = call.text_or_nil(2, "headers, each a line `Name: value`, or nil")?.unwrap_or_default();
        let body = call.bytes_or_nil(3, "a body, or nil")?;
        let method = METHODS.iter().find(|(name, _)| *name == verb).map(|(_, method)| method.clone());
        let method = method.ok_or_else(|| {
            let names: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
            Refusal::failed(format!("the method is one of {}", names.join(", ")))
        })?;
        if body.len() > BODY_BYTES_MAX {
            let limit_mib = BODY_BYTES_MAX >> 20;
            return Err(Refusal::failed(format!("the body of a request has at most {limit_mib} MiB; send less")));
        }
        if !body.is_empty() && matches!(method, Method::GET | Method::HEAD | Method::OPTIONS) {
            return Err(Refusal::failed(format!("{method} has no body; use POST, PUT, PATCH or DELETE")));
        }
        let goal = Goal::read(url)?;
        let (uri, mut has_secret) = goal.filled(secrets)?;
        let mut request = Request::builder().method(method).uri(uri);
        // A call that was promised has a key, and that is the one that counts.
        let is_other = |(name, _): &(HeaderName, &str)| call.key.is_none() || name.as_str() != KEY;
        if let Some(key) = &call.key {
            request = request.header(KEY, key);
        }
        for (name, value) in read_headers(headers)?.into_iter().filter(is_other) {
            let (value, has_more) = goal.fill(secrets, value, str::to_string)?;
            has_secret |= has_more;
            let value = HeaderValue::from_str(&value)
                .map_err(|_| Refusal::failed(format!("the value of the header {name} has characters that none has")))?;
            request = request.header(name, value);
        }
        if has_secret && request.headers_ref().is_some_and(|headers| headers.contains_key("range")) {
            return Err(Refusal::failed(
                "a request with a secret has no Range: a part of one could not be found; leave it out",
            ));
        }
        let request = request.body(body.to_vec()).map_err(|error| Refusal::failed(format!("no request: {error}")))?;
        Ok(Wanted { request, host: goal.host, port: goal.port, has_secret })
    }
}

/// Whom a request is for.
pub fn goal_of(call: &Call) -> Result<(Host, u16), Refusal> {
    let goal = Goal::read(call.text(1, "a url")?)?;
    Ok((goal.host, goal.port))
}

/// Whom it is for.
struct Goal<'a> {
    is_encrypted: bool,
    host: Host,
    port: u16,
    /// All before the query, and the query with its question mark.
    before_query: &'a str,
    query: &'a str,
}

impl<'a> Goal<'a> {
    fn read(url: &'a str) -> Result<Goal<'a>, Refusal> {
        if url.len() > URL_BYTES_MAX {
            return Err(Refusal::failed(format!(
                "a url has at most {URL_BYTES_MAX} bytes; put the rest into the body"
            )));
        }
        let url = url.split_once('#').map_or(url, |(before, _)| before);
        let (before_query, query) = url.split_at(url.find('?').unwrap_or(url.len()));
        if before_query.contains(PLACEHOLDER_START) {
            return Err(Refusal::failed("a secret stands in the query of a url or in a header, and nowhere else"));
        }
        let wrong = |why: &str| Refusal::failed(format!("the url {why}; write http://HOST/… or https://HOST/…"));
        let uri: Uri = before_query.parse().map_err(|_| wrong("cannot be read"))?;
        let is_encrypted = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong("is neither http nor https")),
        };
        let authority = uri.authority().ok_or_else(|| wrong("names no host"))?;
        if authority.as_str().contains('@') {
            return Err(Refusal::failed("a url has no user and password in it; use a header, with {{secret:NAME}}"));
        }
        let strange = |error| Refusal::failed(format!("the url: {error}"));
        let (host, port) = match authority.as_str() == authority.host() {
            true => (authority.host().parse().map_err(strange)?, if is_encrypted { 443 } else { 80 }),
            false => asked(authority.as_str()).map_err(strange)?,
        };
        Ok(Goal { is_encrypted, host, port, before_query, query })
    }

    fn filled(&self, secrets: &Secrets) -> Result<(Uri, bool), Refusal> {
        let (query, has_secret) = self.fill(secrets, self.query, percent_encoded)?;
        let uri = format!("{}{query}", self.before_query).parse();
        Ok((
            uri.map_err(|_| Refusal::failed("the query of the url has characters that none has: encode them"))?,
            has_secret,
        ))
    }

    fn fill(&self, secrets: &Secrets, text: &str, written: fn(&str) -> String) -> Result<(String, bool), Refusal> {
        secrets.fill(text, (&self.host, self.port), self.is_encrypted, written).map_err(Refusal::Failed)
    }
}

/// `Name: value`, each on a line.
fn read_headers(text: &str) -> Result<Vec<(HeaderName, &str)>, Refusal> {
    if text.len() > HEADER_BYTES_MAX {
        return Err(Refusal::failed(format!("the headers have at most {} KiB", HEADER_BYTES_MAX >> 10)));
    }
    let mut headers = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let wrong = || Refusal::failed("each line of the headers is `Name: value`");
        let (name, value) = line.split_once(':').ok_or_else(wrong)?;
        let name: HeaderName = name.parse().map_err(|_| wrong())?;
        if OURS.contains(&name.as_str()) {
            return Err(Refusal::failed(format!("the header {name} is set by the broker; leave it out")));
        }
        headers.push((name, value.trim()));
    }
    Ok(headers)
}
