//! One request on its way, and what comes back.

use super::wanted::Wanted;
use super::{BODY_BYTES_MAX, CONNECTING, HEADER_BYTES_MAX, TIME};
use crate::error::Refusal;
use crate::places::Place;
use crate::stop::Stop;
use crate::value::Value;
use sandbox::network::outside::{self, Outside};
use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;
use ureq::Agent;
use ureq::config::Config;
use ureq::http::{Method, Response, Uri};
use ureq::tls::TlsConfig;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

/// How many addresses a connection is tried to; ureq holds no more.
const ADDRESSES_MAX: usize = 16;
/// The name is resolved by the C library, which gives up by itself, in more time than anybody waits.
const ALL_TIME: Duration = Duration::from_secs(TIME.as_secs() + 10);

enum Event {
    Answered(Result<Vec<Value>, Refusal>),
    Stopped,
}

/// On a thread of its own: neither resolving nor connecting can be interrupted, so whoever waits leaves them behind.
pub fn exchange(
    outside: &Arc<Outside>,
    trusted: &TlsConfig,
    wanted: Wanted,
    place: Place,
    stop: &Stop,
) -> Result<Vec<Value>, Refusal> {
    let (sender, events) = mpsc::channel();
    let outside = Arc::clone(outside);
    let pinned = Pinned::default();
    let agent = agent(trusted.clone(), pinned.clone());
    let (theirs, ours, stopping) = (agent.clone(), sender.clone(), agent.clone());
    let _watch = stop.watch(move || stopped(stopping, &ours));
    let work = move || {
        let answered = resolved(&outside, &wanted).and_then(|addresses| {
            pinned.set(addresses);
            request(&theirs, wanted)
        });
        // Nobody may be there any more.
        let _ = sender.send(Event::Answered(answered));
        drop(place);
    };
    std::thread::Builder::new()
        .name("http".into())
        .spawn(work)
        .map_err(|error| Refusal::failed(format!("no thread can be started for a request: {error}")))?;
    match events.recv_timeout(ALL_TIME) {
        Ok(Event::Answered(answered)) => answered,
        Ok(Event::Stopped) => Err(Refusal::failed("the request was stopped")),
        Err(RecvTimeoutError::Timeout) => {
            agent.shutdown();
            Err(Refusal::failed(format!("there was no answer in {} seconds", ALL_TIME.as_secs())))
        }
        Err(RecvTimeoutError::Disconnected) => Err(Refusal::failed("the request was lost")),
    }
}

fn stopped(agent: Agent, events: &Sender<Event>) {
    let _ = events.send(Event::Stopped);
    agent.shutdown();
}

fn resolved(outside: &Outside, wanted: &Wanted) -> Result<Vec<SocketAddr>, Refusal> {
    let (host, port) = (&wanted.host, wanted.port);
    let addresses = outside.addresses(host, port).map_err(|refusal| match refusal {
        outside::Refusal::NotAllowed { .. } => super::not_allowed(host, port),
        outside::Refusal::Special { address, what, .. } => Refusal::blocked(format!(
            "{host} is at {address}, which is {what}; `private = [\"{host}:{port}\"]` in [http] of broker.toml, \
             and the same in `hosts`, allow that"
        )),
        other => Refusal::failed(other.to_string()),
    })?;
    Ok(addresses.into_iter().take(ADDRESSES_MAX).map(|address| SocketAddr::new(address, port)).collect())
}

/// Knows nothing of proxies, follows nothing, keeps nothing.
fn agent(trusted: TlsConfig, pinned: Pinned) -> Agent {
    let config = Config::builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .tls_config(trusted)
        .timeout_global(Some(TIME))
        .timeout_connect(Some(CONNECTING))
        .max_response_header_size(HEADER_BYTES_MAX)
        .max_idle_connections(0)
        .accept_encoding("identity")
        .user_agent(concat!("telos/", env!("CARGO_PKG_VERSION")))
        .build();
    Agent::with_parts(config, DefaultConnector::default(), pinned)
}

/// The addresses that were checked, whatever the name says by now.
#[derive(Clone, Default, Debug)]
struct Pinned(Arc<std::sync::OnceLock<Vec<SocketAddr>>>);

impl Pinned {
    fn set(&self, addresses: Vec<SocketAddr>) {
        self.0.get_or_init(|| addresses);
    }
}

impl Resolver for Pinned {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut addresses = self.empty();
        for address in self.0.get().into_iter().flatten() {
            addresses.push(*address);
        }
        if addresses.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(addresses) }
    }
}

fn request(agent: &Agent, wanted: Wanted) -> Result<Vec<Value>, Refusal> {
    let to = format!("{}:{}", wanted.host, wanted.port);
    let failed = |error: ureq::Error| Refusal::failed(format!("the request to {to} failed: {error}"));
    let has_secret = wanted.has_secret;
    let method = wanted.request.method();
    // Where a body is expected, an empty one is told by its length.
    let sends_body = matches!(*method, Method::POST | Method::PUT | Method::PATCH) || !wanted.request.body().is_empty();
    let response = match sends_body {
        true => agent.run(wanted.request),
        false => agent.run(wanted.request.map(|_| ())),
    };
    answer(response.map_err(failed)?, &to, has_secret)
}

fn answer(mut response: Response<ureq::Body>, to: &str, has_secret: bool) -> Result<Vec<Value>, Refusal> {
    if has_secret && response.headers().contains_key("content-encoding") {
        return Err(Refusal::failed(format!("{to} packed its answer, so that a secret in it could not be found")));
    }
    let mut headers = String::new();
    for (name, value) in response.headers() {
        headers.push_str(&format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())));
    }
    let status = f64::from(response.status().as_u16());
    let mut body = Vec::new();
    let reader = response.body_mut().as_reader();
    reader
        .take(BODY_BYTES_MAX as u64 + 1)
        .read_to_end(&mut body)
        .map_err(|error| Refusal::failed(format!("the answer of {to} broke off: {error}")))?;
    if body.len() > BODY_BYTES_MAX {
        let limit_mib = BODY_BYTES_MAX >> 20;
        return Err(Refusal::failed(format!("the answer of {to} has more than {limit_mib} MiB; ask for less")));
    }
    Ok(vec![Value::Number(status), Value::Text(headers.trim_end().into()), Value::Bytes(body)])
}
