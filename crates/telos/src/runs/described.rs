//! A run as JSON: what was asked for, and what came of it. The log has both, `--json` the second.

use crate::command::doctor;
use sandbox::network::call::{Call, Fate, Kept, Via};
use sandbox::network::sockets::Sockets;
use sandbox::{Access, Lack, Limits, Network, Order, Outcome, Usage, Verdict};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Duration;

/// What was asked for. Of variables only the names: their values may be secrets.
pub fn asked(order: &Order) -> Map<String, Value> {
    let granted = |access| -> Vec<String> {
        order.view.grants.iter().filter(|grant| grant.access == access).map(|grant| shown(&grant.host)).collect()
    };
    let network: Vec<String> = match &order.network {
        Network::None => Vec::new(),
        Network::Allowed(hosts) => hosts.iter().map(ToString::to_string).collect(),
    };
    let names: Vec<_> = order.environment.iter().map(|(name, _)| name.to_string_lossy()).collect();
    let program: Vec<_> = order.program.iter().map(|word| word.to_string_lossy()).collect();
    let files: Vec<String> = order.view.files.iter().map(|file| shown(&file.inside)).collect();
    let fields = [
        ("program", json!(program)),
        ("read", json!(granted(Access::Read))),
        ("write", json!(granted(Access::Layered))),
        ("files", json!(files)),
        ("network", json!(network)),
        ("sockets", json!(policy(&order.sockets))),
        ("environment", json!(names)),
        ("limits", limits(&order.limits)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// JSON has no bytes.
pub fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn policy(sockets: &Sockets) -> &'static str {
    match sockets {
        Sockets::Alone => "alone",
        Sockets::Blocked => "block",
        Sockets::Redirected(_) => "redirect",
        Sockets::Recorded(_) => "replay",
    }
}

/// What was decided and used, as `--json` and the log have it.
pub fn ended(outcome: &Outcome) -> Map<String, Value> {
    let (word, exit_code, signal, limit) = match &outcome.verdict {
        Verdict::Exited(code) => ("exited", Some(*code), None, None),
        Verdict::Signalled(signal) => ("signalled", None, Some(*signal), None),
        Verdict::Limited(limit) => ("limited", None, None, Some(format!("{limit:?}").to_lowercase())),
        Verdict::Stopped => ("stopped", None, None, None),
    };
    let mut fields = Map::new();
    fields.insert("verdict".into(), json!(word));
    fields.insert("exit_code".into(), json!(exit_code));
    fields.insert("signal".into(), json!(signal));
    fields.insert("limit".into(), json!(limit));
    fields.insert("usage".into(), usage(&outcome.usage));
    fields.insert("lacks".into(), lacks(&outcome.lacks));
    fields.extend(calls(&outcome.calls, usize::MAX));
    fields
}

/// Whom it called: the first of them, and how many more there were.
pub fn calls(kept: &Kept, most: usize) -> [(String, Value); 2] {
    let each: Vec<Value> = kept.calls.iter().take(most).map(call).collect();
    let left_out = kept.left_out + (kept.calls.len() - each.len()) as u64;
    [("calls".into(), each.into()), ("calls_left_out".into(), left_out.into())]
}

fn call(call: &Call) -> Value {
    let (via, thread) = match call.via {
        Via::Proxy => ("proxy", None),
        Via::Connect => ("connect", None),
        Via::Http => ("http", None),
        Via::Socks => ("socks", None),
        Via::Socket { thread } => ("socket", Some(thread)),
    };
    let (fate, address, why) = match &call.fate {
        Fate::Reached { address } => ("reached", Some(address.to_string()), None),
        Fate::Replayed => ("replayed", None, None),
        Fate::Refused { why } => ("refused", None, Some(why)),
    };
    json!({
        "asked": call.asked,
        "fate": fate,
        "address": address,
        "why": why,
        "via": via,
        "thread": thread,
        "sent_bytes": call.sent_bytes,
        "received_bytes": call.received_bytes,
    })
}

fn usage(usage: &Usage) -> Value {
    let milliseconds = |time: Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
    json!({
        "time_ms": milliseconds(usage.time),
        "user_ms": milliseconds(usage.user),
        "system_ms": milliseconds(usage.system),
        "memory_bytes": usage.memory_bytes,
        "output_bytes": usage.output_bytes,
    })
}

pub fn lacks(lacks: &[Lack]) -> Value {
    let each = |lack: &Lack| json!({ "wall": wall_name(lack), "why": lack.why, "remedy": lack.remedy });
    lacks.iter().map(each).collect()
}

fn wall_name(lack: &Lack) -> String {
    doctor::name_of(lack.wall)
}

fn limits(limits: &Limits) -> Value {
    let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
    json!({
        "time_s": seconds(limits.time),
        "cpu_s": seconds(limits.cpu),
        "memory_bytes": limits.memory_bytes,
        "processes": limits.processes,
        "open_files": limits.open_files,
        "file_bytes": limits.file_bytes,
        "disk_bytes": limits.disk_bytes,
        "disk_files": limits.disk_files,
        "output_bytes": limits.output_bytes,
    })
}
