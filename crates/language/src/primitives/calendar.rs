//! The calendar behind Date: years to seconds and back, and both to text. Knows neither clock nor objects.

use crate::host::ZoneAt;
use jiff::civil::DateTime;
use jiff::fmt::strtime::{BrokenDownTime, Config};
use jiff::tz::Offset;
use jiff::{Timestamp, civil};

/// A field of a date as people read it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

impl Part {
    pub fn name(self) -> &'static str {
        match self {
            Part::Year => "year",
            Part::Month => "month",
            Part::Day => "day",
            Part::Hour => "hour",
            Part::Minute => "minute",
            Part::Second => "second",
        }
    }
}

/// What a calendar and a clock on the wall show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Year, month, day, hour, minute, whole second; a day may be past the end of its month until it is normalised.
    parts: [i64; 6],
    fraction: f64,
}

impl Moment {
    /// From seconds since 1970 as shown, with the zone's offset already added.
    pub fn new(shown_seconds: f64) -> Option<Moment> {
        let whole = shown_seconds.floor();
        let at = Offset::UTC.to_datetime(Timestamp::from_second(whole as i64).ok()?);
        let parts = [
            at.year().into(),
            at.month().into(),
            at.day().into(),
            at.hour().into(),
            at.minute().into(),
            at.second().into(),
        ];
        Some(Moment { parts, fraction: shown_seconds - whole })
    }

    pub fn get(&self, part: Part) -> f64 {
        let fraction = if part == Part::Second { self.fraction } else { 0.0 };
        self.parts[part as usize] as f64 + fraction
    }

    pub fn set(&mut self, part: Part, number: f64) {
        self.parts[part as usize] = number.floor() as i64;
        if part == Part::Second {
            self.fraction = number.fract();
        }
    }

    /// The smallest and largest whole number that a part can be set to.
    pub fn range(&self, part: Part) -> (f64, f64) {
        match part {
            Part::Year => (-9998.0, 9998.0),
            Part::Month => (1.0, 12.0),
            Part::Day => (1.0, self.days_in_month()),
            Part::Hour => (0.0, 23.0),
            Part::Minute | Part::Second => (0.0, 59.0),
        }
    }

    fn days_in_month(&self) -> f64 {
        let [year, month, ..] = self.parts;
        civil::Date::new(year as i16, month as i8, 1).map_or(31.0, |first| first.days_in_month().into())
    }

    /// Seconds since 1970 as shown. A day that the month does not have counts on into the next.
    pub fn seconds(&self) -> Option<f64> {
        let [year, month, day, hour, minute, second] = self.parts;
        let first = civil::Date::new(year as i16, month as i8, 1).ok()?.at(0, 0, 0, 0);
        let start = Offset::UTC.to_timestamp(first).ok()?.as_second();
        let seconds = start + ((day - 1) * 24 + hour) * 3600 + minute * 60 + second;
        Some(seconds as f64 + self.fraction)
    }

    /// As strftime writes it in the C locale. Conversions that it does not know stay as they are.
    pub fn text(&self, format: &str, zone: &ZoneAt) -> String {
        let Some(at) = self.civil() else { return String::new() };
        let Ok(offset) = Offset::from_seconds(zone.offset_seconds) else { return String::new() };
        let mut broken_down = BrokenDownTime::from(at);
        broken_down.set_offset(Some(offset));
        let format = expand(format, &zone.name.replace('%', "%%"));
        let config = Config::new().lenient(true);
        broken_down.to_string_with_config(&config, format).unwrap_or_default()
    }

    fn civil(&self) -> Option<DateTime> {
        let [year, month, day, hour, minute, second] = self.parts;
        let nanoseconds = ((self.fraction * 1e9) as i32).clamp(0, 999_999_999);
        let (hour, minute, second) = (hour as i8, minute as i8, second as i8);
        DateTime::new(year as i16, month as i8, day as i8, hour, minute, second, nanoseconds).ok()
    }
}

