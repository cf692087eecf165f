//! Gives up everything that is not needed any more, before anything foreign runs. The order matters: each step needs what
//! a later one takes away. The steps are data, since a zygote carries them out in a language of its own.

use super::fence;
use super::inside::{Inside, at};
use super::report::{Failure, Step};
use super::start::Purpose;
use super::zygote::NAMESPACES;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit};
use std::sync::OnceLock;
use system::landlock::Rules;
use system::sealing::{self, Call};
use system::seccomp::Instruction;

/// All steps, made before the process that takes them.
/// In a cell nobody can get capabilities any more. Who becomes a program is opaque until then, a dream for good; who is a
/// program already stays as it is.
pub fn steps(
    rlimits: &[(Resource, Rlimit)],
    is_in_cell: bool,
    purpose: Purpose,
    filter: &[Instruction],
) -> Vec<(Step, Call)> {
    let mut steps: Vec<(Step, Call)> = rlimits
        .iter()
        .filter_map(|(resource, limit)| Some((Step::Rlimit, sealing::limit(*resource as u32, limit.current?))))
        .collect();
    if !is_in_cell {
        steps.extend(never_any_capability().map(|call| (Step::Capabilities, call)));
    }
    steps.extend([
        (Step::Capabilities, sealing::hand_on_no_capabilities()),
        (Step::Capabilities, sealing::have_no_capabilities()),
        (Step::Privileges, sealing::get_no_new_privileges()),
    ]);
    steps.extend((purpose != Purpose::Guest).then(|| (Step::Privileges, sealing::be_opaque())));
    // Others look whether the one outside is there.
    steps.extend((purpose == Purpose::Dream).then(|| (Step::Privileges, sealing::end_with_parent())));
    steps.extend([(Step::Landlock, sealing::keep_to_rules()), (Step::Seccomp, sealing::be_filtered(filter))]);
    steps
}

/// Those of who serves a layer, who has no fence: it sees what the run sees, and the run's layer. The capability that it keeps
/// means nothing in a user namespace; who has none may not look into who has one.
pub fn steps_of_fuse(rlimits: &[(Resource, Rlimit)], filter: &[Instruction]) -> Vec<(Step, Call)> {
    const WAKE_ALARM: u32 = 35;
    let limits = rlimits.iter().filter_map(|(resource, limit)| Some(sealing::limit(*resource as u32, limit.current?)));
    let others = (0..=last_capability()).filter(|capability| *capability != WAKE_ALARM).map(sealing::never_have);
    let rest = [
        sealing::have_one_capability(WAKE_ALARM),
        sealing::hand_on(WAKE_ALARM),
        sealing::get_no_new_privileges(),
        sealing::be_filtered(filter),
    ];
    limits.chain(others).chain(rest).map(|call| (Step::Layer, call)).collect()
}

pub fn never_any_capability() -> impl Iterator<Item = Call> {
    (0..=last_capability()).map(sealing::never_have)
}

/// What the zygote's child needs to be where this process is, and as sealed as this one.
fn hand_to_zygote(inside: &mut Inside<'_>, rules: Option<&Rules>) -> Result<(), Failure> {
    let rules = rules.ok_or(Errno::NOSYS).and_then(|rules| rustix::io::fcntl_dupfd_cloexec(rules.descriptor(), 3));
    inside.hand_out(at(Step::Landlock, 0, rules)?);
    for path in NAMESPACES {
        let namespace = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        inside.hand_out(at(Step::Fork, 0, namespace)?);
    }
    Ok(())
}

/// The highest that this kernel knows.
pub fn last_capability() -> u32 {
    static LAST: OnceLock<u32> = OnceLock::new();
    // Where /proc does not tell, it is the last of those that there have been for years.
    const USUAL: u32 = 40;
    *LAST.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/sys/kernel/cap_last_cap").unwrap_or_default();
        text.trim().parse().unwrap_or(USUAL)
    })
}

pub fn close(inside: &mut Inside<'_>) -> Result<(), Failure> {
    let plan = inside.plan;
    let rules = match fence::rules(&plan.fence) {
        Ok(rules) => Some(rules),
        Err(errno) => {
            inside.wall(Step::Landlock, Err(errno))?;
            None
        }
    };
    if plan.purpose == Purpose::Hosted {
        hand_to_zygote(inside, rules.as_ref())?;
    }
    for (step, call) in &plan.steps {
        if let (Step::Seccomp, Some(wires)) = (step, &plan.wires) {
            wires.listen()?;
        }
        let result = match (step, &rules) {
            (Step::Landlock, None) => continue,
            (_, rules) => call.perform(rules.as_ref().map(|rules| rules.descriptor())),
        };
        match step {
            Step::Rlimit => at(Step::Rlimit, 0, result)?,
            step => inside.wall(*step, result)?,
        }
    }
    Ok(())
}
