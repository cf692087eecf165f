//! Date: an instant and the zone it is told in. Calendar arithmetic and text only; the clock is the embedder's.
//!
//! A Date is a record of its seconds since 1970 and the minutes west of Greenwich, which are nil for the local zone.

use super::{Args, NONE, ONE, Row, THREE, TWO, calendar, duration};
use crate::host::ZoneAt;
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use calendar::{Moment, Part};
use object::sequence::{Encoding, ItemType, Sequence};
use object::{Data, Kind, Value};

mod field {
    pub const SECONDS: usize = 0;
    pub const MINUTES_WEST: usize = 1;
    pub const COUNT: usize = 2;
}

const DEFAULT_FORMAT: &str = "%Y-%m-%d %H:%M:%S %Z";

pub const TABLE: &[Row] = &[
    ("year", NONE, |vm, args| read(vm, &args, Part::Year)),
    ("month", NONE, |vm, args| read(vm, &args, Part::Month)),
    ("day", NONE, |vm, args| read(vm, &args, Part::Day)),
    ("hour", NONE, |vm, args| read(vm, &args, Part::Hour)),
    ("minute", NONE, |vm, args| read(vm, &args, Part::Minute)),
    ("second", NONE, |vm, args| read(vm, &args, Part::Second)),
    ("setYear", ONE, |vm, args| write(vm, &args, Part::Year)),
    ("setMonth", ONE, |vm, args| write(vm, &args, Part::Month)),
    ("setDay", ONE, |vm, args| write(vm, &args, Part::Day)),
    ("setHour", ONE, |vm, args| write(vm, &args, Part::Hour)),
    ("setMinute", ONE, |vm, args| write(vm, &args, Part::Minute)),
    ("setSecond", ONE, |vm, args| write(vm, &args, Part::Second)),
    ("zone", NONE, |vm, args| {
        let zone = zone(vm, &args)?;
        Ok(vm.symbol(&zone.name))
    }),
    ("isDaylightSavingsTime", NONE, |vm, args| zone(vm, &args).map(|zone| Value::boolean(zone.is_daylight_saving))),
    ("isDST", NONE, |vm, args| zone(vm, &args).map(|zone| Value::boolean(zone.is_daylight_saving))),
    ("gmtOffsetSeconds", NONE, |vm, args| zone(vm, &args).map(|zone| Value::number(zone.offset_seconds as f64))),
    ("gmtOffset", NONE, |vm, args| {
        let zone = zone(vm, &args)?;
        Ok(vm.symbol(&calendar::offset_text(zone.offset_seconds)))
    }),
    ("setGmtOffset", ONE, set_zone),
    ("convertToZone", TWO, set_zone),
    ("convertToUTC", NONE, |vm, args| put(vm, &args, field::MINUTES_WEST, Value::number(0.0))),
    ("setToUTC", NONE, |vm, args| put(vm, &args, field::MINUTES_WEST, Value::number(0.0))),
    ("convertToLocal", NONE, |vm, args| put(vm, &args, field::MINUTES_WEST, Value::NIL)),
    ("isValidTime", THREE, is_valid_time),
    ("asNumber", NONE, |vm, args| own(vm, &args).map(Value::number)),
    ("fromNumber", ONE, |vm, args| {
        let seconds = args.number(vm, 0)?;
        put(vm, &args, field::SECONDS, Value::number(seconds))
    }),
    ("copy", ONE, |vm, args| {
        let seconds = argument(vm, &args)?;
        let other = vm.handle_of(args.value(vm, 0));
        let west = vm.heap.record(other)[field::MINUTES_WEST];
        put(vm, &args, field::MINUTES_WEST, west)?;
        put(vm, &args, field::SECONDS, Value::number(seconds))
    }),
    ("asString", ONE, as_string),
    ("fromString", TWO, from_string),
    ("asSerialization", NONE, as_serialization),
    ("fromSerialization", ONE, from_serialization),
    ("secondsSince", ONE, |vm, args| Ok(Value::number(own(vm, &args)? - argument(vm, &args)?))),
    ("+", ONE, |vm, args| shifted(vm, &args, 1.0)),
    ("-", ONE, subtract),
    ("+=", ONE, |vm, args| shift(vm, &args, 1.0)),
    ("-=", ONE, |vm, args| shift(vm, &args, -1.0)),
];

/// Makes the prototype.
pub fn install(vm: &mut Vm) {
    let prototype = vm.prototype("Date");
    let date = vm.handle_of(prototype);
    vm.heap.set_data(date, Kind::Object, data(0.0, Value::NIL));
    let format = vm.symbol(DEFAULT_FORMAT);
    vm.set_slot(prototype, "format", format);
}

