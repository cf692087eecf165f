//! Orders that cannot be run: each is refused before anything runs, with a reason that names what to change, the same by
//! every backend.

use crate::play::Stage;
use crate::table::{Judged, Row};
use sandbox::{FileIn, Order, Streams};

/// Nothing starts, and what is said has this in it.
fn refused(stage: &Stage, order: &Order, expected: &str) -> Judged {
    match stage.backend.start(order, Streams::nowhere()) {
        Ok(_) => Err("it was started".into()),
        Err(error) if error.to_string().contains(expected) => Ok(()),
        Err(error) => Err(format!("expected {expected:?}, was told {:?}", error.to_string())),
    }
}

pub const ROWS: &[Row] = &[
    Row::story("order.zero_byte", "has a zero byte in an argument", |stage| {
        refused(stage, &stage.order(&["echo", "a\0b"]), "a zero byte cannot stand in arguments")
    })
    .for_programs(),
    Row::story("order.zero_byte_in_variable", "has a zero byte in a variable", |stage| {
        let mut order = stage.order(&["true"]);
        order.environment.push(("A".into(), "a\0b".into()));
        refused(stage, &order, "a zero byte cannot stand in arguments, environment")
    }),
    Row::story("order.no_program", "has no words at all", |stage| {
        refused(stage, &stage.order(&[]), "an empty command is not there")
    })
    .for_programs(),
    Row::story("order.file_above", "is handed a file whose place is no place below the root", |stage| {
        let mut order = stage.order(&["true"]);
        order.view.files.push(FileIn { inside: "/tmp/../x".into(), bytes: Vec::new(), is_executable: false });
        refused(stage, &order, "/tmp/../x cannot be given to it")
    }),
    Row::story("order.absent_directory", "is granted a directory that is not there", |stage| {
        let mut order = stage.order(&["true"]);
        if let Some(grant) = order.view.grants.first_mut() {
            grant.host = "/there/is/none".into();
        }
        refused(stage, &order, "/there/is/none cannot be given to it")
    }),
];
