//! The conversation with one agent: from its bytes to the bytes that it is sent.

use super::bounds::AgentBounds;
use super::lines::{Line, Lines};
use super::reply::{Fault, code, reply};
use super::request::{self, Asked, Id, Question};
use serde_json::{Value, json};

/// Does what an agent asks for. `log` and `done` never come here.
pub trait Dreaming {
    fn answer(&mut self, question: Question) -> Result<Value, Fault>;

    /// The agent has written a line into its log.
    fn logged(&mut self, _text: &str) {}
}

/// How often it did what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct AgentCounts {
    /// Lines that were looked at.
    pub requests: u64,
    /// Those of them that were answered with a fault, or would have been.
    pub faults: u64,
    pub evaluations: u64,
}

pub struct AgentSession {
    bounds: AgentBounds,
    lines: Lines,
    counts: AgentCounts,
    log: Vec<String>,
    log_bytes: usize,
    summary: Option<String>,
}

impl AgentSession {
    pub fn new(bounds: AgentBounds) -> AgentSession {
        let lines = Lines::new(bounds.line_bytes);
        AgentSession { bounds, lines, counts: AgentCounts::default(), log: Vec::new(), log_bytes: 0, summary: None }
    }

    /// Takes what came, and gives each reply to `send` before the next line is looked at. Nothing is looked at after
    /// [`AgentSession::is_over`].
    pub fn take(&mut self, mut bytes: &[u8], dreaming: &mut dyn Dreaming, send: &mut dyn FnMut(&[u8])) {
        while !self.is_over() {
            let Some(line) = self.lines.next(&mut bytes) else { return };
            if let Some(reply) = self.heed(line, dreaming) {
                send(&reply);
            }
        }
    }

    fn heed(&mut self, line: Line, dreaming: &mut dyn Dreaming) -> Option<Vec<u8>> {
        self.counts.requests += 1;
        let asked = match line {
            // Many libraries end what they write with an empty line.
            Line::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => return None,
            Line::Whole(line) => request::read(&line),
            Line::TooLong => {
                let most = self.bounds.line_bytes;
                Err(Fault::new(code::NO_REQUEST, format!("a line has more than {most} bytes, and was left out")))
            }
        };
        let (id, answer) = match asked {
            Err(fault) => (Some(Id::unknown()), Err(fault)),
            Ok(Asked { id, question }) => {
                let answer = question.and_then(|question| self.answer(question, dreaming));
                (id, answer)
            }
        };
        self.counts.faults += u64::from(answer.is_err());
        Some(reply(&id?, &answer))
    }

    fn answer(&mut self, question: Question, dreaming: &mut dyn Dreaming) -> Result<Value, Fault> {
        match question {
            Question::Log { text } => {
                self.keep(&text)?;
                dreaming.logged(&text);
                Ok(json!(true))
            }
            Question::Done { summary } => {
                let most = self.bounds.summary_bytes;
                if summary.len() > most {
                    return Err(Fault::new(code::WRONG_PARAMETERS, format!("a summary has at most {most} bytes")));
                }
                self.summary = Some(summary);
                Ok(json!(true))
            }
            question => {
                self.counts.evaluations += 1;
                dreaming.answer(question)
            }
        }
    }

    fn keep(&mut self, text: &str) -> Result<(), Fault> {
        let most = self.bounds.log_bytes;
        let bytes = self.log_bytes + text.len() + 1;
        if bytes > most {
            return Err(Fault::new(code::USED_UP, format!("the log has no more room than {most} bytes")));
        }
        self.log_bytes = bytes;
        self.log.push(text.into());
        Ok(())
    }

    /// It said that it is done, or has asked as often as it may.
    pub fn is_over(&self) -> bool {
        self.summary.is_some() || self.counts.requests >= self.bounds.requests
    }

    /// What it said when it was done.
    pub fn summary(&self) -> Option<&str> {
        self.summary.as_deref()
    }

    pub fn log(&self) -> &[String] {
        &self.log
    }

    pub fn counts(&self) -> AgentCounts {
        self.counts
    }

    /// Of a request that has begun.
    pub fn held_bytes(&self) -> usize {
        self.lines.held_bytes()
    }
}