fn data(seconds: f64, minutes_west: Value) -> Data {
    Data::Record([Value::number(seconds), minutes_west].into_iter().collect())
}

impl Vm {
    /// A new Date in the local zone.
    pub fn date(&mut self, seconds: f64) -> Value {
        let proto = self.prototype("Date");
        let proto = self.handle_of(proto);
        Value::object(self.heap.clone_of(proto, Kind::Object, data(seconds, Value::NIL)))
    }

    /// The seconds since 1970 of a value that is a Date.
    pub fn date_seconds(&self, value: Value) -> Option<f64> {
        match self.heap.object(value.as_handle()?).data() {
            Data::Record(fields) if fields.len() == field::COUNT => fields[field::SECONDS].as_number(),
            _ => None,
        }
    }

    /// Sets a Date to an instant.
    pub fn set_date_seconds(&mut self, value: Value, seconds: f64) {
        if let (Some(_), Some(handle)) = (self.date_seconds(value), value.as_handle()) {
            self.heap.record_set(handle, field::SECONDS, Value::number(seconds));
        }
    }

    fn zone_at(&self, minutes_west: Value, seconds: f64) -> ZoneAt {
        match (minutes_west.as_number(), &self.host.zone) {
            (Some(west), _) => calendar::fixed_zone(west),
            (None, Some(zone)) => {
                self.heap.note_host();
                zone.at(seconds)
            }
            (None, None) => calendar::fixed_zone(0.0),
        }
    }
}

fn own(vm: &mut Vm, args: &Args) -> Result<f64, Signal> {
    match vm.date_seconds(args.target) {
        Some(seconds) => Ok(seconds),
        None => Err(super::refuse(vm, args, "was sent to something that is no Date")),
    }
}

fn argument(vm: &mut Vm, args: &Args) -> Result<f64, Signal> {
    match vm.date_seconds(args.value(vm, 0)) {
        Some(seconds) => Ok(seconds),
        None => Err(args.wrong(vm, 0, "Date")),
    }
}

fn put(vm: &mut Vm, args: &Args, index: usize, value: Value) -> Outcome {
    own(vm, args)?;
    let handle = vm.handle_of(args.target);
    vm.heap.record_set(handle, index, value);
    Ok(args.target)
}

fn minutes_west(vm: &Vm, args: &Args) -> Value {
    let handle = vm.handle_of(args.target);
    vm.heap.record(handle).get(field::MINUTES_WEST).copied().unwrap_or(Value::NIL)
}

fn zone(vm: &mut Vm, args: &Args) -> Result<ZoneAt, Signal> {
    let seconds = own(vm, args)?;
    Ok(vm.zone_at(minutes_west(vm, args), seconds))
}

fn set_zone(vm: &mut Vm, args: Args) -> Outcome {
    let west = args.number(vm, 0)?.trunc();
    put(vm, &args, field::MINUTES_WEST, Value::number(west))
}

fn moment(vm: &mut Vm, args: &Args) -> Result<(Moment, ZoneAt), Signal> {
    let seconds = own(vm, args)?;
    let zone = vm.zone_at(minutes_west(vm, args), seconds);
    match Moment::new(seconds + zone.offset_seconds as f64) {
        Some(moment) => Ok((moment, zone)),
        None => Err(vm.raise(format!("the date {seconds} seconds from 1970 is beyond the year 9999"))),
    }
}

/// Sets the Date to what its zone's calendar and clocks show.
fn put_moment(vm: &mut Vm, args: &Args, shown_seconds: f64) -> Outcome {
    let west = minutes_west(vm, args);
    // The offset at the wanted instant is only known once the instant is: the second look is right but in a gap.
    let guess = shown_seconds - vm.zone_at(west, shown_seconds).offset_seconds as f64;
    let seconds = shown_seconds - vm.zone_at(west, guess).offset_seconds as f64;
    put(vm, args, field::SECONDS, Value::number(seconds))
}

fn read(vm: &mut Vm, args: &Args, part: Part) -> Outcome {
    moment(vm, args).map(|(moment, _)| Value::number(moment.get(part)))
}

fn write(vm: &mut Vm, args: &Args, part: Part) -> Outcome {
    let (mut moment, _) = moment(vm, args)?;
    let number = args.number(vm, 0)?;
    let (low, high) = moment.range(part);
    if !(low..high + 1.0).contains(&number) {
        let name = part.name();
        return Err(vm.raise(format!("{name} must be within range {low}-{high}")));
    }
    moment.set(part, number);
    match moment.seconds() {
        Some(seconds) => put_moment(vm, args, seconds),
        None => Err(vm.raise("no such date in years up to 9999")),
    }
}

