//! The calls by which a process gives up what it does not need any more, as data: this process carries them out, or they are
//! told to another one, in whatever language it is written, which does. Only calls that are made here can be carried out.

use crate::clone::check;
use crate::seccomp::Instruction;
use rustix::io::Result;
use std::fmt::Write;
use std::os::fd::{AsRawFd, BorrowedFd};

/// One call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    number: libc::c_long,
    arguments: Vec<Argument>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Argument {
    Number(u64),
    /// A pointer to these bytes.
    Bytes(Vec<u8>),
    /// A pointer to a structure that says where a filter is, and how long.
    Filter(Vec<u8>),
    /// The descriptor of the rules that the caller has.
    Rules,
}

use Argument::{Bytes, Filter, Number, Rules};

/// Limits a resource, now and for good.
pub fn limit(resource: u32, value: u64) -> Call {
    let both = [value.to_ne_bytes(), value.to_ne_bytes()].concat();
    Call { number: libc::SYS_prlimit64, arguments: vec![Number(0), Number(resource.into()), Bytes(both), Number(0)] }
}

/// Takes a capability away from all that will ever be started.
pub fn never_have(capability: u32) -> Call {
    control(libc::PR_CAPBSET_DROP, [capability.into(), 0])
}

pub fn hand_on_no_capabilities() -> Call {
    control(libc::PR_CAP_AMBIENT, [libc::PR_CAP_AMBIENT_CLEAR_ALL as u64, 0])
}

/// Gives all capabilities up.
pub fn have_no_capabilities() -> Call {
    have_capabilities(0)
}

/// Gives all capabilities up but one, which programs that are started get too with `hand_on`.
pub fn have_one_capability(capability: u32) -> Call {
    have_capabilities(1 << capability)
}

fn have_capabilities(bits: u64) -> Call {
    const VERSION: u32 = 0x2008_0522;
    let header = [VERSION.to_ne_bytes(), 0u32.to_ne_bytes()].concat();
    let (low, high) = (bits as u32, (bits >> 32) as u32);
    // Effective, permitted and inheritable ones, of each half.
    let sets = [low, low, low, high, high, high].map(u32::to_ne_bytes).concat();
    Call { number: libc::SYS_capset, arguments: vec![Bytes(header), Bytes(sets)] }
}

/// Programs that are started have this capability, too.
pub fn hand_on(capability: u32) -> Call {
    control(libc::PR_CAP_AMBIENT, [libc::PR_CAP_AMBIENT_RAISE as u64, capability.into()])
}

pub fn get_no_new_privileges() -> Call {
    control(libc::PR_SET_NO_NEW_PRIVS, [1, 0])
}

pub fn be_opaque() -> Call {
    control(libc::PR_SET_DUMPABLE, [0, 0])
}

/// Ends when the thread that made this process ends. Whoever changes its user afterwards takes that back.
pub fn end_with_parent() -> Call {
    control(libc::PR_SET_PDEATHSIG, [libc::SIGKILL as u64, 0])
}

/// Gives up the rights to files that landlock's rules do not leave.
pub fn keep_to_rules() -> Call {
    Call { number: libc::SYS_landlock_restrict_self, arguments: vec![Rules, Number(0)] }
}

/// Goes behind a filter of calls.
pub fn be_filtered(filter: &[Instruction]) -> Call {
    let bytes = filter.iter().flat_map(|one| {
        let [a, b] = one.code.to_ne_bytes();
        let [c, d, e, f] = one.k.to_ne_bytes();
        [a, b, one.jt, one.jf, c, d, e, f]
    });
    let arguments = vec![Number(libc::SECCOMP_SET_MODE_FILTER.into()), Number(0), Filter(bytes.collect())];
    Call { number: libc::SYS_seccomp, arguments }
}

fn control(option: libc::c_int, arguments: [u64; 2]) -> Call {
    let [first, second] = arguments;
    let arguments = vec![Number(option as u64), Number(first), Number(second), Number(0), Number(0)];
    Call { number: libc::SYS_prctl, arguments }
}

impl Call {
    /// Carries it out in the calling thread, without asking for memory.
    pub fn perform(&self, rules: Option<BorrowedFd<'_>>) -> Result<()> {
        let mut filter = libc::sock_fprog { len: 0, filter: std::ptr::null_mut() };
        let mut words = [0u64; 6];
        for (word, argument) in words.iter_mut().zip(&self.arguments) {
            *word = match argument {
                Number(number) => *number,
                Bytes(bytes) => bytes.as_ptr() as u64,
                Filter(bytes) => {
                    filter.len = (bytes.len() / size_of::<Instruction>()) as u16;
                    filter.filter = bytes.as_ptr().cast_mut().cast();
                    (&raw const filter) as u64
                }
                Rules => rules.map_or(u64::MAX, |rules| rules.as_raw_fd() as u64),
            };
        }
        let [a, b, c, d, e, f] = words;
        // SAFETY: only calls that are made above can be here. Each only reads what its pointers lead to, which lives and is
        // as long as it expects, and takes something away from this process.
        check(unsafe { libc::syscall(self.number, a, b, c, d, e, f) })
    }

    /// A line for another process: the call's number, then each argument: a number, `b` and bytes in hexadecimal for a pointer
    /// to them, `f` and bytes for one to a structure with the number of eights of them and a pointer to them, `r` for the
    /// rules.
    pub fn told(&self) -> String {
        let mut line = self.number.to_string();
        for argument in &self.arguments {
            // Writing to a String never fails.
            let _ = match argument {
                Number(number) => write!(line, " {number}"),
                Bytes(bytes) => write!(line, " b{}", hexadecimal(bytes)),
                Filter(bytes) => write!(line, " f{}", hexadecimal(bytes)),
                Rules => write!(line, " r"),
            };
        }
        line
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_told_with_its_bytes() {
        let prctl = libc::SYS_prctl;
        assert_eq!(get_no_new_privileges().told(), format!("{prctl} 38 1 0 0 0"));
        assert_eq!(keep_to_rules().told(), format!("{} r 0", libc::SYS_landlock_restrict_self));
        let filter = be_filtered(&[crate::seccomp::answer(0x7fff_0000)]).told();
        assert_eq!(filter, format!("{} 1 0 f060000000000ff7f", libc::SYS_seccomp));
    }

    #[test]
    fn a_limit_is_set() {
        let child = crate::clone::clone(0, || {
            let is_set = limit(libc::RLIMIT_CORE, 0).perform(None).is_ok();
            let refused = keep_to_rules().perform(None).is_err();
            i32::from(!(is_set && refused))
        });
        let end = crate::clone::wait(child.unwrap().pid, true).unwrap().unwrap();
        assert_eq!(end.status, 0);
    }
}
