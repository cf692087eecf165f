//! What an agent is told: replies with the id of what they answer, faults with a code, notifications.

use super::request::Id;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Those of JSON-RPC, and ours.
pub mod code {
    pub const NOT_JSON: i32 = -32700;
    pub const NO_REQUEST: i32 = -32600;
    pub const NO_METHOD: i32 = -32601;
    pub const WRONG_PARAMETERS: i32 = -32602;
    /// The image said no: an exception, a syntax error, a limit; `data` says which.
    pub const FAILED: i32 = -32000;
    /// The dream is over, or the agent has said that it is done.
    pub const OVER: i32 = -32001;
    /// There is no fuel left, or no room in the log.
    pub const USED_UP: i32 = -32002;
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fault {
    pub code: i32,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl Fault {
    pub fn new(code: i32, message: impl Into<String>) -> Fault {
        Fault { code, message: message.into(), data: None }
    }
}

#[derive(Serialize)]
struct Reply<'r> {
    jsonrpc: &'static str,
    id: &'r RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'r Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'r Fault>,
}

/// The line that answers a request.
pub fn reply(id: &Id, answer: &Result<Value, Fault>) -> Vec<u8> {
    let (result, error) = (answer.as_ref().ok(), answer.as_ref().err());
    line(&Reply { jsonrpc: "2.0", id: id.written(), result, error })
}

/// A line that nobody asked for.
pub fn notification(method: &str, params: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

/// Line ends inside of texts are escaped.
fn line(object: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(object).expect("keys are texts, and a vector takes everything");
    line.push(b'\n');
    line
}
