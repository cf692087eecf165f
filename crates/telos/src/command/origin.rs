//! `telos history OBJECT[.SLOT]`, `why`, `undo` and `rejections`: where a value comes from, on what evidence, and taking it back.

use super::allowance::Allowance;
use super::dream::verdict_text;
use super::history::{one_line, time_text};
use super::{RequestOptions, ask, history, print};
use crate::options::ImageDirectory;
use crate::report;
use clap::Args;
use dream::path::names_in;
use keeper::protocol::{Command, Form, Request, Verdict};
use language::syntax::quote;
use serde_json::Value;
use std::fmt::Write;
use std::process::ExitCode;

const HISTORY_EXAMPLES: &str = "\
Examples:
  telos history --image garden Garden          the object
  telos history --image garden Garden.trees    one slot of it
  telos history --json Garden.trees | jq '.writings[].author'

Exit codes:
    0   shown
    1   there is no such object, or no image is up
    2   wrong usage";

const WHY_EXAMPLES: &str = "\
Examples:
  telos why --image garden Garden.trees
  telos why --json Garden.trees | jq .merge.verdict

Exit codes:
    0   shown
    1   nobody knows who wrote it, there is no such slot, or no image is up
    2   wrong usage";

const UNDO_EXAMPLES: &str = "\
Examples:
  telos undo --image garden d65                 the merge of this dream
  telos undo --image garden --cause 'it was a mistake' 42
                                                that of commit 42

Exit codes:
    0   taken back
    1   nothing was taken back, there is no such merge, or no image is up
    2   wrong usage
    3   refused: it would change what is locked
    4   taken back in part: what was changed since is left alone, and told";

const REJECTIONS_EXAMPLES: &str = "\
Examples:
  telos rejections --image garden
  telos rejections --image garden --of Garden   those that would have changed it
  telos rejections --json | jq '.[].reasons'
  telos dream show --image garden d65           what it would have changed
  telos dream verify --image garden d65         judges it again
  telos dream resume --image garden d65         goes on with it

Exit codes:
    0   shown; also if there is none
    1   there is no such object, or no image is up
    2   wrong usage";

/// Show which commits wrote an object or a slot, the newest first
#[derive(Args, Debug)]
#[command(after_help = HISTORY_EXAMPLES)]
pub struct History {
    #[command(flatten)]
    directory: ImageDirectory,

    /// How many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    count: u64,

    /// Print a JSON object
    #[arg(long)]
    json: bool,

    /// Names from the Lobby, such as Garden or Garden.trees
    #[arg(value_name = "OBJECT[.SLOT]")]
    path: String,
}

impl History {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let told = asked(&self.directory, &self.path, self.count)?;
        if writings(&told).is_empty() && self.count > 0 {
            anyhow::bail!("the history does not say who wrote {}", self.path)
        }
        if self.json {
            return print(&format!("{told}\n"));
        }
        let writings = writings(&told);
        let width = writings.iter().map(|writing| writing["commit"].to_string().len()).max().unwrap_or(0);
        let lines: String = writings.iter().map(|writing| line(writing, width)).collect();
        let more = if told["is_whole"] == true { "" } else { "…\n" };
        print(&format!("{lines}{more}"))
    }
}

/// Say who wrote what a slot holds, when, why, and on what evidence
#[derive(Args, Debug)]
#[command(after_help = WHY_EXAMPLES)]
pub struct Why {
    #[command(flatten)]
    directory: ImageDirectory,

    /// Print a JSON object
    #[arg(long)]
    json: bool,

    /// Names from the Lobby, such as Garden.trees
    #[arg(value_name = "OBJECT.SLOT")]
    path: String,
}

impl Why {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let told = asked(&self.directory, &self.path, 1)?;
        let Some(writing) = writings(&told).into_iter().next() else {
            anyhow::bail!("the history does not say who wrote {}", self.path)
        };
        if self.json {
            return print(&format!("{writing}\n"));
        }
        let mut text = line(&writing, 0);
        if let Some(value) = writing["value"].as_str() {
            text += &format!("  {}\n", value.replace('\n', "\n  "));
        }
        if writing["merge"].is_object() {
            text += &evidence(&writing["merge"]);
        }
        print(&text)
    }
}

