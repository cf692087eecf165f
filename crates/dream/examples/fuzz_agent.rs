//! Fuzzes the conversation with agents: requests that are right, requests that an accident changed, and what a forger would write.
//! Nothing may panic, the pieces do not matter, every reply is one line of JSON-RPC that answers something, and what is kept is
//! bounded.

use dream::agent::{AgentBounds, AgentSession, Dreaming, Fault, METHODS, Question, code};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::process::ExitCode;
use testkit::Random;

/// Small, so that cases reach them.
const BOUNDS: AgentBounds = AgentBounds { line_bytes: 400, requests: 30, log_bytes: 60, summary_bytes: 20 };

fn main() -> ExitCode {
    testkit::fuzz::run(|seed| conversation(&mut Random::new(seed)), |text| check(&to_bytes(text)))
}

/// Inputs are text, so that they can be shrunk; what stands for a byte that is none of a text is in the range of private use.
fn to_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for letter in text.chars() {
        match letter as u32 {
            private @ 0xE000..=0xE0FF => bytes.push((private - 0xE000) as u8),
            _ => bytes.extend(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

fn conversation(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..random.below(40) {
        let mut line = line(random);
        for _ in 0..[0, 0, 1, 4][random.below(4)] {
            worsen(random, &mut line);
        }
        text.push_str(&line);
        if random.below(20) > 0 {
            text.push('\n');
        }
    }
    text
}

fn pick<'a>(random: &mut Random, all: &[&'a str]) -> &'a str {
    all[random.below(all.len())]
}

fn line(random: &mut Random) -> String {
    match random.below(12) {
        0 => return pick(random, &["", " \r", "null", "[]", "{}", "\"\"", "-", "{\"jsonrpc\":\"2.0\""]).into(),
        1 => return pick(random, &["[", "{\"a\":", "{\"params\":["]).repeat(random.below(200)),
        2 => return "x".repeat(random.below(1000)),
        _ => {}
    }
    let id = pick(random, &["1", "null", "\"a\"", "1e999", "\"\\ud800\"", "{}", "-0.0", "true", "[1]"]);
    let version = pick(random, &["\"2.0\"", "\"2.0\"", "\"2.0\"", "\"1.0\"", "2.0", "null"]);
    let method = if random.below(8) == 0 { "nonsense" } else { pick(random, &METHODS) };
    let names = ["source", "path", "text", "summary", "fuel", "timeout_ms", "other"];
    let values =
        ["\"1 + 2\"", "\"Account tax\"", "5", "-1", "null", "1e30", "[[]]", "\"\\n\\\"\"", "\"\\ud83d\\ude00\""];
    let named: Vec<String> =
        (0..random.below(4)).map(|_| format!("\"{}\":{}", pick(random, &names), pick(random, &values))).collect();
    let params = match random.below(6) {
        0 => "[1]".to_string(),
        1 => "null".to_string(),
        _ => format!("{{{}}}", named.join(",")),
    };
    let mut fields = vec![format!("\"jsonrpc\":{version}"), format!("\"method\":\"{method}\"")];
    if random.below(8) > 0 {
        fields.push(format!("\"id\":{id}"));
    }
    if random.below(4) > 0 {
        fields.push(format!("\"params\":{params}"));
    }
    let object = format!("{{{}}}", fields.join(","));
    if random.below(15) == 0 { format!("[{object},{object}]") } else { object }
}

fn worsen(random: &mut Random, line: &mut String) {
    let mut letters: Vec<char> = line.chars().collect();
    let place = random.below(letters.len() + 1);
    match random.below(3) {
        0 if place < letters.len() => drop(letters.remove(place)),
        1 if place < letters.len() => letters[place] = ['{', '}', '"', '\\', ',', ':', '[', ']'][random.below(8)],
        _ => letters.insert(place, char::from_u32(0xE000 + random.below(256) as u32).unwrap_or(' ')),
    }
    *line = letters.into_iter().collect();
}

/// Answers everything, some of it with a fault.
#[derive(Default)]
struct Echo {
    asked: u64,
}

impl Dreaming for Echo {
    fn answer(&mut self, question: Question) -> Result<Value, Fault> {
        self.asked += 1;
        match question {
            Question::Log { .. } | Question::Done { .. } => panic!("the conversation answers these itself"),
            Question::Tests => Err(Fault::new(code::FAILED, "none")),
            question => Ok(json!(format!("{question:?}"))),
        }
    }
}

/// What came of a conversation.
#[derive(PartialEq, Debug)]
struct Came {
    replies: Vec<u8>,
    requests: u64,
    faults: u64,
    log: Vec<String>,
    summary: Option<String>,
}

fn held(bytes: &[u8], piece: usize) -> Result<Came, String> {
    let (mut session, mut echo, mut replies) = (AgentSession::new(BOUNDS), Echo::default(), Vec::new());
    for piece in bytes.chunks(piece) {
        session.take(piece, &mut echo, &mut |reply| replies.extend_from_slice(reply));
        if session.held_bytes() > BOUNDS.line_bytes {
            return Err(format!("{} bytes are held", session.held_bytes()));
        }
    }
    let counts = session.counts();
    if counts.requests > BOUNDS.requests || echo.asked != counts.evaluations || counts.faults > counts.requests {
        return Err(format!("counted wrongly: {counts:?}"));
    }
    if session.log().iter().map(|line| line.len() + 1).sum::<usize>() > BOUNDS.log_bytes {
        return Err("the log is too long".into());
    }
    let summary = session.summary().map(String::from);
    Ok(Came { replies, requests: counts.requests, faults: counts.faults, log: session.log().to_vec(), summary })
}

fn check(bytes: &[u8]) -> Result<(), String> {
    let came = held(bytes, usize::MAX)?;
    for piece in [1, 13, 100] {
        let other = held(bytes, piece)?;
        if other != came {
            return Err(format!("pieces of {piece} bytes give something else: {other:?}, not {came:?}"));
        }
    }
    let replies: Vec<&[u8]> = came.replies.split_inclusive(|&byte| byte == b'\n').collect();
    if replies.len() as u64 > came.requests {
        return Err(format!("{} replies to {} requests", replies.len(), came.requests));
    }
    replies.into_iter().try_for_each(check_reply)
}

/// An id is echoed as it was written, also one that no text can hold.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply<'l> {
    jsonrpc: String,
    #[serde(borrow)]
    id: &'l RawValue,
    #[serde(borrow, default)]
    result: Option<&'l RawValue>,
    #[serde(default)]
    error: Option<Told>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    code: i32,
    message: String,
}

fn check_reply(line: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(line);
    let reply: Reply<'_> = serde_json::from_slice(line).map_err(|error| format!("no reply: {error}: {text}"))?;
    let is_scalar = reply.id.get().starts_with(|first: char| first.is_ascii_digit() || "-\"n".contains(first));
    if reply.jsonrpc != "2.0" || !is_scalar || reply.result.is_some() == reply.error.is_some() {
        return Err(format!("no reply: {text}"));
    }
    let known =
        [code::NOT_JSON, code::NO_REQUEST, code::NO_METHOD, code::WRONG_PARAMETERS, code::FAILED, code::USED_UP];
    match reply.error {
        Some(told) if !known.contains(&told.code) || told.message.is_empty() => Err(format!("no fault: {text}")),
        _ => Ok(()),
    }
}
