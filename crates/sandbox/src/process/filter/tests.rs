//! The filter answers as the table says: run here by a small machine of our own, for every number.

use super::*;
use system::calls::{
    SYS_clone, SYS_connect, SYS_execve, SYS_execveat, SYS_fsync, SYS_ioctl, SYS_mknodat, SYS_mount, SYS_prctl,
    SYS_read, SYS_recvmsg, SYS_seccomp, SYS_shmget, SYS_socket, SYS_socketpair, SYS_sync, SYS_syncfs,
};

/// What the kernel would answer to a call.
fn ask(filter: &[Instruction], architecture: u32, number: u32, arguments: [u32; 6]) -> u32 {
    ask_with(filter, architecture, number, arguments, 0)
}

/// The same, with this as the upper half of every argument.
fn ask_with(filter: &[Instruction], architecture: u32, number: u32, arguments: [u32; 6], upper: u32) -> u32 {
    let mut accumulator = 0u32;
    let mut place = 0usize;
    loop {
        let instruction = filter[place];
        place += 1;
        let jump = |is_true: bool| usize::from(if is_true { instruction.jt } else { instruction.jf });
        match instruction.code {
            0x20 => {
                accumulator = match instruction.k {
                    0 => number,
                    4 => architecture,
                    other if other % 8 == 4 => upper,
                    other => arguments[(other as usize - 16) / 8],
                }
            }
            0x54 => accumulator &= instruction.k,
            0x05 => place += instruction.k as usize,
            0x35 => place += jump(accumulator >= instruction.k),
            0x15 => place += jump(accumulator == instruction.k),
            0x45 => place += jump(accumulator & instruction.k != 0),
            0x06 => return instruction.k,
            other => panic!("instruction {other:#x} is none of ours"),
        }
    }
}

fn ask_here(number: i64, arguments: [u32; 6]) -> u32 {
    ask(&compile(&[], false), seccomp::NATIVE, number as u32, arguments)
}

#[test]
fn every_number_is_answered_as_the_table_says() {
    let filter = compile(&[], false);
    assert!(filter.len() < seccomp::MOST_INSTRUCTIONS);
    let checked: Vec<u32> = CHECKED.iter().map(|checked| checked.call as u32).collect();
    for number in (0..700).filter(|number| !checked.contains(number)) {
        let group = GROUPS.iter().find(|group| group.calls.iter().chain(group.old).any(|call| *call as u32 == number));
        let expected = match group.map(|group| group.answer) {
            Some(Answer::Allow) => seccomp::ALLOW,
            Some(Answer::Refuse) => seccomp::NOT_PERMITTED,
            Some(Answer::NoSuchCall) | None => seccomp::NO_SUCH_CALL,
            Some(Answer::Nothing) => seccomp::DONE,
        };
        assert_eq!(ask(&filter, seccomp::NATIVE, number, [0; 6]), expected, "call {number}");
    }
}

/// A run that called `sync` in a loop kept the host's disks busy.
#[test]
fn nothing_of_the_host_is_flushed() {
    for call in [SYS_sync, SYS_syncfs] {
        assert_eq!(ask_here(call, [0; 6]), seccomp::DONE);
    }
    assert_eq!(ask_here(SYS_fsync, [0; 6]), seccomp::ALLOW);
}

/// Who serves a layer marks what was removed by a device without a number, and makes no other.
#[test]
fn who_serves_a_layer_makes_one_device_only() {
    let filter = of_fuse(true);
    let ask = |device| ask(&filter, seccomp::NATIVE, SYS_mknodat as u32, [0, 0, 0o020_000, device, 0, 0]);
    assert_eq!((ask(0), ask(0x103)), (seccomp::ALLOW, seccomp::NOT_PERMITTED));
}

#[test]
fn no_call_stands_in_two_places() {
    let mut calls: Vec<i64> = GROUPS.iter().flat_map(|group| group.calls.iter().chain(group.old)).copied().collect();
    calls.extend(CHECKED.iter().map(|checked| checked.call));
    let count = calls.len();
    calls.sort_unstable();
    calls.dedup();
    assert_eq!(calls.len(), count);
    assert!(GROUPS.iter().all(|group| !group.why.is_empty()) && CHECKED.iter().all(|checked| !checked.why.is_empty()));
}

#[test]
fn other_processors_and_other_doors_end_the_program() {
    let filter = compile(&[], false);
    assert_eq!(ask(&filter, 0x4000_0003, SYS_read as u32, [0; 6]), seccomp::KILL);
    assert_eq!(ask(&filter, seccomp::NATIVE, FOREIGN | SYS_read as u32, [0; 6]), seccomp::KILL);
    assert_eq!(ask(&filter, seccomp::NATIVE, u32::MAX, [0; 6]), seccomp::KILL);
}

