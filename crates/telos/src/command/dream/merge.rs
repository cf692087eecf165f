//! `telos dream verify` and `merge`: whether a dream is good, and making it a part of the live image. Also what `run --merge` does
//! after its script.

use super::connect;
use super::interruption::Interruption;
use crate::command::allowance::Allowance;
use crate::command::history::one_line;
use crate::command::refusal::refusal;
use crate::command::send::HistoryOptions;
use crate::command::{RequestOptions, print};
use crate::options::{ImageDirectory, parse_bytes, parse_count, parse_time};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use keeper::Client;
use keeper::protocol::{
    Answer, CheckOutcome, Command, FailureKind, FileLeft, FilesReport, Form, MergeOrder, MergeReport, MergeStatus,
    Outcome, Request, TestKind, TestResult, Verdict,
};
use merge::Policy;
use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

/// Of each kind so many tests are named.
const TOLD_MAX: usize = 20;

/// What scripts can rely on.
pub mod exit_code {
    pub const REJECTED: u8 = 3;
    pub const CONFLICTS: u8 = 4;
}

const MERGE_EXAMPLES: &str = "\
Examples:
  telos dream merge --image garden d65
  telos dream merge --policy keep-both d65
  telos dream merge --only 'Garden grow' --only 'Garden water' d65
  telos dream merge --test 'GardenTest testGate' d65

A candidate is made: a sealed fork of the image as it is now, with what the
dream changed. The image's own Verification judges it there; what passes is
merged as one commit, while the image goes on. docs/verification.md says what
is looked at. What it wrote to files is applied then; a file that somebody
changed meanwhile stays as it is and is a conflict. What is protected or locked
changes only with a person's token: --token-file lifts that rule for this merge,
and no other.

Exit codes:
    0   merged, merged before, or it changed nothing
    1   there is no such dream, it is going on, it did not change what --only
        names, or no image is up
    2   wrong usage
    3   rejected: telos rejections has the reasons; or it is locked
    4   merged, and conflicts are open: telos conflicts has them
  124   --timeout was up before it was judged: nothing is merged
  130   Ctrl-C before it was judged: nothing is merged";

/// Names of policies, as the command line explains them.
fn policies() -> PossibleValuesParser {
    PossibleValuesParser::new(Policy::ALL.map(|policy| {
        let help = match policy {
            Policy::ForkWins => "what the dream wrote",
            Policy::LiveWins => "what the live image wrote",
            Policy::LastWriterWins => "what was written later",
            Policy::KeepBoth => "what was written later, and the other stays in an open conflict",
        };
        PossibleValue::new(image::policy_name(policy)).help(help)
    }))
}

/// Judge a dream that is over and, if it is found good, merge it into the live image
#[derive(Args, Debug)]
#[command(after_help = MERGE_EXAMPLES)]
pub struct Merge {
    #[command(flatten)]
    asked: Asked,
}

/// What judging and merging are told alike.
#[derive(Args, Debug)]
struct Asked {
    #[command(flatten)]
    directory: ImageDirectory,

    #[command(flatten)]
    limits: JudgingLimits,

    #[command(flatten)]
    history: HistoryOptions,

    #[command(flatten)]
    allowance: Allowance,

    #[command(flatten)]
    terms: MergeTerms,

    /// Print a JSON object with status, commit, verdict and conflicts
    #[arg(long)]
    json: bool,

    /// The dream's name
    dream: String,
}

/// What judging may take.
#[derive(Args, Debug)]
struct JudgingLimits {
    /// How many messages each test and check may send: 1000000, 1e6 or 10M; 50M unless given
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true, help_heading = "Limits")]
    fuel: Option<u64>,

    /// How much memory each test and check may use: 64M, 1.5GiB or bytes; 256M unless given
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, allow_hyphen_values = true, help_heading = "Limits")]
    memory: Option<u64>,

    /// Stop judging after that time, and merge nothing: 5, 1.5s, 500ms or 2m
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true, help_heading = "Limits")]
    timeout: Option<Duration>,
}

