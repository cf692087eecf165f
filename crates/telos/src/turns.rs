//! The queue of an image's scheduler, seen from outside: when a turn is due, how a coroutine that cannot have its turn is set
//! aside, and how all of them rest. No program runs for any of it, so there is none that can fail.

use language::{Value, Vm};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The coroutines that can run, and those that sleep.
const QUEUES: [&str; 2] = ["yieldingCoros", "timers"];

/// When the scheduler has something to do: at once, when the first timer is due, or not at all.
pub fn next(vm: &mut Vm) -> Option<Duration> {
    let scheduler = vm.get_slot(vm.lobby(), "Scheduler")?;
    let [ready, timers] = QUEUES;
    if first_of(vm, scheduler, ready).is_some() {
        return Some(Duration::ZERO);
    }
    let first = first_of(vm, scheduler, timers)?;
    let due = vm.number_of(vm.list_of(first)?.first().copied()?)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    Duration::try_from_secs_f64((due - now).max(0.0)).ok()
}

/// Takes the coroutine whose turn it is out of its queue. It stays where it is suspended, and whoever has it may resume it.
pub fn set_aside(vm: &mut Vm) {
    let Some(scheduler) = vm.get_slot(vm.lobby(), "Scheduler") else { return };
    let Some(name) = QUEUES.into_iter().find(|name| first_of(vm, scheduler, name).is_some()) else { return };
    let Some(queue) = vm.get_slot(scheduler, name) else { return };
    let rest: Vec<Value> = vm.list_of(queue).unwrap_or_default().iter().skip(1).copied().collect();
    let shorter = vm.list(rest);
    vm.set_slot(scheduler, name, shorter);
    // The library has the same list there too.
    let Some(coroutine) = vm.get_slot(vm.core(), "Coroutine") else { return };
    if vm.get_slot(coroutine, name) == Some(queue) {
        vm.set_slot(coroutine, name, shorter);
    }
}

/// Whether any coroutine can run, or sleeps.
pub fn is_any(vm: &mut Vm) -> bool {
    let Some(scheduler) = vm.get_slot(vm.lobby(), "Scheduler") else { return false };
    QUEUES.into_iter().any(|name| first_of(vm, scheduler, name).is_some())
}

/// Empties the queues. Those that were in them stay where they are suspended.
pub fn rest(vm: &mut Vm) {
    let Some(scheduler) = vm.get_slot(vm.lobby(), "Scheduler") else { return };
    for name in QUEUES {
        if first_of(vm, scheduler, name).is_some()
            && let Some(queue) = vm.get_slot(scheduler, name)
        {
            vm.list_clear(queue);
        }
    }
}

fn first_of(vm: &mut Vm, scheduler: Value, queue: &str) -> Option<Value> {
    let queue = vm.get_slot(scheduler, queue)?;
    vm.list_of(queue)?.first().copied()
}