#[test]
fn arguments_are_looked_at() {
    assert_eq!(ask_here(SYS_clone, [17, 0, 0, 0, 0, 0]), seccomp::ALLOW);
    for bit in [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000] {
        assert_eq!(ask_here(SYS_clone, [bit | 17, 0, 0, 0, 0, 0]), seccomp::NOT_PERMITTED, "{bit:#x}");
    }
    assert_eq!(ask_here(SYS_ioctl, [0, 0x5401, 0, 0, 0, 0]), seccomp::ALLOW);
    assert_eq!(ask_here(SYS_ioctl, [0, 0x5412, 0, 0, 0, 0]), seccomp::NOT_PERMITTED);
    assert_eq!(ask_here(SYS_prctl, [15, 0, 0, 0, 0, 0]), seccomp::ALLOW);
    assert_eq!(ask_here(SYS_prctl, [35, 0, 0, 0, 0, 0]), seccomp::NOT_PERMITTED);
    assert_eq!(ask_here(SYS_socket, [10, 2 | 0x80000, 0, 0, 0, 0]), seccomp::ALLOW);
    assert_eq!(ask_here(SYS_socket, [2, 3 | 0x80000, 0, 0, 0, 0]), seccomp::NOT_PERMITTED);
    assert_eq!(ask_here(SYS_socket, [16, 2, 0, 0, 0, 0]), seccomp::NO_SUCH_FAMILY);
    for (family, kind, protocol) in [(1, 1, 0), (1, 2, 1), (1, 5, 0), (2, 1, 6), (2, 2, 17), (10, 1, 0), (10, 2, 17)] {
        let answer = ask_here(SYS_socket, [family, kind | 0x80800, protocol, 0, 0, 0]);
        assert_eq!(answer, seccomp::ALLOW, "{family} {kind} {protocol}");
    }
    for (family, kind, protocol) in [(2, 1, 132), (2, 2, 1), (10, 2, 58), (2, 2, 136), (10, 1, 262), (2, 2, 115)] {
        let answer = ask_here(SYS_socket, [family, kind | 0x80800, protocol, 0, 0, 0]);
        assert_eq!(answer, seccomp::NO_SUCH_PROTOCOL, "{family} {kind} {protocol}");
    }
    for (family, kind) in [(2, 5), (10, 5), (2, 6), (10, 4)] {
        assert_eq!(ask_here(SYS_socket, [family, kind, 0, 0, 0, 0]), seccomp::NO_SUCH_KIND, "{family} {kind}");
    }
    assert_eq!(ask_here(SYS_socketpair, [1, 5, 0, 0, 0, 0]), seccomp::ALLOW);
    assert_eq!(ask_here(SYS_socketpair, [2, 5, 132, 0, 0, 0]), seccomp::NOT_SUPPORTED);
    assert_eq!(ask_here(SYS_seccomp, [1, 8, 0, 0, 0, 0]), seccomp::NOT_PERMITTED);
    assert_eq!(ask_here(SYS_seccomp, [1, 1, 0, 0, 0, 0]), seccomp::ALLOW);
}

#[test]
fn calls_can_be_refused_beyond_the_table() {
    let filter = compile(&[SYS_socket], false);
    assert_eq!(ask(&filter, seccomp::NATIVE, SYS_socket as u32, [2, 1, 0, 0, 0, 0]), seccomp::NOT_PERMITTED);
    assert_eq!(ask(&filter, seccomp::NATIVE, SYS_connect as u32, [0; 6]), seccomp::ALLOW);
    assert_eq!(ask(&filter, seccomp::NATIVE, SYS_mount as u32, [0; 6]), seccomp::NOT_PERMITTED);
}

#[test]
fn the_filter_is_short_since_it_is_compiled_for_every_run() {
    assert!(compile(&[], false).len() < 400, "{}", compile(&[], false).len());
}

#[test]
fn without_a_cgroup_shared_segments_are_small() {
    let filter = compile(&[], true);
    let ask = |size, upper| ask_with(&filter, seccomp::NATIVE, SYS_shmget as u32, [0, size, 0, 0, 0, 0], upper);
    assert_eq!(ask(4096, 0), seccomp::ALLOW);
    assert_eq!(ask(65_535, 0), seccomp::ALLOW);
    assert_eq!(
        (ask(65_536, 0), ask(1 << 30, 0), ask(4096, 1)),
        (seccomp::NO_MEMORY, seccomp::NO_MEMORY, seccomp::NO_MEMORY)
    );
    let counted = compile(&[], false);
    assert_eq!(self::ask(&counted, seccomp::NATIVE, SYS_shmget as u32, [0, 1 << 30, 0, 0, 0, 0]), seccomp::ALLOW);
}

#[test]
fn a_dream_has_no_call_that_programs_have_not() {
    let (program, dream) = (compile(&[], false), dreaming());
    for number in 0..700 {
        for first in [0, 1, 4, 17] {
            let of = |filter| ask(filter, seccomp::NATIVE, number, [first, 0, 0, 0, 0, 0]);
            assert!(of(&dream) == of(&program) || of(&dream) == seccomp::NOT_PERMITTED, "call {number} of {first}");
        }
    }
}

#[test]
fn a_dream_starts_no_program_calls_nobody_and_ends_with_its_parent() {
    let filter = dreaming();
    let of = |number, first| ask(&filter, seccomp::NATIVE, number as u32, [first, 1, 0, 0, 0, 0]);
    for call in [SYS_execve, SYS_execveat, SYS_socket, SYS_connect, SYS_shmget, SYS_seccomp] {
        assert_eq!(of(call, 1), seccomp::NOT_PERMITTED, "call {call}");
    }
    const DEATH_SIGNAL: u32 = 1;
    const DUMPABLE: u32 = 4;
    assert_eq!(
        (of(SYS_prctl, DEATH_SIGNAL), of(SYS_prctl, DUMPABLE)),
        (seccomp::NOT_PERMITTED, seccomp::NOT_PERMITTED)
    );
    assert_eq!(
        (of(SYS_clone, 17), of(SYS_recvmsg, 3), of(SYS_socketpair, 1)),
        (seccomp::ALLOW, seccomp::ALLOW, seccomp::ALLOW)
    );
}