fn is_valid_time(vm: &mut Vm, args: Args) -> Outcome {
    let mut is_valid = true;
    for (index, size) in [24.0, 60.0, 60.0].into_iter().enumerate() {
        let number = args.number(vm, index)?.trunc();
        is_valid &= number >= -size && number < size;
    }
    Ok(Value::boolean(is_valid))
}

/// No sensible format is longer, and each of its bytes may become a dozen.
const FORMAT_LIMIT_BYTES: usize = 64 * 1024;

/// Refuses a format that is too long, and charges for it.
pub(super) fn check_format(vm: &mut Vm, format: &str) -> Result<(), Signal> {
    if format.len() > FORMAT_LIMIT_BYTES {
        let bytes = format.len();
        return Err(vm.raise(format!("a format of {bytes} bytes is too long, the limit is {FORMAT_LIMIT_BYTES}")));
    }
    vm.charge(format.len())
}

fn as_string(vm: &mut Vm, args: Args) -> Outcome {
    let (moment, zone) = moment(vm, &args)?;
    let format = match args.count {
        0 => vm.get_slot(args.target, "format").and_then(|format| vm.text_of(format)),
        _ => Some(args.text(vm, 0)?),
    };
    let format = format.unwrap_or_else(|| DEFAULT_FORMAT.to_string());
    check_format(vm, &format)?;
    Ok(vm.symbol(&moment.text(&format, &zone)))
}

fn from_string(vm: &mut Vm, args: Args) -> Outcome {
    let (text, format) = (args.text(vm, 0)?, args.text(vm, 1)?);
    check_format(vm, &format)?;
    vm.charge(text.len())?;
    match calendar::parse(&text, &format) {
        Ok((shown_seconds, None)) => put_moment(vm, &args, shown_seconds),
        Ok((shown_seconds, Some(offset_seconds))) => {
            put(vm, &args, field::SECONDS, Value::number(shown_seconds - offset_seconds))
        }
        Err(why) => Err(vm.raise(format!("\"{text}\" is no date in the format \"{format}\": {why}"))),
    }
}

fn as_serialization(vm: &mut Vm, args: Args) -> Outcome {
    let seconds = own(vm, &args)?;
    let mut sequence = Sequence::with_type(ItemType::Float64, Encoding::Number);
    sequence.append_number(seconds);
    if let Some(west) = minutes_west(vm, &args).as_number() {
        sequence.append_number(west);
    }
    Ok(vm.buffer(sequence))
}

fn from_serialization(vm: &mut Vm, args: Args) -> Outcome {
    let numbers: Vec<f64> = match vm.sequence_of(args.value(vm, 0)) {
        Some(sequence) => sequence.numbers().take(field::COUNT).collect(),
        None => return Err(args.wrong(vm, 0, "Sequence")),
    };
    let Some(&seconds) = numbers.first() else { return Err(vm.raise("an empty Sequence is no serialized Date")) };
    let west = numbers.get(1).map_or(Value::NIL, |&west| Value::number(west));
    put(vm, &args, field::MINUTES_WEST, west)?;
    put(vm, &args, field::SECONDS, Value::number(seconds))
}

fn duration_argument(vm: &mut Vm, args: &Args) -> Result<f64, Signal> {
    match duration::seconds_of(vm, args.value(vm, 0)) {
        Some(seconds) => Ok(seconds),
        None => Err(args.wrong(vm, 0, "Duration")),
    }
}

fn shift(vm: &mut Vm, args: &Args, direction: f64) -> Outcome {
    let seconds = own(vm, args)? + direction * duration_argument(vm, args)?;
    put(vm, args, field::SECONDS, Value::number(seconds))
}

fn shifted(vm: &mut Vm, args: &Args, direction: f64) -> Outcome {
    let seconds = own(vm, args)? + direction * duration_argument(vm, args)?;
    let (proto, west) = (vm.handle_of(args.target), minutes_west(vm, args));
    Ok(Value::object(vm.heap.clone_of(proto, Kind::Object, data(seconds, west))))
}

fn subtract(vm: &mut Vm, args: Args) -> Outcome {
    let other = args.value(vm, 0);
    match vm.date_seconds(other) {
        Some(earlier) => {
            let seconds = own(vm, &args)? - earlier;
            Ok(duration::new(vm, seconds))
        }
        None => shifted(vm, &args, -1.0),
    }
}
