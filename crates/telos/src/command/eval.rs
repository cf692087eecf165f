//! `telos eval`: expressions from the command line.

use super::{advise, end, json};
use crate::host::Sink;
use crate::options::{Color, MachineOptions};
use crate::session::{Failure, Session, stop_on_ctrl_c};
use clap::Args;
use language::Value;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  telos eval '1 + 2'
  telos eval 'x := 20' 'x * 2 + 2'
  telos eval '\"hello\" asUppercase println'
  telos eval --json 'list(1, \"two\", nil)'
      {\"value\":[1,\"two\",null],\"type\":\"List\",\"output\":\"\"}
  telos eval --fuel 100000 'loop(nil)'
      stops, exit code 122
  telos eval -- '-1 + 2'
      an expression that begins with - stands behind --";

/// Evaluate expressions
///
/// They are evaluated one after the other in the same machine. The value of the last is printed, unless it is nil or
/// the expressions have printed something themselves; lists and maps inside of others are shortened to 40
/// characters, and whole with --json.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Eval {
    #[command(flatten)]
    machine: MachineOptions,

    /// Print a JSON object with value, type and output, or with error and output
    #[arg(long)]
    json: bool,

    /// Io expressions
    #[arg(required = true, value_name = "EXPRESSION")]
    expressions: Vec<String>,
}

impl Eval {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        let sink = if self.json { Sink::Captured } else { Sink::Standard };
        let mut session = Session::new(&self.machine, sink);
        stop_on_ctrl_c(&session, true);
        session.set_arguments(&["eval".to_string()]);
        let result = self.evaluate(&mut session);
        if self.json {
            return Ok(json::print(session, result));
        }
        let result = result.and_then(|value| print_value(&mut session, value));
        advise(&mut session, &self.expressions.join("\n"), color);
        Ok(end(session, result, color))
    }

    fn evaluate(&self, session: &mut Session) -> Result<Value, Failure> {
        let mut value = Value::NIL;
        for (index, expression) in self.expressions.iter().enumerate() {
            session.vm.release(value);
            let label = if self.expressions.len() == 1 { "eval".to_string() } else { format!("eval {}", index + 1) };
            value = session.evaluate(expression, &label)?;
            session.vm.retain(value);
        }
        session.drain()?;
        Ok(value)
    }
}

fn print_value(session: &mut Session, value: Value) -> Result<(), Failure> {
    if !value.is_nil() && session.output.written_bytes() == 0 {
        let text = session.text_of(value)?;
        session.output.write_bytes(text.as_bytes());
        session.output.write_bytes(b"\n");
    }
    Ok(())
}
