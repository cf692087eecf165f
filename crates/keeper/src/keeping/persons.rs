//! Who has shown the token of a person. The token goes no further than here: what the image process is told is the kind of the
//! frames that a request comes in.

use super::connection::Connection;
use super::{Keeper, Notice};
use crate::error::KeeperError;
use crate::protocol::{Answer, FailureKind, Frame, Kind, Outcome, Shown};
use crate::token::{self, Token};

impl Keeper<'_> {
    /// Looks whether this is the image's token. Whoever shows another one is told so, counted and sent away: it has one attempt
    /// for each connection.
    pub fn recognize(&mut self, connection: &mut Connection, frame: &Frame<'_>) {
        let directory = &self.plan.directory;
        let checked = match Token::read(frame.body) {
            Some(token) => token::check(directory, &token),
            None => Err(KeeperError::WrongToken(directory.clone())),
        };
        let answer = match checked {
            Ok(()) => {
                connection.is_person = true;
                Answer::new(Outcome::Value(Shown { text: "true".into(), kind: "true".into() }))
            }
            Err(error) => {
                self.wrong_tokens += 1;
                connection.is_person = false;
                if is_told(self.wrong_tokens) {
                    (self.notify)(Notice::WrongToken { who: &connection.who, count: self.wrong_tokens });
                }
                Answer::failed(FailureKind::Locked, error.to_string())
            }
        };
        connection.outbox.push_json(Kind::Answer, frame.id, &answer);
        connection.is_refused |= !connection.is_person;
    }
}

/// The first, the tenth, the hundredth: who tries without end does not fill the disk of whoever reads.
fn is_told(count: u64) -> bool {
    count == 10_u64.pow(count.ilog10())
}

#[cfg(test)]
mod tests {
    #[test]
    fn attempts_are_told_ever_more_seldom() {
        let told: Vec<u64> = (1..=1000).filter(|count| super::is_told(*count)).collect();
        assert_eq!(told, [1, 10, 100, 1000]);
    }
}
