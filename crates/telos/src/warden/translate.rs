//! Orders and outcomes, between the sandbox's types and those of the protocol, which knows no sandbox.

use super::calls;
use anyhow::{Context, ensure};
use keeper::protocol::{
    RunChange, RunChangeKind, RunFile, RunGrant, RunInput, RunLack, RunLimit, RunLimits, RunOrder, RunUsage,
    RunVerdict, Word,
};
use sandbox::network::Destination;
use sandbox::outcome::{ChangeKind, Changed, Limit};
use sandbox::{Access, FileIn, Grant, Lack, Limits, Network, Order, Usage, Verdict, View, Wall};
use std::time::Duration;

/// As it is sent; the bytes of files go beside it. `telos exec` knows more of a run than the warden, and records it.
pub fn to_run_order(order: &Order, input: RunInput) -> RunOrder {
    let words = |words: &[std::ffi::OsString]| words.iter().map(|word| Word::new(word)).collect();
    // The warden is in another directory.
    let host = |path: &std::path::Path| Word::of_path(&std::path::absolute(path).unwrap_or_else(|_| path.into()));
    RunOrder {
        program: words(&order.program),
        environment: order.environment.iter().map(|(name, value)| (Word::new(name), Word::new(value))).collect(),
        directory: Word::of_path(&order.directory),
        grants: order.view.grants.iter().map(|grant| to_run_grant(grant, host(&grant.host))).collect(),
        files: order.view.files.iter().map(to_run_file).collect(),
        network: match &order.network {
            Network::None => Vec::new(),
            Network::Allowed(destinations) => destinations.iter().map(Destination::to_string).collect(),
        },
        sockets: calls::to_run_sockets(&order.sockets),
        limits: to_run_limits(&order.limits),
        allows_weaker: order.allows_weaker,
        input,
        records_itself: true,
    }
}

fn to_run_grant(grant: &Grant, host: Word) -> RunGrant {
    RunGrant { host, inside: Word::of_path(&grant.inside), is_layered: grant.access == Access::Layered }
}

fn to_run_file(file: &FileIn) -> RunFile {
    RunFile { inside: Word::of_path(&file.inside), length_bytes: file.bytes.len(), is_executable: file.is_executable }
}

fn to_run_limits(limits: &Limits) -> RunLimits {
    let milliseconds = |time: Option<Duration>| time.map(|time| time.as_millis() as u64);
    RunLimits {
        time_ms: milliseconds(limits.time),
        cpu_ms: milliseconds(limits.cpu),
        memory_bytes: limits.memory_bytes,
        processes: limits.processes,
        open_files: limits.open_files,
        file_bytes: limits.file_bytes,
        disk_bytes: limits.disk_bytes,
        disk_files: limits.disk_files,
        output_bytes: limits.output_bytes,
    }
}

/// As it is run, and what is left of the bytes behind those of the files: what the program reads.
pub fn to_order(order: RunOrder, bytes: &[u8]) -> anyhow::Result<(Order, &[u8])> {
    let mut rest = bytes;
    let mut files = Vec::new();
    for file in order.files {
        ensure!(file.length_bytes <= rest.len(), "the order has fewer bytes than its files");
        let (bytes, behind) = rest.split_at(file.length_bytes);
        rest = behind;
        files.push(FileIn {
            inside: file.inside.into_path(),
            bytes: bytes.to_vec(),
            is_executable: file.is_executable,
        });
    }
    if let RunInput::Bytes(count) = order.input {
        let there = rest.len();
        ensure!(count == there, "the order says that the program reads {count} bytes, and {there} came with it");
    }
    let grants = order.grants.into_iter().map(|grant| Grant {
        host: grant.host.into_path(),
        inside: grant.inside.into_path(),
        access: if grant.is_layered { Access::Layered } else { Access::Read },
    });
    let destinations: Vec<Destination> =
        order.network.iter().map(|text| text.parse()).collect::<Result<_, _>>().context("the order's network")?;
    let order = Order {
        program: order.program.into_iter().map(Word::into_word).collect(),
        environment: order.environment.into_iter().map(|(name, value)| (name.into_word(), value.into_word())).collect(),
        directory: order.directory.into_path(),
        view: View { grants: grants.collect(), files, ..View::default() },
        network: if destinations.is_empty() { Network::None } else { Network::Allowed(destinations) },
        sockets: calls::to_sockets(order.sockets)?,
        limits: to_limits(&order.limits),
        allows_weaker: order.allows_weaker,
    };
    Ok((order, rest))
}

fn to_limits(limits: &RunLimits) -> Limits {
    Limits {
        time: limits.time_ms.map(Duration::from_millis),
        cpu: limits.cpu_ms.map(Duration::from_millis),
        memory_bytes: limits.memory_bytes,
        processes: limits.processes,
        open_files: limits.open_files,
        file_bytes: limits.file_bytes,
        disk_bytes: limits.disk_bytes,
        disk_files: limits.disk_files,
        output_bytes: limits.output_bytes,
    }
}

const LIMITS: [(Limit, RunLimit); 4] = [
    (Limit::Time, RunLimit::Time),
    (Limit::Cpu, RunLimit::Cpu),
    (Limit::Memory, RunLimit::Memory),
    (Limit::Output, RunLimit::Output),
];

pub fn to_run_verdict(verdict: &Verdict) -> RunVerdict {
    match verdict {
        Verdict::Exited(code) => RunVerdict::Exited(*code),
        Verdict::Signalled(signal) => RunVerdict::Signalled(*signal),
        Verdict::Stopped => RunVerdict::Stopped,
        Verdict::Limited(limit) => {
            let found = LIMITS.iter().find(|(ours, _)| ours == limit);
            RunVerdict::Limited(found.map_or(RunLimit::Time, |(_, theirs)| *theirs))
        }
    }
}

