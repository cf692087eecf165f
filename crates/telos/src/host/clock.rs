//! The clock and the local time zone: what Date cannot compute, and sleeping.

use super::read::WAIT_SLICE;
use super::{Row, Shared};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use language::{Args, NONE, ONE, Outcome, Signal, Value, Vm, Zone, ZoneAt};
use std::cell::OnceCell;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub const SYSTEM_TABLE: &[Row] = &[("sleep", ONE, sleep)];

pub const DATE_TABLE: &[Row] = &[
    ("now", NONE, |vm, args| {
        own(vm, &args)?;
        vm.set_date_seconds(args.target, now());
        Ok(args.target)
    }),
    ("clock", NONE, |_, _| {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Ok(Value::number(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9))
    }),
    ("secondsSinceNow", NONE, |vm, args| Ok(Value::number(now() - own(vm, &args)?))),
    ("isPast", NONE, |vm, args| Ok(Value::boolean(now() > own(vm, &args)?))),
];

fn own(vm: &mut Vm, args: &Args) -> Result<f64, Signal> {
    match vm.date_seconds(args.target) {
        Some(seconds) => Ok(seconds),
        None => Err(vm.raise("not a Date: clone Date first")),
    }
}

pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Sleeps, and looks up now and then whether the program should stop.
fn sleep(vm: &mut Vm, args: Args) -> Outcome {
    let seconds = args.number(vm, 0)?;
    let Ok(length) = Duration::try_from_secs_f64(seconds.max(0.0)) else {
        return Err(vm.raise(format!("cannot sleep for {seconds} seconds")));
    };
    let Some(shared) = vm.extra::<Shared>() else { return Ok(args.target) };
    shared.output.flush();
    let interrupt = shared.interrupt.clone();
    let end = Instant::now().checked_add(length);
    while let Some(left) = end.map(|end| end.saturating_duration_since(Instant::now()))
        && !left.is_zero()
    {
        if interrupt.take() {
            return Err(language::Halt::Interrupted.into());
        }
        std::thread::sleep(left.min(WAIT_SLICE));
    }
    Ok(args.target)
}

/// The zone of this computer, read when it is first needed.
#[derive(Default)]
pub struct LocalZone(OnceCell<TimeZone>);

impl Zone for LocalZone {
    fn at(&self, seconds: f64) -> ZoneAt {
        let zone = self.0.get_or_init(TimeZone::system);
        let info = zone.to_offset_info(Timestamp::from_second(seconds as i64).unwrap_or(Timestamp::UNIX_EPOCH));
        ZoneAt {
            offset_seconds: info.offset().seconds(),
            name: info.abbreviation().to_string(),
            is_daylight_saving: info.dst().is_dst(),
        }
    }
}
