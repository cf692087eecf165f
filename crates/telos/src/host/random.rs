//! Randomness: the one primitive that Random needs from the host. Seeded numbers are pure and written in Io.

use super::Row;
use language::{NONE, Value, Vm};

pub const TABLE: &[Row] = &[("systemValue", NONE, |vm, _| system_value(vm))];

/// A number from 0 up to 1, with all 53 bits of a double by chance.
fn system_value(vm: &mut Vm) -> language::Outcome {
    match system::random::number() {
        Ok(bits) => Ok(Value::number((bits >> 11) as f64 / (1u64 << 53) as f64)),
        Err(error) => Err(vm.raise(format!("the system has no random numbers: {error}"))),
    }
}