pub fn to_verdict(verdict: RunVerdict) -> Verdict {
    match verdict {
        RunVerdict::Exited(code) => Verdict::Exited(code),
        RunVerdict::Signalled(signal) => Verdict::Signalled(signal),
        RunVerdict::Stopped => Verdict::Stopped,
        RunVerdict::Limited(limit) => {
            let found = LIMITS.iter().find(|(_, theirs)| *theirs == limit);
            Verdict::Limited(found.map_or(Limit::Time, |(ours, _)| *ours))
        }
    }
}

pub fn to_run_usage(usage: &Usage) -> RunUsage {
    let microseconds = |time: Duration| time.as_micros() as u64;
    RunUsage {
        time_us: microseconds(usage.time),
        user_us: microseconds(usage.user),
        system_us: microseconds(usage.system),
        memory_bytes: usage.memory_bytes,
        output_bytes: usage.output_bytes,
    }
}

pub fn to_usage(usage: &RunUsage) -> Usage {
    Usage {
        time: Duration::from_micros(usage.time_us),
        user: Duration::from_micros(usage.user_us),
        system: Duration::from_micros(usage.system_us),
        memory_bytes: usage.memory_bytes,
        output_bytes: usage.output_bytes,
    }
}

pub fn to_run_lack(lack: &Lack) -> RunLack {
    RunLack { wall: format!("{:?}", lack.wall), why: lack.why.clone(), remedy: lack.remedy.clone() }
}

/// `None` for a wall that only a newer telos knows.
pub fn to_lack(lack: RunLack) -> Option<Lack> {
    let wall = Wall::ALL.iter().copied().find(|wall| format!("{wall:?}") == lack.wall)?;
    Some(Lack { wall, why: lack.why, remedy: lack.remedy })
}

/// With the bytes of a file.
pub fn to_run_change(change: Changed) -> (RunChange, Vec<u8>) {
    let Changed { grant, path, mut kind } = change;
    let content = match &mut kind {
        ChangeKind::File { bytes, .. } => std::mem::take(bytes),
        _ => Vec::new(),
    };
    (RunChange { grant, path: Word::of_path(&path), kind: RunChangeKind::Of(kind) }, content)
}

/// Adds a change to those before it, or more bytes to the last of them.
pub fn add_change(changes: &mut Vec<Changed>, change: RunChange, content: Vec<u8>) {
    let RunChange { grant, path, kind } = change;
    if let RunChangeKind::Of(kind) = kind {
        changes.push(Changed { grant, path: path.into_path(), kind });
    }
    if let Some(Changed { kind: ChangeKind::File { bytes, .. }, .. }) = changes.last_mut() {
        bytes.extend(content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_arrives_as_it_was_sent() {
        let mut order = Order { program: vec!["cat".into(), "x".into()], directory: "/tmp".into(), ..Order::default() };
        order.environment.push(("A".into(), "b".into()));
        order.view.grants.push(Grant { host: "/a".into(), inside: "/b".into(), access: Access::Layered });
        for bytes in ["one", "two"] {
            let inside = format!("/tmp/{bytes}").into();
            order.view.files.push(FileIn { inside, bytes: bytes.into(), is_executable: bytes == "two" });
        }
        order.network = Network::Allowed(vec!["example.org:443".parse().unwrap()]);
        order.sockets = sandbox::network::sockets::Sockets::Blocked;
        order.limits.memory_bytes = None;
        let sent = to_run_order(&order, RunInput::Bytes(2));
        let (read, rest) = to_order(sent, b"onetwohi").unwrap();
        assert_eq!((format!("{read:?}"), rest), (format!("{order:?}"), &b"hi"[..]));
    }

    /// A program that was to read more than there was read what there was, and nobody knew.
    #[test]
    fn an_order_with_other_bytes_than_it_says_is_refused() {
        let order = Order { program: vec!["cat".into()], ..Order::default() };
        for count in [0, 2, 4, usize::MAX] {
            let refused = to_order(to_run_order(&order, RunInput::Bytes(count)), b"abc").unwrap_err().to_string();
            assert!(refused.contains(&format!("reads {count} bytes, and 3 came")), "{refused}");
        }
        assert!(to_order(to_run_order(&order, RunInput::Bytes(3)), b"abc").is_ok());
    }

    #[test]
    fn every_wall_and_verdict_comes_back() {
        for wall in Wall::ALL {
            let lack = Lack { wall: *wall, why: "a".into(), remedy: "b".into() };
            assert_eq!(to_lack(to_run_lack(&lack)), Some(lack));
        }
        let limits = LIMITS.iter().map(|(limit, _)| Verdict::Limited(*limit));
        for verdict in limits.chain([Verdict::Exited(3), Verdict::Signalled(9), Verdict::Stopped]) {
            assert_eq!(to_verdict(to_run_verdict(&verdict)), verdict);
        }
    }

    #[test]
    fn a_long_file_is_put_together_again() {
        let file =
            Changed { grant: 1, path: "a".into(), kind: ChangeKind::File { bytes: b"12".to_vec(), mode: 0o644 } };
        let (change, bytes) = to_run_change(file);
        let more = RunChange { kind: RunChangeKind::More, ..change.clone() };
        let mut changes = Vec::new();
        add_change(&mut changes, change, bytes);
        add_change(&mut changes, more, b"345".to_vec());
        assert!(matches!(&changes[..], [Changed { kind: ChangeKind::File { bytes, .. }, .. }] if bytes == b"12345"));
    }
}