fn asked(directory: &ImageDirectory, path: &str, count: u64) -> anyhow::Result<Value> {
    ask(directory, &Request::new(Command::History { path: path.into(), count }))
}

fn writings(told: &Value) -> Vec<Value> {
    told["writings"].as_array().cloned().unwrap_or_default()
}

/// With the number of the commit as wide as the widest.
fn line(writing: &Value, width: usize) -> String {
    let word = |name: &str| writing[name].as_str().unwrap_or_default();
    let time = writing["time_ms"].as_i64().map(time_text).unwrap_or_default();
    let dream = writing["merge"]["dream"].as_str().map(|dream| format!("  (dream {dream})")).unwrap_or_default();
    let commit = writing["commit"].to_string();
    let text = format!("{commit:>width$}  {time}  {:<10}  {}{dream}", word("author"), word("cause"));
    format!("{}\n", one_line(&text))
}

fn evidence(merge: &Value) -> String {
    let word = |name: &str| merge[name].as_str().unwrap_or_default();
    let mut text = String::new();
    for (name, what) in
        [("dream", "dream"), ("mandate", "mandate"), ("agent", "agent"), ("policy", "policy"), ("status", "status")]
    {
        if !word(name).is_empty() {
            // Writing to a String never fails.
            let _ = writeln!(text, "  {what:<8} {}", one_line(word(name)));
        }
    }
    let verdict: Option<Verdict> = serde_json::from_value(merge["verdict"].clone()).ok();
    text + &verdict.as_ref().map(verdict_text).unwrap_or_default()
}

/// Take back one merge: that of a dream, or of a commit
///
/// A new commit that undoes it and leaves alone what was changed since.
#[derive(Args, Debug)]
#[command(after_help = UNDO_EXAMPLES)]
pub struct Undo {
    #[command(flatten)]
    directory: ImageDirectory,

    #[command(flatten)]
    options: RequestOptions,

    #[command(flatten)]
    allowance: Allowance,

    /// Print a JSON object with the new commit and with what was left alone
    #[arg(long)]
    json: bool,

    /// The dream's name, or the number of the commit
    merge: String,
}

impl Undo {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let request = Request { command: Command::Undo(self.merge), ..self.options.request("", "undo", Form::Text) };
        history::taken_back(&self.directory, &self.allowance, &request, self.json)
    }
}

/// List the dreams that were judged and rejected, with the reasons
#[derive(Args, Debug)]
#[command(after_help = REJECTIONS_EXAMPLES)]
pub struct Rejections {
    #[command(flatten)]
    directory: ImageDirectory,

    /// Only those that would have changed this object: names from the Lobby, such as Garden
    #[arg(long, value_name = "OBJECT")]
    of: Option<String>,

    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

impl Rejections {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let list = match &self.of {
            Some(path) => {
                let missing = quote(&format!("there is no {path}: give names from the Lobby, such as Garden"));
                format!("rejectionsOf(Lobby{} ifNil(Exception raise({missing})))", getting(path)?)
            }
            None => "rejections".into(),
        };
        let request = Request { form: Form::Json, ..Request::evaluate(format!("Telos {list} map(asMap)")) };
        let rejections = ask(&self.directory, &request)?;
        if self.json {
            return print(&format!("{rejections}\n"));
        }
        let mut text = String::new();
        for rejection in rejections.as_array().into_iter().flatten() {
            let word = |name: &str| rejection[name].as_str().unwrap_or_default();
            let _ = writeln!(text, "{}", one_line(&format!("{}  {}", word("dream"), word("mandate"))));
            for reason in rejection["reasons"].as_array().into_iter().flatten() {
                let _ = writeln!(text, "  {}", one_line(reason.as_str().unwrap_or_default()));
            }
        }
        if text.is_empty() {
            report::say("telos: nothing was rejected");
        }
        print(&text)
    }
}

/// The messages that lead to an object and activate nothing.
fn getting(path: &str) -> anyhow::Result<String> {
    let names = names_in(path).map_err(anyhow::Error::msg)?;
    Ok(names.iter().filter(|name| *name != "Lobby").map(|name| format!(" getSlot({})", quote(name))).collect())
}
