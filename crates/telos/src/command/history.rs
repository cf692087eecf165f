//! `telos log`, `show` and `revert`: what was done to an image, and taking it back.

use super::allowance::Allowance;
use super::dream::exit_code as merge_code;
use super::refusal::refusal;
use super::{RequestOptions, ask, print};
use crate::chronicle::LINES_MAX;
use crate::options::ImageDirectory;
use crate::session::exit_code;
use clap::Args;
use jiff::{Timestamp, tz::TimeZone};
use keeper::Client;
use keeper::protocol::{ChangeLine, Command, CommitLine, CommitPage, FilesReport, Form, Outcome, Request};
use std::fmt::Write;
use std::process::ExitCode;

const LOG_EXAMPLES: &str = "\
Examples:
  telos log --image garden
  telos log --count 100 --before 4000
  telos log --json | jq '.[].cause'";

const REVERT_EXAMPLES: &str = "\
Examples:
  telos revert --image garden --cause 'wrong tree' 42

Exit codes:
    0   taken back
    1   nothing was taken back, there is no such commit, or no image is up
    2   wrong usage
    3   refused: it would change what is locked, or the token is a wrong one
    4   taken back in part: what was changed since is left alone, and told";

/// Show the newest commits of an image
///
/// One line each: number, time, author, how much was changed, and why.
#[derive(Args, Debug)]
#[command(after_help = LOG_EXAMPLES)]
pub struct Log {
    #[command(flatten)]
    directory: ImageDirectory,

    /// How many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    count: u64,

    /// Only those before this one
    #[arg(long, value_name = "COMMIT", value_parser = parse_commit)]
    before: Option<u64>,

    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

impl Log {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let commits = in_pages(self.count, self.before, |count, before| {
            Ok(serde_json::from_value(ask(&self.directory, &Request::new(Command::Log { count, before }))?)?)
        })?;
        if self.json {
            return print(&format!("{}\n", serde_json::to_string(&commits)?));
        }
        print(&log_text(&commits))
    }
}

/// Asks again and again: an answer has no room for any number of commits.
fn in_pages(
    count: u64,
    mut before: Option<u64>,
    mut ask: impl FnMut(u64, Option<u64>) -> anyhow::Result<Vec<CommitLine>>,
) -> anyhow::Result<Vec<CommitLine>> {
    let mut commits: Vec<CommitLine> = Vec::new();
    loop {
        let wanted = (count - commits.len() as u64).min(LINES_MAX);
        let page = ask(wanted, before)?;
        let is_last = (page.len() as u64) < wanted;
        commits.extend(page.into_iter().take(wanted as usize));
        before = commits.last().map(|commit| commit.number);
        if is_last || commits.len() as u64 >= count {
            return Ok(commits);
        }
    }
}

fn parse_commit(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "a commit is named by its number, such as 42; `telos log` has them".to_string())
}

/// Show what a commit changed
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  telos show --image garden 42")]
pub struct Show {
    #[command(flatten)]
    directory: ImageDirectory,

    /// Print a JSON object
    #[arg(long)]
    json: bool,

    /// The number of the commit, as log shows it
    #[arg(value_parser = parse_commit)]
    commit: u64,
}

impl Show {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let answer = ask(&self.directory, &Request::new(Command::Show(self.commit)))?;
        if self.json {
            return print(&format!("{answer}\n"));
        }
        print(&page_text(&serde_json::from_value(answer)?))
    }
}

/// Take back what a commit did
///
/// Makes a new commit that undoes it and leaves alone what was changed since. The old one stays in the history. The exit
/// code is 4 if something was left alone, 1 if nothing was taken back.
#[derive(Args, Debug)]
#[command(after_help = REVERT_EXAMPLES)]
pub struct Revert {
    #[command(flatten)]
    directory: ImageDirectory,

    #[command(flatten)]
    options: RequestOptions,

    #[command(flatten)]
    allowance: Allowance,

    /// Print a JSON object with the new commit and with what was left alone
    #[arg(long)]
    json: bool,

