//! Processes: shell commands, and this one's number.

use super::{Row, Shared, define_table, os_string};
use language::{Args, NONE, ONE, Outcome, Value, Vm};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

pub fn install(vm: &mut Vm, granted: bool) {
    let system = vm.prototype("System");
    define_table(vm, system, TABLE, granted, "processes");
}

const TABLE: &[Row] =
    &[("system", ONE, system), ("thisProcessPid", NONE, |_, _| Ok(Value::number(std::process::id().into())))];

/// A shell that will run the command with the variables that the program has set.
pub fn shell(vm: &mut Vm, command: OsString) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command);
    if let Some(shared) = vm.extra::<Shared>() {
        shared.output.flush();
        shell.envs(&shared.environment);
    }
    shell
}

/// Runs a command and answers its exit status; 128 and the signal's number if a signal ended it, as shells do.
fn system(vm: &mut Vm, args: Args) -> Outcome {
    let command = os_string(args.bytes(vm, 0)?);
    let shown = command.to_string_lossy().into_owned();
    match shell(vm, command).status() {
        Ok(status) => {
            let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
            Ok(Value::number(code.unwrap_or(-1).into()))
        }
        Err(error) => Err(vm.raise(format!("cannot run \"{shown}\": {error}"))),
    }
}
