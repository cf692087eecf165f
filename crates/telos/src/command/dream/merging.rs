//! What comes of `telos dream run --merge`, after a script or an agent: a report, or why there was nothing to merge.

use super::interruption::Interruption;
use super::merge::{self, MergeTerms};
use crate::command::refusal::code_of;
use crate::command::{RequestOptions, print};
use crate::report;
use crate::session::exit_code;
use keeper::Client;
use keeper::protocol::MergeReport;
use serde_json::{Value, json};

/// A dream that was to be merged when it was over.
pub enum Merging {
    Unwanted,
    Decided(Box<MergeReport>),
    /// It was not even judged, and why.
    Not(String),
    /// It was to be judged, and came to no end.
    Failed(anyhow::Error),
}

/// How a dream is to be merged, if it is.
#[derive(Clone, Copy)]
pub struct Wish<'w> {
    pub is_wanted: bool,
    pub terms: &'w MergeTerms,
    pub options: &'w RequestOptions,
}

impl Wish<'_> {
    /// Judges and merges, unless there is something against even asking for that.
    pub fn fulfil(
        self,
        client: &mut Client,
        interruption: &Interruption,
        dream: Option<&str>,
        against: Option<String>,
    ) -> Merging {
        let dream = match (dream, against) {
            _ if !self.is_wanted => return Merging::Unwanted,
            (_, Some(why)) => return Merging::Not(why),
            (None, None) => return Merging::Not("there was no dream".into()),
            (Some(dream), None) => dream,
        };
        // Fuel and memory were for what the dream did; what judges it has its own.
        let options = RequestOptions { fuel: None, memory: None, ..self.options.clone() };
        match merge::merged(client, interruption, &options, self.terms.order(dream, false)) {
            Ok(report) => Merging::Decided(Box::new(report)),
            Err(error) => Merging::Failed(error),
        }
    }
}

impl Merging {
    /// Two keys of which one says something: `merge`, the report, and `not_merged`, why there is none.
    pub fn add_to(&self, told: &mut Value) {
        let (report, why) = match self {
            Merging::Unwanted => return,
            Merging::Decided(report) => (json!(report), Value::Null),
            Merging::Not(why) => (Value::Null, json!(why)),
            Merging::Failed(error) => (Value::Null, json!(report::with_causes(error))),
        };
        told["merge"] = report;
        told["not_merged"] = why;
    }

    /// What came of it; else, of a dream that is kept, how to go on.
    pub fn print(&self, dream: Option<&str>, is_kept: bool) -> anyhow::Result<()> {
        match (self, dream) {
            (Merging::Unwanted, Some(dream)) if is_kept => {
                report::say(&format!("telos: {dream} is kept; `telos dream merge {dream}` judges and merges it"));
            }
            (Merging::Unwanted, _) => {}
            (Merging::Decided(report), _) => print(&merge::text_of(report)).map(drop)?,
            (Merging::Not(why), dream) => say_not_merged(dream, why),
            (Merging::Failed(error), dream) => say_not_merged(dream, &report::with_causes(error)),
        }
        Ok(())
    }

    /// `own` is how the script or the agent ended. What was not merged never ends with a code that says that it was.
    pub fn exit_code(&self, own: u8) -> u8 {
        match self {
            Merging::Unwanted => own,
            Merging::Decided(report) => merge::exit_code_of(report),
            Merging::Not(_) if matches!(own, 0 | merge::exit_code::REJECTED | merge::exit_code::CONFLICTS) => {
                exit_code::EXCEPTION
            }
            Merging::Not(_) => own,
            Merging::Failed(error) => code_of(error),
        }
    }
}

fn say_not_merged(dream: Option<&str>, why: &str) {
    let dream = dream.unwrap_or("the dream");
    report::say(&report::harmless(&format!("telos: {dream} is not merged: {why}")));
}
