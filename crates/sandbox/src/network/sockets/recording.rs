//! What a run and somebody outside said to each other, kept so that it can be said again with nobody there. A recording is
//! text that can be read and written by hand:
//!
//! ```text
//! call example.org:80
//! > GET / HTTP/1.1\r\n\r\n
//! < HTTP/1.1 200 OK\r\n\r\nhello
//! ```
//!
//! `>` is what the run says, `<` what it hears; both with the escapes of Rust's byte strings.

use crate::network::destination::{self, DestinationError, Host};
use crate::network::relay::Direction;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a recording may hold, as it is written.
const MOST_BYTES: usize = 64 << 20;
/// What a line has besides its bytes.
const LINE_BYTES: usize = 3;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    pub direction: Direction,
    pub bytes: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Conversation {
    host: Host,
    port: u16,
    turns: Vec<Turn>,
}

/// Conversations, in the order in which they began.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Recording(Vec<Conversation>);

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadRecording {
    #[error("line {line} of the recording is none: it begins with `call HOST:PORT`, `> ` or `< `")]
    Line { line: usize },
    #[error("line {line} of the recording stands before any call")]
    NoCall { line: usize },
    #[error("line {line} of the recording: {source}")]
    Destination { line: usize, source: DestinationError },
    #[error("line {line} of the recording has an escape that is none; \\r, \\n, \\t, \\\\, \\\", \\' and \\xHH are")]
    Escape { line: usize },
    #[error("the recording is larger than 64 MiB")]
    TooLarge,
}

impl FromStr for Recording {
    type Err = BadRecording;

    fn from_str(text: &str) -> Result<Recording, BadRecording> {
        if text.len() > MOST_BYTES {
            return Err(BadRecording::TooLarge);
        }
        let mut recording = Recording::default();
        for (line, content) in text.lines().enumerate().map(|(index, content)| (index + 1, content)) {
            let (word, rest) = content.split_once(' ').unwrap_or((content, ""));
            let direction = match word {
                "" => continue,
                "call" => {
                    let asked = destination::asked(rest);
                    let (host, port) = asked.map_err(|source| BadRecording::Destination { line, source })?;
                    recording.0.push(Conversation { host, port, turns: Vec::new() });
                    continue;
                }
                ">" => Direction::Sent,
                "<" => Direction::Received,
                _ => return Err(BadRecording::Line { line }),
            };
            let bytes = unescaped(rest).ok_or(BadRecording::Escape { line })?;
            let conversation = recording.0.last_mut().ok_or(BadRecording::NoCall { line })?;
            conversation.turns.push(Turn { direction, bytes });
        }
        Ok(recording)
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for conversation in &self.0 {
            formatter.write_str(&conversation.title())?;
            for turn in &conversation.turns {
                let sign = if turn.direction == Direction::Sent { '>' } else { '<' };
                writeln!(formatter, "{sign} {}", turn.bytes.escape_ascii())?;
            }
        }
        Ok(())
    }
}

impl Conversation {
    fn title(&self) -> String {
        format!("call {}:{}\n", self.host, self.port)
    }
}

/// The inverse of `escape_ascii`.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next()? {
                b'r' => b'\r',
                b'n' => b'\n',
                b't' => b'\t',
                b'x' => {
                    let mut digit = || char::from(rest.next()?).to_digit(16);
                    (digit()? << 4 | digit()?) as u8
                }
                other @ (b'\\' | b'"' | b'\'') => other,
                _ => return None,
            },
            other => other,
        });
    }
    Some(bytes)
}

/// Says again what was recorded; each conversation once, in their order.
pub struct Player {
    recording: Arc<Recording>,
    used: Mutex<Vec<bool>>,
}

impl Player {
    pub fn new(recording: Arc<Recording>) -> Player {
        let used = Mutex::new(vec![false; recording.0.len()]);
        Player { recording, used }
    }

    /// The next conversation with somebody, if there is one left.
    pub fn next(&self, host: &Host, port: u16) -> Option<Vec<Turn>> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |(index, conversation): &(usize, &Conversation)| {
            !used[*index] && conversation.host == *host && conversation.port == port
        };
        let (index, conversation) = self.recording.0.iter().enumerate().find(fits)?;
        used[index] = true;
        Some(conversation.turns.clone())
    }
}

/// Plays the other side. Ends when all was said, or when the run says something else than was recorded.
pub fn play(turns: &[Turn], mut stream: &TcpStream) -> io::Result<()> {
    for turn in turns {
        match turn.direction {
            Direction::Received => stream.write_all(&turn.bytes)?,
            Direction::Sent => {
                let mut heard = vec![0; turn.bytes.len()];
                stream.read_exact(&mut heard)?;
                if heard != turn.bytes {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "it said something else than was recorded"));
                }
            }
        }
    }
    stream.shutdown(std::net::Shutdown::Write)
}

/// Keeps what is said while it is said, as much as a recording may hold.
#[derive(Default, Debug)]
pub struct Recorder(Mutex<Kept>);

