//! What a row of the suite is: a program, what must be seen of it, and which walls see to that.

use crate::ground::Ground;
use crate::play::{Run, Stage};
use sandbox::{Order, Verdict, Wall};
use std::io;

/// What a program of ours says about its attempt: what it got, or the error that stopped it.
pub type Said = io::Result<String>;

/// What a judge says: nothing is wrong, or what is.
pub type Judged = Result<(), String>;

#[derive(Clone, Copy)]
pub struct Row {
    pub name: &'static str,
    /// What it tries, as the end of "a program …".
    pub tries: &'static str,
    pub program: Program,
    /// What the order has beside the usual.
    pub prepare: fn(&Ground, &mut Order),
    pub seen: Seen,
    /// Each of these alone would do. None: the sandbox needs nothing of the host for it.
    pub walls: &'static [Wall],
    /// Outside of a sandbox, as root, the answer is another one: the attempt means something.
    pub is_tried_outside: bool,
    /// Programs of the host without which the row says nothing.
    pub needs: &'static [&'static str],
    /// It is about what a dream has not, or needs programs inside.
    pub is_for_programs: bool,
    /// It is about what only a dream has, or is.
    pub is_for_dreams: bool,
    /// Answers that are right in a dream besides.
    pub in_dreams: &'static [&'static str],
}

#[derive(Clone, Copy)]
pub enum Program {
    /// This very binary, which does this inside and says one line.
    Own(fn() -> Said),
    Shell(&'static str),
    Python(&'static str),
    /// Several runs, or an unusual one; it judges by itself.
    Story(fn(&Stage) -> Judged),
}

#[derive(Clone, Copy)]
pub enum Seen {
    /// It ends by itself with code 0, and all that it says is one of these.
    Says(&'static [&'static str]),
    /// It ends in one of these ways.
    Ends(&'static [Verdict]),
    /// One or the other.
    SaysOrEnds(&'static [&'static str], &'static [Verdict]),
    Judge(fn(&Ground, &Run) -> Judged),
}

impl Row {
    const fn new(name: &'static str, tries: &'static str, program: Program) -> Row {
        Row {
            name,
            tries,
            program,
            prepare: |_, _| {},
            seen: Seen::Says(&["done"]),
            walls: &[],
            is_tried_outside: false,
            needs: &[],
            is_for_programs: false,
            is_for_dreams: false,
            in_dreams: &[],
        }
    }

    pub const fn own(name: &'static str, tries: &'static str, program: fn() -> Said) -> Row {
        Row::new(name, tries, Program::Own(program))
    }

    pub const fn shell(name: &'static str, tries: &'static str, script: &'static str) -> Row {
        Row { needs: &["bash"], is_for_programs: true, ..Row::new(name, tries, Program::Shell(script)) }
    }

    pub const fn python(name: &'static str, tries: &'static str, script: &'static str) -> Row {
        Row { needs: &["python3"], is_for_programs: true, ..Row::new(name, tries, Program::Python(script)) }
    }

    pub const fn story(name: &'static str, tries: &'static str, story: fn(&Stage) -> Judged) -> Row {
        Row::new(name, tries, Program::Story(story))
    }

    pub const fn says(self, answers: &'static [&'static str]) -> Row {
        Row { seen: Seen::Says(answers), ..self }
    }

    pub const fn ends(self, verdicts: &'static [Verdict]) -> Row {
        Row { seen: Seen::Ends(verdicts), ..self }
    }

    pub const fn says_or_ends(self, answers: &'static [&'static str], verdicts: &'static [Verdict]) -> Row {
        Row { seen: Seen::SaysOrEnds(answers, verdicts), ..self }
    }

    pub const fn judged(self, judge: fn(&Ground, &Run) -> Judged) -> Row {
        Row { seen: Seen::Judge(judge), ..self }
    }

    pub const fn by(self, walls: &'static [Wall]) -> Row {
        Row { walls, ..self }
    }

    pub const fn with(self, prepare: fn(&Ground, &mut Order)) -> Row {
        Row { prepare, ..self }
    }

    pub const fn needing(self, needs: &'static [&'static str]) -> Row {
        Row { needs, ..self }
    }

    pub const fn for_programs(self) -> Row {
        Row { is_for_programs: true, ..self }
    }

    pub const fn for_dreams(self) -> Row {
        Row { is_for_dreams: true, ..self }
    }

    pub const fn or_in_dreams(self, answers: &'static [&'static str]) -> Row {
        Row { in_dreams: answers, ..self }
    }

    /// Also tried without a sandbox, where it must not be answered as in one.
    pub const fn tried_outside(self) -> Row {
        Row { is_tried_outside: true, ..self }
    }
}
