//! Requests over http and https, to the hosts of the house. The host is resolved once, all its addresses are checked, and
//! the connection is made to one of those. No redirect is followed and no proxy is asked: whoever called sees what came.
//!
//! - `wanted`: the request as it was asked for, read strictly, with secrets put in
//! - `exchange`: one request on its way, on a thread of its own, so that a stop need not wait for the network

mod exchange;
mod wanted;

use crate::call::Call;
use crate::error::Refusal;
use crate::house::House;
use crate::places::Places;
use crate::stop::Stop;
use crate::value::Value;
use sandbox::network::outside::Outside;
use sandbox::network::{Destination, Host};
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{RootCerts, TlsConfig};
use wanted::Wanted;

/// From the first byte of the request to the last of the answer.
const TIME: Duration = Duration::from_secs(30);
const CONNECTING: Duration = Duration::from_secs(10);
/// At once, those included that nobody waits for any more.
const REQUESTS_MAX: usize = 64;
const BODY_BYTES_MAX: usize = 8 << 20;
const HEADER_BYTES_MAX: usize = 64 << 10;

pub struct Http {
    outside: Arc<Outside>,
    trusted: TlsConfig,
    places: Places,
}

impl Http {
    pub fn new(house: &House) -> Http {
        let outside = Outside::new(house.hosts.clone(), CONNECTING).with_private(house.private.clone());
        let authorities = house.authorities.as_ref().map(|own| RootCerts::new_with_certs(own));
        let trusted = TlsConfig::builder().root_certs(authorities.unwrap_or(RootCerts::WebPki)).build();
        Http { outside: Arc::new(outside), trusted, places: Places::new(REQUESTS_MAX, "requests") }
    }

    /// `narrowed` are the hosts that a dream's own policy leaves, if it names some.
    pub fn request(
        &self,
        house: &House,
        narrowed: Option<&[Destination]>,
        call: &Call,
        stop: &Stop,
    ) -> Result<Vec<Value>, Refusal> {
        let wanted = self.check(house, narrowed, call)?;
        exchange::exchange(&self.outside, &self.trusted, wanted, self.places.take()?, stop)
    }

    /// A request that may be made, as far as that is known without asking anybody.
    pub fn check(&self, house: &House, narrowed: Option<&[Destination]>, call: &Call) -> Result<Wanted, Refusal> {
        let wanted = Wanted::read(&house.secrets, call)?;
        let (host, port) = (&wanted.host, wanted.port);
        if narrowed.is_some_and(|hosts| !hosts.iter().any(|each| each.grants(host, port))) {
            return Err(Refusal::blocked(format!(
                "{host}:{port} is not among the `hosts` of [http] in this dream's policy; add it there"
            )));
        }
        if !house.hosts.iter().any(|each| each.grants(host, port)) {
            return Err(not_allowed(host, port));
        }
        Ok(wanted)
    }
}

fn not_allowed(host: &Host, port: u16) -> Refusal {
    Refusal::blocked(format!(
        "the house allows no requests to {host}:{port}; `hosts` of [http] in broker.toml names whom it does"
    ))
}

/// Whom a request is for.
pub fn goal_of(call: &Call) -> Result<(Host, u16), Refusal> {
    wanted::goal_of(call)
}