    /// The number of the commit, as log shows it
    #[arg(value_parser = parse_commit)]
    commit: u64,
}

impl Revert {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let request =
            Request { command: Command::Revert(self.commit), ..self.options.request("", "revert", Form::Text) };
        taken_back(&self.directory, &self.allowance, &request, self.json)
    }
}

/// Asks for something to be taken back, and says what came of it.
pub fn taken_back(
    directory: &ImageDirectory,
    allowance: &Allowance,
    request: &Request,
    is_json: bool,
) -> anyhow::Result<ExitCode> {
    let mut client = Client::connect(&directory.to_find()?, "telos revert")?;
    allowance.show_to(&mut client)?;
    let answer = client.send(request)?;
    match &answer.outcome {
        Outcome::Failure(failure) => Err(refusal(failure.clone())),
        Outcome::Value(shown) => {
            let told: serde_json::Value = serde_json::from_str(&shown.text)?;
            let left_alone: Vec<String> = serde_json::from_value(told["left_alone"].clone())?;
            let text = match is_json {
                true => format!("{}\n", shown.text),
                false => {
                    let text = reverted_text(told["reverted"].as_u64().unwrap_or(0), answer.commit, &left_alone);
                    text + &deliveries_text(&told)
                }
            };
            let printed = print(&text)?;
            let files: Option<FilesReport> = serde_json::from_value(told["files"].clone()).unwrap_or_default();
            let is_part = !left_alone.is_empty() || files.is_some_and(|files| !files.left.is_empty());
            // Whoever counts on it must notice.
            Ok(match answer.commit {
                _ if printed != ExitCode::SUCCESS => printed,
                None => ExitCode::from(exit_code::EXCEPTION),
                Some(_) if is_part => ExitCode::from(merge_code::CONFLICTS),
                Some(_) => printed,
            })
        }
    }
}

/// What became of files and calls of a merge that was taken back.
fn deliveries_text(told: &serde_json::Value) -> String {
    let files: Option<FilesReport> = serde_json::from_value(told["files"].clone()).unwrap_or_default();
    let mut text = String::new();
    if let Some(FilesReport { status, applied, left, more_left, reason, .. }) = files {
        let reason = reason.map_or(String::new(), |reason| format!(", {status}: {reason}"));
        let _ = writeln!(text, "  files as they were before: {applied}{}", one_line(&reason));
        for each in left {
            let _ = writeln!(text, "  not undone: {}: {}", one_line(&each.path), one_line(&each.reason));
        }
        if more_left > 0 {
            let _ = writeln!(text, "  not undone: {more_left} more");
        }
    }
    let count = |name: &str| told["calls"][name].as_u64().unwrap_or(0);
    if count("cancelled") > 0 {
        let _ = writeln!(text, "  calls that will not be made: {}", count("cancelled"));
    }
    if count("made") > 0 {
        let _ = writeln!(text, "  calls that were made, and cannot be undone: {}", count("made"));
    }
    text
}

fn reverted_text(reverted: u64, commit: Option<u64>, left_alone: &[String]) -> String {
    let mut text = match commit {
        Some(number) => format!("commit {number} takes back commit {reverted}\n"),
        None if left_alone.is_empty() => {
            format!("nothing of commit {reverted} is there to take back; objects that it made stay\n")
        }
        None => format!("nothing of commit {reverted} was taken back, because of what later commits did\n"),
    };
    for place in left_alone {
        let _ = writeln!(text, "  left alone: {}", one_line(place));
    }
    text
}

fn log_text(commits: &[CommitLine]) -> String {
    let width = |length: fn(&CommitLine) -> usize| commits.iter().map(length).max().unwrap_or(0);
    let numbers = width(|commit| commit.number.to_string().len());
    let authors = width(|commit| author(commit).chars().count());
    let mut text = String::new();
    for commit in commits {
        let (time, changes) = (time_text(commit.time_ms), counted(commit.changes));
        let cause = commit.cause.as_deref().unwrap_or("");
        let row = format!("{:>numbers$}  {time}  {:authors$}  {changes:>12}  {cause}", commit.number, author(commit));
        // Writing to a String never fails.
        let _ = writeln!(text, "{}", one_line(&row));
    }
    text
}