/// Writes out the conversions that mean several others, and the zone's name.
fn expand(format: &str, zone_name: &str) -> String {
    let mut expanded = String::with_capacity(format.len());
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            expanded.push(character);
            continue;
        }
        match characters.next() {
            Some('c') => expanded.push_str("%a %b %e %H:%M:%S %Y"),
            Some('x') => expanded.push_str("%m/%d/%y"),
            Some('X') => expanded.push_str("%H:%M:%S"),
            Some('r') => expanded.push_str("%I:%M:%S %p"),
            Some('Z') => expanded.push_str(zone_name),
            Some(other) => expanded.extend(['%', other]),
            // A lone % at the end is itself.
            None => expanded.push_str("%%"),
        }
    }
    expanded
}

/// Reads text as strptime does; what is missing is the start of 1900. The second value is the offset, where the text
/// has one.
pub fn parse(text: &str, format: &str) -> Result<(f64, Option<f64>), String> {
    let format = expand(format.strip_suffix("%Z").unwrap_or(format), "");
    let (read, _) = BrokenDownTime::parse_prefix(format.trim_end(), text).map_err(|error| error.to_string())?;
    let moment = Moment {
        parts: [
            read.year().unwrap_or(1900).into(),
            read.month().unwrap_or(1).into(),
            read.day().unwrap_or(1).into(),
            read.hour().unwrap_or(0).into(),
            read.minute().unwrap_or(0).into(),
            read.second().unwrap_or(0).into(),
        ],
        fraction: f64::from(read.subsec_nanosecond().unwrap_or(0)) / 1e9,
    };
    let seconds = match read.to_timestamp() {
        Ok(timestamp) if read.offset().is_none() => return Ok((timestamp.as_second() as f64, Some(0.0))),
        _ => moment.seconds().ok_or("no such date in years up to 9999")?,
    };
    Ok((seconds, read.offset().map(|offset| offset.seconds().into())))
}

/// A zone that is a fixed distance from Greenwich.
pub fn fixed_zone(minutes_west: f64) -> ZoneAt {
    let offset_seconds = (-minutes_west * 60.0).clamp(-86_400.0, 86_400.0) as i32;
    let name = if offset_seconds == 0 { "UTC".to_string() } else { offset_text(offset_seconds) };
    ZoneAt { offset_seconds, name, is_daylight_saving: false }
}

/// `+0130` for an hour and a half east.
pub fn offset_text(offset_seconds: i32) -> String {
    let sign = if offset_seconds < 0 { '-' } else { '+' };
    let minutes = offset_seconds.abs() / 60;
    format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(seconds: f64, format: &str) -> String {
        Moment::new(seconds).unwrap().text(format, &fixed_zone(0.0))
    }

    #[test]
    fn formats_as_the_c_locale_does() {
        let second = 1_234_567_890.5;
        assert_eq!(text(second, "%Y-%m-%d %H:%M:%S %Z"), "2009-02-13 23:31:30 UTC");
        assert_eq!(text(second, "%c|%x|%X|%r"), "Fri Feb 13 23:31:30 2009|02/13/09|23:31:30|11:31:30 PM");
        assert_eq!(
            text(second, "%a %A %b %B %j %U %w %W %y %z %% %"),
            "Fri Friday Feb February 044 06 5 06 09 +0000 % %"
        );
        assert_eq!(text(-1.0, "%Y %H"), "1969 23");
    }

    #[test]
    fn a_day_past_its_month_counts_on() {
        let mut moment = Moment::new(0.0).unwrap();
        moment.set(Part::Day, 31.0);
        moment.set(Part::Month, 2.0);
        assert_eq!(text(moment.seconds().unwrap(), "%F"), "1970-03-03");
        assert_eq!(moment.range(Part::Day), (1.0, 28.0));
    }

    #[test]
    fn reads_what_it_writes() {
        assert_eq!(parse("2009-02-13 23:31:30 CET", "%Y-%m-%d %H:%M:%S %Z"), Ok((1_234_567_890.0, None)));
        assert_eq!(parse("13.02.2009", "%d.%m.%Y"), Ok((1_234_483_200.0, None)));
        let (seconds, offset) = parse("2009-02-14T00:31:30+0100", "%Y-%m-%dT%H:%M:%S%z").unwrap();
        assert_eq!(seconds - offset.unwrap(), 1_234_567_890.0);
        assert!(parse("soon", "%Y").is_err());
    }
}
