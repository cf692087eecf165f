//! An image with a token, and the person who has it.

use super::Ran;
use super::up::Up;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// An account with all that may belong to an object, and a test that passes.
const ACCOUNT: &str = "Account := Object clone do(
    balance := 10; rate := 1; rates := list(1, list(2)); names := Map with(\"a\", 1); note := \"old\" asMutable
    owner := Object clone do(name := \"Ada\")
    tax := method(balance * 0.2)
)
AccountTest := UnitTest clone do(testTax := method(assertEquals(2, Account tax)))
nil";

pub struct Guarded {
    pub up: Up,
    pub token: PathBuf,
    aside: tempfile::TempDir,
}

impl Up {
    /// What the person says who has the token, which is made for it.
    pub fn allowed(&self, expression: &str) -> Ran {
        let token = self.directory.with_extension("token");
        if !token.exists() {
            self.telos(&["token", "new", "--into", token.to_str().expect("temporary files have plain names")]).ok();
        }
        let mut command = super::command(".".as_ref(), &["send", expression]);
        command.env("TELOS_IMAGE", &self.directory).env("TELOS_TOKEN_FILE", &token);
        command.output().expect("the binary starts").into()
    }
}

impl Guarded {
    pub fn start() -> Guarded {
        let aside = tempfile::tempdir().expect("there is a place for temporary files");
        let (up, token) = (Up::start(&[]), aside.path().join("token"));
        let guarded = Guarded { up, token, aside };
        guarded.up.send(ACCOUNT).ok();
        guarded.run(&["token", "new", "--into", guarded.token_path()]).ok();
        guarded
    }

    pub fn token_path(&self) -> &str {
        self.token.to_str().expect("temporary files have plain names")
    }

    /// A place that is not the image's.
    pub fn aside(&self, name: &str) -> PathBuf {
        self.aside.path().join(name)
    }

    /// The secret itself.
    pub fn secret(&self) -> String {
        std::fs::read_to_string(&self.token).expect("the token is there").trim().to_string()
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    /// The same by the person.
    pub fn allowed(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[("TELOS_TOKEN_FILE", &self.token)])
    }

    pub fn run_with(&self, arguments: &[&str], variables: &[(&str, &Path)]) -> Ran {
        let mut command = super::command(".".as_ref(), arguments);
        command.env("TELOS_IMAGE", &self.up.directory).envs(variables.iter().copied());
        let ended = command.stdin(std::process::Stdio::null()).output().expect("the binary starts");
        ended.into()
    }

    /// What an expression comes to in live.
    pub fn live(&self, expression: &str) -> String {
        self.up.send(expression).ok().trim_end().to_string()
    }

    /// The name of a dream that did this and is kept.
    pub fn dreamt(&self, source: &str) -> String {
        let told = self.json(&["dream", "run", "--keep", "--json", "-e", source]);
        told["dream"].as_str().expect("it has a name").to_string()
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.run(arguments);
        serde_json::from_str(&ran.output).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    /// It is refused for want of a token, and says what to do.
    pub fn refused(&self, arguments: &[&str]) {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(3), "{arguments:?}: {ran:?}");
        assert!(ran.errors.contains("token"), "{arguments:?}: {ran:?}");
    }
}