#[derive(Default, Debug)]
struct Kept {
    recording: Recording,
    bytes: usize,
}

impl Recorder {
    pub fn recording(&self) -> Recording {
        self.kept().recording.clone()
    }

    /// Takes over what was kept elsewhere.
    pub fn put(&self, recording: Recording) {
        self.kept().recording = recording;
    }

    /// Begins a conversation, and says which it is. One that does not fit any more is not kept.
    pub fn begin(&self, host: &Host, port: u16) -> usize {
        let conversation = Conversation { host: host.clone(), port, turns: Vec::new() };
        let mut kept = self.kept();
        kept.bytes += conversation.title().len();
        if kept.bytes > MOST_BYTES - LINE_BYTES {
            return usize::MAX;
        }
        kept.recording.0.push(conversation);
        kept.recording.0.len() - 1
    }

    pub fn keep(&self, conversation: usize, direction: Direction, bytes: &[u8]) {
        let mut kept = self.kept();
        // What is written must be read again, so what counts is how long it is there.
        let mut written = kept.bytes;
        let fits = |byte: &&u8| {
            written += std::ascii::escape_default(**byte).len();
            written <= MOST_BYTES - LINE_BYTES
        };
        let bytes = &bytes[..bytes.iter().take_while(fits).count()];
        kept.bytes = written;
        let Some(conversation) = kept.recording.0.get_mut(conversation).filter(|_| !bytes.is_empty()) else { return };
        match conversation.turns.last_mut() {
            Some(last) if last.direction == direction => last.bytes.extend_from_slice(bytes),
            _ => {
                conversation.turns.push(Turn { direction, bytes: bytes.to_vec() });
                kept.bytes += LINE_BYTES;
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_read_as_it_was_written() {
        let recorder = Recorder::default();
        let first = recorder.begin(&"a.example".parse().unwrap(), 80);
        let second = recorder.begin(&"[2606::1]".parse().unwrap(), 443);
        let all: Vec<u8> = (0..=255).collect();
        recorder.keep(first, Direction::Sent, b"GET / HTTP/1.1\r\n");
        recorder.keep(second, Direction::Received, &all);
        recorder.keep(first, Direction::Sent, b"\r\n");
        recorder.keep(first, Direction::Received, b" spaces stay ");
        let recording = recorder.recording();
        let text = recording.to_string();
        assert!(
            text.starts_with(
                "call a.example:80\n> GET / HTTP/1.1\\r\\n\\r\\n\n<  spaces stay \ncall [2606::1]:443\n< "
            ),
            "{text}"
        );
        assert_eq!(text.parse(), Ok(recording));
    }

    #[test]
    fn what_was_kept_is_never_too_long_to_be_read_again() {
        let recorder = Recorder::default();
        let conversation = recorder.begin(&"a.example".parse().unwrap(), 80);
        let unreadable = vec![0; 1 << 20];
        for _ in 0..17 {
            recorder.keep(conversation, Direction::Sent, &unreadable);
            recorder.keep(conversation, Direction::Received, b"and");
        }
        let text = recorder.recording().to_string();
        assert!(text.len() <= MOST_BYTES && text.len() > MOST_BYTES / 2, "{}", text.len());
        assert_eq!(text.parse(), Ok(recorder.recording()));
    }

    #[test]
    fn calls_alone_do_not_make_a_recording_too_long() {
        let recorder = Recorder::default();
        let host: Host = format!("{}.example", "a".repeat(60)).parse().unwrap();
        let title = format!("call {host}:80\n").len();
        for _ in 0..MOST_BYTES / title + 10 {
            let conversation = recorder.begin(&host, 80);
            recorder.keep(conversation, Direction::Sent, b"");
        }
        let late = recorder.begin(&host, 80);
        recorder.keep(late, Direction::Sent, b"late");
        let text = recorder.recording().to_string();
        assert!(text.len() <= MOST_BYTES && text.parse::<Recording>().is_ok(), "{}", text.len());
    }

    #[test]
    fn what_is_no_recording_is_told_by_its_line() {
        let read = |text: &str| text.parse::<Recording>().unwrap_err();
        assert_eq!(read("> early"), BadRecording::NoCall { line: 1 });
        assert_eq!(read("call a.example:80\n\nhello"), BadRecording::Line { line: 3 });
        assert_eq!(read("call a.example:80\n> \\y"), BadRecording::Escape { line: 2 });
        assert!(matches!(read("call a.example"), BadRecording::Destination { line: 1, .. }));
    }

    #[test]
    fn each_conversation_is_had_once() {
        let recording: Recording = "call a.example:80\n< 1\ncall a.example:80\n< 2\n".parse().unwrap();
        let player = Player::new(Arc::new(recording));
        let host = "a.example".parse().unwrap();
        let said = || player.next(&host, 80).map(|turns| turns[0].bytes.clone());
        assert_eq!((said(), said(), said()), (Some(b"1".to_vec()), Some(b"2".to_vec()), None));
    }
}