impl Asked {
    fn judge(self, is_trial: bool) -> anyhow::Result<ExitCode> {
        let order = self.terms.order(&self.dream, is_trial);
        let mut client = connect(&self.directory)?;
        self.allowance.show_to(&mut client)?;
        let interruption = Interruption::of(&client)?.at_ctrl_c();
        let JudgingLimits { fuel, memory, timeout } = self.limits;
        let options = RequestOptions { fuel, memory, timeout, history: self.history };
        let report = merged(&mut client, &interruption, &options, order)?;
        tell(&report, self.json)
    }
}

/// On what terms something is merged.
#[derive(Args, Debug, Default)]
pub struct MergeTerms {
    /// Which side wins where both wrote; fork-wins unless given
    #[arg(long, value_name = "POLICY", value_parser = policies())]
    pub policy: Option<String>,

    /// Only this slot, such as 'Garden grow'; may be given again
    #[arg(long, value_name = "OBJECT SLOT")]
    pub only: Vec<String>,

    /// A test that the mandate asks for, such as 'AccountTest testTax': that it passes counts as relevance; may be given again
    #[arg(long, value_name = "CASE TEST")]
    pub test: Vec<String>,
}

impl MergeTerms {
    pub fn is_asked(&self) -> bool {
        self.policy.is_some() || !self.only.is_empty() || !self.test.is_empty()
    }

    pub fn order(&self, dream: &str, is_trial: bool) -> MergeOrder {
        let policy = self.policy.clone();
        MergeOrder { dream: dream.into(), policy, only: self.only.clone(), tests: self.test.clone(), is_trial }
    }
}

impl Merge {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        self.asked.judge(false)
    }
}

/// Judge a dream that is over, and say what speaks against it; nothing is merged
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  telos dream verify --image garden d65\n\nExit codes:\n    0   nothing speaks against it\n    1   there is no such dream, it is going on, or no image is up\n    2   wrong usage\n    3   something does\n  124   --timeout was up first\n  130   Ctrl-C"
)]
pub struct Verify {
    #[command(flatten)]
    asked: Asked,
}

impl Verify {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        self.asked.judge(true)
    }
}

/// Whoever interrupts it is told what came of it: what is committed by then is merged.
pub fn merged(
    client: &mut Client,
    interruption: &Interruption,
    options: &RequestOptions,
    order: MergeOrder,
) -> anyhow::Result<MergeReport> {
    let request = Request { command: Command::Merge(Box::new(order)), ..options.request("", "merge", Form::Json) };
    let answer = interruption.send(client, &request)?;
    let answer = answer.unwrap_or_else(|| Answer::failed(FailureKind::Interrupted, "interrupted; nothing was merged"));
    match answer.outcome {
        Outcome::Value(shown) => Ok(serde_json::from_str(&shown.text)?),
        Outcome::Failure(failure) => Err(refusal(failure)),
    }
}

fn tell(report: &MergeReport, is_json: bool) -> anyhow::Result<ExitCode> {
    match is_json {
        true => print(&format!("{}\n", serde_json::to_string(report)?))?,
        false => print(&text_of(report))?,
    };
    Ok(ExitCode::from(exit_code_of(report)))
}

pub fn exit_code_of(report: &MergeReport) -> u8 {
    match report.status {
        MergeStatus::Rejected => exit_code::REJECTED,
        MergeStatus::Merged if report.open_conflicts > 0 => exit_code::CONFLICTS,
        MergeStatus::Merged | MergeStatus::Known | MergeStatus::Unchanged | MergeStatus::Accepted => 0,
    }
}

