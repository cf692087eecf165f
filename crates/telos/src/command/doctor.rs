//! `telos doctor`: which walls this host offers, and how to get those that are missing.

use super::print;
use crate::command::exec::backend;
use clap::Args;
use sandbox::{Backend, Strength, Wall};
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  telos doctor
  telos doctor --json | jq '.walls[] | select(.strength == \"missing\")'
  telos doctor > /dev/null && echo all walls stand

Exit codes:
    0   all walls stand
    1   one is missing: a run is refused, unless --allow-weaker is given
    2   wrong usage";

/// Show what keeps programs in on this host
///
/// Each wall that `telos exec` builds: there, there in another way, or missing, with the reason and how to get it.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Doctor {
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let backend = backend();
        let walls = backend.survey();
        // Who says nothing has shown nothing.
        let is_whole = !walls.is_empty() && !walls.iter().any(|(_, strength)| matches!(strength, Strength::Missing(_)));
        print(&if self.json { json_text(&backend, &walls, is_whole) } else { text(&backend, &walls, is_whole) })?;
        Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// `UserNamespace` as people say it.
pub fn name_of(wall: Wall) -> String {
    let mut name = String::new();
    for letter in format!("{wall:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push(' ');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

fn text(backend: &impl Backend, walls: &[(Wall, Strength)], is_whole: bool) -> String {
    let mut text = format!("{} sandbox, {}\n\n", backend.name(), host());
    let width = walls.iter().map(|(wall, _)| name_of(*wall).len()).max().unwrap_or(0);
    for (wall, strength) in walls {
        let name = name_of(*wall);
        // Writing to a String never fails.
        let _ = match strength {
            Strength::Full => writeln!(text, "  ok          {name}"),
            Strength::Substitute(how) => writeln!(text, "  otherwise   {name:width$}  {how}"),
            Strength::Missing(lack) => {
                writeln!(text, "  MISSING     {name:width$}  {}\n{:16}to get it: {}", lack.why, "", lack.remedy)
            }
        };
    }
    text.push_str(match is_whole {
        true => "\nAll walls stand: telos exec runs whatever it is given.\n",
        false => "\nA run is refused here, unless --allow-weaker is given: then it lacks what is missing above.\n",
    });
    text
}

fn json_text(backend: &impl Backend, walls: &[(Wall, Strength)], is_whole: bool) -> String {
    let walls: Vec<Value> = walls.iter().map(|(wall, strength)| described(*wall, strength)).collect();
    let object = json!({ "backend": backend.name(), "host": host(), "whole": is_whole, "walls": walls });
    format!("{object}\n")
}

fn described(wall: Wall, strength: &Strength) -> Value {
    let name = name_of(wall);
    match strength {
        Strength::Full => json!({ "wall": name, "strength": "full" }),
        Strength::Substitute(how) => json!({ "wall": name, "strength": "substitute", "how": how }),
        Strength::Missing(lack) => {
            json!({ "wall": name, "strength": "missing", "why": lack.why, "remedy": lack.remedy })
        }
    }
}

fn host() -> String {
    let system = rustix::system::uname();
    let who = if rustix::process::geteuid().is_root() { "root" } else { "an ordinary user" };
    let [name, release] = [system.sysname(), system.release()].map(|part| part.to_string_lossy().into_owned());
    format!("{name} {release}, as {who}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sandbox::Lack;

    #[test]
    fn what_is_missing_stands_there_with_its_remedy() {
        let lack = Lack { wall: Wall::MemoryLimit, why: "no cgroup".into(), remedy: "mount one".into() };
        let missing = described(Wall::MemoryLimit, &Strength::Missing(lack));
        assert_eq!(missing["wall"], "memory limit");
        assert_eq!((&missing["strength"], &missing["remedy"]), (&json!("missing"), &json!("mount one")));
    }
}
