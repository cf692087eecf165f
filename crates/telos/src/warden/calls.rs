//! Policies for socket calls, and whom a run called, between the sandbox's types and those of the protocol.

use anyhow::Context;
use keeper::protocol::{RunCall, RunCalls, RunFate, RunSockets, RunVia};
use sandbox::network::call::{Call, Fate, Kept, Via};
use sandbox::network::sockets::Sockets;
use std::sync::Arc;

pub fn to_run_sockets(sockets: &Sockets) -> RunSockets {
    match sockets {
        Sockets::Alone => RunSockets::Alone,
        Sockets::Blocked => RunSockets::Blocked,
        Sockets::Redirected(recorder) => RunSockets::Redirected { is_kept: recorder.is_some() },
        Sockets::Recorded(recording) => RunSockets::Recorded { recording: recording.to_string() },
    }
}

pub fn to_sockets(sockets: RunSockets) -> anyhow::Result<Sockets> {
    Ok(match sockets {
        RunSockets::Alone => Sockets::Alone,
        RunSockets::Blocked => Sockets::Blocked,
        RunSockets::Redirected { is_kept } => Sockets::Redirected(is_kept.then(Arc::default)),
        RunSockets::Recorded { recording } => {
            Sockets::Recorded(Arc::new(recording.parse().context("the order's recording")?))
        }
    })
}

pub fn to_run_calls(kept: Kept) -> RunCalls {
    RunCalls { calls: kept.calls.into_iter().map(to_run_call).collect(), left_out: kept.left_out }
}

fn to_run_call(call: Call) -> RunCall {
    let via = match call.via {
        Via::Proxy => RunVia::Proxy,
        Via::Connect => RunVia::Connect,
        Via::Http => RunVia::Http,
        Via::Socks => RunVia::Socks,
        Via::Socket { thread } => RunVia::Socket { thread },
    };
    let fate = match call.fate {
        Fate::Reached { address } => RunFate::Reached { address },
        Fate::Replayed => RunFate::Replayed,
        Fate::Refused { why } => RunFate::Refused { why },
    };
    RunCall { via, asked: call.asked, fate, sent_bytes: call.sent_bytes, received_bytes: call.received_bytes }
}

pub fn to_kept(calls: RunCalls) -> Kept {
    Kept { calls: calls.calls.into_iter().map(to_call).collect(), left_out: calls.left_out }
}

fn to_call(call: RunCall) -> Call {
    let via = match call.via {
        RunVia::Proxy => Via::Proxy,
        RunVia::Connect => Via::Connect,
        RunVia::Http => Via::Http,
        RunVia::Socks => Via::Socks,
        RunVia::Socket { thread } => Via::Socket { thread },
    };
    let fate = match call.fate {
        RunFate::Reached { address } => Fate::Reached { address },
        RunFate::Replayed => Fate::Replayed,
        RunFate::Refused { why } => Fate::Refused { why },
    };
    Call { via, asked: call.asked, fate, sent_bytes: call.sent_bytes, received_bytes: call.received_bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_arrive_as_they_were_made() {
        let fates = [
            (Via::Connect, Fate::Reached { address: "1.2.3.4:80".parse().unwrap() }),
            (Via::Socket { thread: 7 }, Fate::Replayed),
            (Via::Socks, Fate::Refused { why: "no".into() }),
            (Via::Http, Fate::Replayed),
            (Via::Proxy, Fate::Replayed),
        ];
        let calls: Vec<Call> = fates.into_iter().map(|(via, fate)| Call::new(via, "a.example:80", fate)).collect();
        let kept = Kept { calls, left_out: 3 };
        let told = serde_json::to_string(&to_run_calls(kept.clone())).unwrap();
        assert_eq!(to_kept(serde_json::from_str(&told).unwrap()), kept);
    }

    #[test]
    fn a_policy_arrives_as_it_was_sent() {
        let recording: Arc<sandbox::network::sockets::Recording> =
            Arc::new("call 1.2.3.4:80\n> hi\\n\n< ho\n".parse().unwrap());
        for sockets in [
            Sockets::Alone,
            Sockets::Blocked,
            Sockets::Redirected(None),
            Sockets::Redirected(Some(Arc::default())),
            Sockets::Recorded(recording),
        ] {
            let sent = to_run_sockets(&sockets);
            assert_eq!(format!("{:?}", to_sockets(sent).unwrap()), format!("{sockets:?}"));
        }
        let bad = RunSockets::Recorded { recording: "hello".into() };
        assert!(to_sockets(bad).is_err_and(|error| format!("{error:#}").contains("line 1 of the recording")));
    }
}
