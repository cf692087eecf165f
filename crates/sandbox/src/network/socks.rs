//! SOCKS 5 as a proxy hears it: no password, CONNECT only, names and addresses.

use super::conversation::Conversation;
use super::destination::{DestinationError, Host};
use super::outside::Refusal;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

pub const VERSION: u8 = 5;
const NO_PASSWORD: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// The first byte of an answer after the version.
#[derive(Clone, Copy)]
pub enum Reply {
    Done = 0,
    Failed = 1,
    NotAllowed = 2,
    Unreachable = 4,
    Refused = 5,
    NoSuchCommand = 7,
    NoSuchAddress = 8,
}

#[derive(Debug, thiserror::Error)]
pub enum Unclear {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Destination(#[from] DestinationError),
    #[error("this is no SOCKS 5 request")]
    Version,
    #[error("only SOCKS without a password is spoken here")]
    Method,
    #[error("SOCKS command {0} is not known here; only CONNECT is")]
    Command(u8),
    #[error("SOCKS address type {0} is not known here")]
    AddressType(u8),
}

impl Unclear {
    /// What the client hears; before the request itself the answer has another form.
    pub fn answer(&self) -> Vec<u8> {
        match self {
            Unclear::Method => vec![VERSION, NO_METHOD],
            Unclear::Command(_) => reply(Reply::NoSuchCommand),
            Unclear::AddressType(_) => reply(Reply::NoSuchAddress),
            Unclear::Destination(_) => reply(Reply::NotAllowed),
            Unclear::Io(_) | Unclear::Version => reply(Reply::Failed),
        }
    }
}

/// Hears whom a client wants to reach.
pub fn hear(conversation: &mut Conversation<'_>) -> Result<(Host, u16), Unclear> {
    let greeting = conversation.take(2)?;
    let methods = conversation.take(usize::from(greeting[1]))?;
    if !methods.contains(&NO_PASSWORD) {
        return Err(Unclear::Method);
    }
    conversation.say(&[VERSION, NO_PASSWORD])?;
    let request = conversation.take(4)?;
    if request[0] != VERSION {
        return Err(Unclear::Version);
    }
    let host = address(conversation, request[3])?;
    let port = conversation.take(2)?;
    // Only now, so that nothing that was sent is left unread when it is refused.
    if request[1] != CONNECT {
        return Err(Unclear::Command(request[1]));
    }
    Ok((host?, u16::from_be_bytes([port[0], port[1]])))
}

/// What it says is read to its end even if it names no host.
fn address(conversation: &mut Conversation<'_>, kind: u8) -> Result<Result<Host, DestinationError>, Unclear> {
    Ok(match kind {
        IPV4 => {
            let bytes: [u8; 4] = exactly(conversation)?;
            Ok(Host::Address(Ipv4Addr::from(bytes).into()))
        }
        IPV6 => {
            let bytes: [u8; 16] = exactly(conversation)?;
            Ok(Host::Address(Ipv6Addr::from(bytes).into()))
        }
        NAME => {
            let length = conversation.take(1)?[0];
            let name = conversation.take(usize::from(length))?;
            String::from_utf8_lossy(&name).parse()
        }
        other => return Err(Unclear::AddressType(other)),
    })
}

fn exactly<const COUNT: usize>(conversation: &mut Conversation<'_>) -> io::Result<[u8; COUNT]> {
    let bytes = conversation.take(COUNT)?;
    bytes.try_into().map_err(|_| io::ErrorKind::UnexpectedEof.into())
}

/// An answer; the address in it, which means nothing to anybody, is empty.
pub fn reply(reply: Reply) -> Vec<u8> {
    vec![VERSION, reply as u8, 0, IPV4, 0, 0, 0, 0, 0, 0]
}

pub fn refusal(refusal: &Refusal) -> Vec<u8> {
    reply(match refusal {
        refusal if refusal.is_ours() => Reply::NotAllowed,
        Refusal::Unreachable { source, .. } if source.kind() == io::ErrorKind::ConnectionRefused => Reply::Refused,
        _ => Reply::Unreachable,
    })
}