/// For a person: what came of it, then why.
pub fn text_of(report: &MergeReport) -> String {
    let MergeReport { dream, verdict, .. } = report;
    let commit = report.commit.map_or(String::new(), |commit| format!(" as commit {commit}"));
    let mut text = match report.status {
        MergeStatus::Merged => format!("{dream} is merged{commit}\n"),
        MergeStatus::Known => format!("{dream} was merged before{commit}; nothing was done\n"),
        MergeStatus::Unchanged => format!("{dream} changed nothing; nothing was merged\n"),
        MergeStatus::Rejected => format!("{dream} is rejected\n"),
        MergeStatus::Accepted => format!("nothing speaks against {dream}\n"),
    };
    text += &verdict_text(verdict);
    let counted = |count: u64, one: &str, many: &str| match count {
        0 => String::new(),
        1 => format!("  1 {one}\n"),
        count => format!("  {count} {many}\n"),
    };
    text += &counted(report.open_conflicts, "conflict is open: telos conflicts", "conflicts are open: telos conflicts");
    let settled = report.conflicts.saturating_sub(report.open_conflicts);
    text += &counted(settled, "conflict was settled by policy", "conflicts were settled by policy");
    text += &files_text(report.files.as_ref());
    text += &counted(report.calls, "call is to be made: telos outbox", "calls are to be made: telos outbox");
    text += &counted(
        report.violations,
        "rule of the whole was kept: a violation",
        "rules of the whole were kept: violations",
    );
    text += &counted(report.left_out, "change was left out", "changes were left out");
    text += &counted(
        report.repeated,
        "check was done again, for live had moved on",
        "checks were done again, for live had moved on",
    );
    text
}

/// What became of files, and why some were left alone.
pub fn files_text(files: Option<&FilesReport>) -> String {
    let Some(FilesReport { status, applied, left, more_left, reason, .. }) = files else { return String::new() };
    let mut text = match (status.as_str(), reason) {
        ("delivered", _) => {
            format!("  {applied} changed {} applied\n", if *applied == 1 { "file is" } else { "files are" })
        }
        (status, reason) => {
            let reason = reason.as_deref().unwrap_or_default();
            format!("  changed files: {status}: {}\n", one_line(reason))
        }
    };
    // Writing to a String never fails.
    for FileLeft { path, reason } in left {
        let _ = writeln!(text, "  left alone: {}: {}", one_line(path), one_line(reason));
    }
    if *more_left > 0 {
        let _ = writeln!(text, "  left alone: {more_left} more");
    }
    text
}

/// Check by check, with what speaks against it.
pub fn verdict_text(verdict: &Verdict) -> String {
    let mut text = String::new();
    for check in &verdict.checks {
        let word = match check.outcome {
            CheckOutcome::Passed => "passed",
            CheckOutcome::Failed => "failed",
            CheckOutcome::Unsure => "unsure",
        };
        // Writing to a String never fails.
        let _ = writeln!(text, "  {:<12} {word:<7} {:>8.1} ms", one_line(&check.name), check.time_us as f64 / 1000.0);
        text.extend(check.reasons.iter().map(|reason| format!("    {}\n", one_line(reason))));
    }
    if !verdict.allowed.is_empty() {
        let _ = writeln!(text, "  a person allowed: {}", one_line(&verdict.allowed.join(", ")));
    }
    text += &tests_text(&verdict.tests);
    if verdict.test_count > 0 {
        let _ = writeln!(text, "  {} of {} tests pass", verdict.pass_count, verdict.test_count);
    }
    text
}

/// Those that do not simply pass as before, by what became of them.
fn tests_text(tests: &[TestResult]) -> String {
    let mut text = String::new();
    for kind in TestKind::ALL.into_iter().filter(|kind| *kind != TestKind::Passing) {
        let mut of_kind = tests.iter().filter(|test| test.kind == kind);
        for test in of_kind.by_ref().take(TOLD_MAX) {
            let asked = if test.is_asked_for { "  (the mandate asks for it)" } else { "" };
            // Writing to a String never fails.
            let _ = writeln!(text, "  {:<14} {}{asked}", kind.words(), one_line(&test.name));
        }
        let more = of_kind.count();
        if more > 0 {
            let _ = writeln!(text, "  {:<14} and {more} more", kind.words());
        }
    }
    text
}
