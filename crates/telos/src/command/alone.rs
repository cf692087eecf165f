//! Reads the command line of one command without describing the others, which takes longer than all else that a short run
//! does. Only the commands that scripts start again and again are here, and only what they take as it stands: help and errors
//! speak of the whole, so they are left to it.

use super::exec::Exec;
use super::{Cli, Command, parsed};
use crate::options::Color;
use clap::{Args, Parser};
use std::ffi::OsString;

#[derive(Parser, Debug)]
#[command(no_binary_name = true)]
struct Alone<C: Args> {
    #[command(flatten)]
    command: C,

    #[arg(long, default_value = "auto")]
    color: Color,
}

/// None if the whole is needed.
pub fn read(words: impl Iterator<Item = OsString>) -> Option<Cli> {
    let mut words = words.peekable();
    match words.next()?.to_str()? {
        // Where no option is written, there is nothing to be read: to describe them all is a quarter of a millisecond.
        "exec" if words.next_if(|word| word == "--").is_some() => {
            let command = Command::Exec(Box::new(Exec::of(words.collect())));
            Some(Cli { command, color: Color::default(), is_json: false })
        }
        "exec" => one(words, Command::Exec),
        "eval" => one(words, Command::Eval),
        "run" => one(words, Command::Run),
        "send" => one(words, Command::Send),
        _ => None,
    }
}

fn one<C: Args>(words: impl Iterator<Item = OsString>, command_of: fn(C) -> Command) -> Option<Cli> {
    let (Alone { command, color }, is_json) = parsed::<Alone<C>>(words).ok()?;
    Some(Cli { command: command_of(command), color, is_json })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(words: &[&str]) -> Option<String> {
        read(words.iter().map(OsString::from)).map(|cli| format!("{cli:?}"))
    }

    fn whole(words: &[&str]) -> Result<String, clap::Error> {
        Cli::read_whole([&["telos"], words].concat()).map(|cli| format!("{cli:?}"))
    }

    #[test]
    fn what_one_command_takes_it_takes_as_in_the_whole() {
        for words in [
            &["exec", "--", "bash", "-c", "true"][..],
            &["exec", "--color", "never", "--write", ".", "--diff", "--timeout", "5", "a.py", "--", "--color"],
            &["exec", "--lang", "python", "-e", "--version"],
            &["exec"],
            &["exec", "--"],
            &["exec", "--", "--", "--help"],
            &["exec", "help"],
            &["eval", "1 + 2", "--color=always"],
            &["run", "hello.io", "Ada", "--help"],
            &["send", "--image", "garden", "1 + 2"],
            &["send", "--json", "1 + 2"],
        ] {
            assert_eq!(alone(words), Some(whole(words).unwrap()), "{words:?}");
        }
    }

    #[test]
    fn help_errors_and_other_commands_are_left_to_the_whole() {
        for words in [
            &["exec", "--help"][..],
            &["exec", "-h", "--", "true"],
            &["exec", "--version"],
            &["exec", "--diff", "--", "true"],
            &["exec", "--no-such-option"],
            &["eval"],
            &["--color", "never", "exec", "--", "true"],
            &["status"],
            &[],
        ] {
            assert_eq!(alone(words), None, "{words:?}");
        }
    }
}
