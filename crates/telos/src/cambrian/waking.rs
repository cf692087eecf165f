//! Telling the root object that it is awake, and keeping what went wrong, each in a transaction of its own.

use crate::alarm::Alarm;
use crate::host::end_all_commands;
use crate::options::MachineOptions;
use image::{Cause, Image};
use language::{Error, Kind, Limits, Value, Vm};
use std::time::Duration;
use store::Ticket;

const ROOT: &str = "Telos";
/// What `awake` may use, if the image has no lower limits: requests wait behind it.
const FUEL: u64 = 100_000_000;
const TIME: Duration = Duration::from_secs(10);
/// Where failures are kept in the root object,
const FAILURES: &str = "failures";
/// and in the Lobby, if there is no such object.
const FAILURES_IN_LOBBY: &str = "awakeFailures";
const FAILURES_MAX: usize = 100;
/// So much is kept of one.
const FAILURE_CHARACTERS: usize = 1000;

fn cause(cause: String) -> Cause {
    Cause { author: "telos".into(), cause, ..Cause::default() }
}

pub fn has_root(image: &mut Image, name: &str) -> bool {
    let vm = image.vm_mut();
    vm.get_slot(vm.lobby(), name).is_some()
}

/// Sends `awake`; says what went wrong, if something did, and then nothing of it stays. The commit is not waited for here:
/// whoever is the first to see what it did waits.
pub fn awake(image: &mut Image, options: &MachineOptions) -> Result<Option<Ticket>, String> {
    let limits = options.limits();
    let fuel = Some(limits.fuel.unwrap_or(FUEL).min(FUEL));
    let time = options.timeout.unwrap_or(TIME).min(TIME);
    image.vm_mut().set_limits(Limits { fuel, ..limits });
    let interrupt = image.vm().interrupt();
    let alarm = Alarm::new(move || interrupt.set());
    alarm.set(time);
    let ended = image.attempt(&cause("awake".into()), |vm| {
        let root = vm.get_slot(vm.lobby(), ROOT).unwrap_or(Value::NIL);
        vm.send(root, "awake", &[])
    });
    let is_late = alarm.stop();
    // It may have come too late for this program, and is not meant for another.
    image.vm().interrupt().take();
    match ended {
        Ok(Ok((_, ticket))) => Ok(ticket),
        Ok(Err(error)) => {
            if matches!(error, Error::Halted(_)) {
                end_all_commands();
            }
            let time = if is_late { format!(" after {} s", time.as_secs_f64()) } else { String::new() };
            Err(format!("{error}{time}"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Keeps a failure of the waking in the image, and says where.
pub fn record(image: &mut Image, failure: &str) -> Result<&'static str, String> {
    image.vm_mut().set_limits(Limits::default());
    let cause = cause(format!("awake failed: {}", shortened(failure)));
    let (place, ticket) = image.transact(&cause, |vm| Ok(keep(vm, failure))).map_err(|error| error.to_string())?;
    if let Some(ticket) = ticket {
        image.wait(ticket).map_err(|error| error.to_string())?;
    }
    Ok(place)
}

/// Puts a failure where those who look after an image find it, and says where. No program runs for it, so there is none
/// that can fail.
pub fn keep(vm: &mut Vm, failure: &str) -> &'static str {
    let root = vm.get_slot(vm.lobby(), ROOT).filter(|&root| vm.kind_of(root) == Kind::Object);
    let (holder, slot, place) = match root {
        Some(root) => (root, FAILURES, "Telos failures"),
        None => (vm.lobby(), FAILURES_IN_LOBBY, "Lobby awakeFailures"),
    };
    let earlier = vm.get_slot(holder, slot).and_then(|list| vm.list_of(list).map(|list| list.to_vec()));
    let earlier = earlier.unwrap_or_default();
    let text = vm.symbol(&shortened(failure));
    let first = (earlier.len() + 1).saturating_sub(FAILURES_MAX);
    let list = vm.list(earlier.into_iter().skip(first).chain([text]));
    vm.set_slot(holder, slot, list);
    place
}

fn shortened(failure: &str) -> String {
    failure.chars().take(FAILURE_CHARACTERS).collect()
}
