//! The answers that need nothing but a look: environment, clock, randomness.

use crate::call::Call;
use crate::error::Refusal;
use crate::house::House;
use crate::value::Value;
use std::time::{SystemTime, UNIX_EPOCH};

const RANDOM_BYTES_MAX: usize = 64 << 10;

/// A variable of the house, which is all that anybody outside this process is told of an environment.
pub fn variable(house: &House, call: &Call) -> Result<Vec<Value>, Refusal> {
    call.at_most(1)?;
    let name = call.text(0, "the name of a variable")?;
    Ok(vec![house.environment.get(name).map_or(Value::Nil, Value::text)])
}

/// Seconds since 1970.
pub fn now(call: &Call) -> Result<Vec<Value>, Refusal> {
    call.at_most(0)?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = since.map_err(|_| Refusal::failed("the clock of this machine is set before 1970: set it"))?;
    Ok(vec![Value::Number(since.as_secs_f64())])
}

pub fn random(call: &Call) -> Result<Vec<Value>, Refusal> {
    call.at_most(1)?;
    let count = call.number(0, "how many bytes")?;
    if count.fract() != 0.0 || !(0.0..=RANDOM_BYTES_MAX as f64).contains(&count) {
        return Err(Refusal::failed(format!("`{}` gives 0 to {RANDOM_BYTES_MAX} bytes, not {count}", call.name)));
    }
    let mut bytes = vec![0; count as usize];
    system::random::fill(&mut bytes)
        .map_err(|error| Refusal::failed(format!("this machine gives no randomness: {error}")))?;
    Ok(vec![Value::Bytes(bytes)])
}