fn page_text(page: &CommitPage) -> String {
    let commit = &page.commit;
    let mut text = format!("commit {}\n  time    {}\n", commit.number, time_text(commit.time_ms));
    let _ = writeln!(text, "  author  {}", author(commit));
    if let Some(cause) = &commit.cause {
        let _ = writeln!(text, "  cause   {}", one_line(cause));
    }
    let _ = writeln!(text, "  {}\n", counted(commit.changes));
    page.changes.iter().for_each(|change| text.push_str(&change_text(change)));
    let more = commit.changes.saturating_sub(page.changes.len() as u64);
    if more > 0 {
        let _ = writeln!(text, "  … {more} more");
    }
    text
}

fn change_text(change: &ChangeLine) -> String {
    let place = change.place.as_ref().map(|place| format!(" {place}")).unwrap_or_default();
    let values = match (&change.before, &change.after) {
        (Some(before), Some(after)) => format!(": {before} → {after}"),
        (None, Some(after)) => format!(": {after}"),
        (Some(before), None) => format!(": it was {before}"),
        (None, None) => String::new(),
    };
    format!("  {}\n", one_line(&format!("{:6} {}{place}{values}", change.verb, change.object)))
}

fn author(commit: &CommitLine) -> &str {
    commit.author.as_deref().unwrap_or("-")
}

fn counted(changes: u64) -> String {
    if changes == 1 { "1 change".to_string() } else { format!("{changes} changes") }
}

pub fn time_text(time_ms: i64) -> String {
    let time = Timestamp::from_millisecond(time_ms).unwrap_or(Timestamp::MAX);
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// What a program or a stranger wrote, without what would move the cursor.
pub fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    plain.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(number: u64, author: Option<&str>, cause: Option<&str>) -> CommitLine {
        let (author, cause) = (author.map(String::from), cause.map(String::from));
        CommitLine { number, time_ms: 0, author, cause, changes: number }
    }

    #[test]
    fn a_log_is_a_table_that_no_cause_can_break() {
        let text = log_text(&[commit(12, Some("ada"), Some("first\n\x1b[2Jtree")), commit(1, None, None)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("12  19") && lines[0].ends_with("ada    12 changes  first  [2Jtree"), "{text}");
        assert!(lines[1].starts_with(" 1  19") && lines[1].ends_with("-        1 change"), "{text}");
    }

    /// Of twenty thousand that were asked for there came ten thousand, without a word.
    #[test]
    fn a_log_is_as_long_as_it_was_asked_for() {
        let ask = |count: u64, before: Option<u64>| {
            let newest = before.map_or(9_000, |before| before - 1);
            Ok((1..=newest).rev().take(count as usize).map(|number| commit(number, None, None)).collect())
        };
        for (count, expected) in [(20_000, 9_000), (8_500, 8_500), (4_000, 4_000), (20, 20), (0, 0)] {
            let commits = in_pages(count, None, ask).unwrap();
            assert_eq!(commits.len(), expected);
            assert!(commits.windows(2).all(|pair| pair[0].number == pair[1].number + 1));
        }
        assert_eq!(in_pages(100, Some(50), ask).unwrap().len(), 49);
    }

    #[test]
    fn a_commit_says_what_was_before() {
        let change = |before: Option<&str>, after: Option<&str>| ChangeLine {
            verb: "set".into(),
            object: "Garden".into(),
            place: Some("trees".into()),
            before: before.map(String::from),
            after: after.map(String::from),
        };
        let changes = vec![change(Some("3"), Some("4")), change(None, Some("4")), change(Some("3"), None)];
        let text = page_text(&CommitPage { commit: commit(5, Some("ada"), None), changes });
        for line in ["set    Garden trees: 3 → 4", "Garden trees: 4", "Garden trees: it was 3", "… 2 more"] {
            assert!(text.contains(line), "{text}");
        }
    }
}
