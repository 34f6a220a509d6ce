//! Dates, times of day and moments as text.
//!
//! jiff knows the calendar; the spelling is checked here, since its parsers accept more spellings than one and take a leap
//! second for the second before it. Years before 1 are written with a minus sign and four digits; the year 0000 exists, as in ISO 8601.

use std::io::Write as _;

use jiff::SignedDuration;
use jiff::civil::Date;

use super::json::Refusal;

const EPOCH: Date = Date::constant(1970, 1, 1);
const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// Reads `YYYY-MM-DD` as days since 1970-01-01.
pub(super) fn parse_date(text: &str) -> Result<i32, Refusal> {
    let mut scanner = Scanner(text.as_bytes());
    let days = scanner.date()?;
    scanner.end()?;
    Ok(days)
}

/// Reads `HH:MM:SS[.ffffff]` as microseconds since midnight.
pub(super) fn parse_time(text: &str) -> Result<i64, Refusal> {
    let mut scanner = Scanner(text.as_bytes());
    let micros = scanner.time()?;
    scanner.end()?;
    Ok(micros)
}

/// Reads a date-time of RFC 3339 as microseconds since 1970-01-01T00:00:00Z.
pub(super) fn parse_timestamp(text: &str) -> Result<i64, Refusal> {
    let mut scanner = Scanner(text.as_bytes());
    let days = scanner.date()?;
    scanner.one_of(b"Tt")?;
    let time = scanner.time()?;
    let offset = scanner.offset()?;
    scanner.end()?;
    let micros = i64::from(days) * MICROS_PER_DAY + time - offset;
    let last_day = i64::from(days_of(Date::MAX));
    if micros < i64::from(days_of(Date::MIN)) * MICROS_PER_DAY || micros >= (last_day + 1) * MICROS_PER_DAY {
        return Err("in UTC it is outside of the years -9999 to 9999".into());
    }
    Ok(micros)
}

/// Writes a date, without quotes.
pub(super) fn write_date(days: i32, out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = match EPOCH.checked_add(SignedDuration::from_hours(i64::from(days) * 24)) {
        Ok(date) => {
            let sign = if date.year() < 0 { "-" } else { "" };
            write!(out, "{sign}{:04}-{:02}-{:02}", date.year().unsigned_abs(), date.month(), date.day())
        }
        // No door lets such a day in; should one be stored all the same, it is to be seen and not to be read back.
        Err(_) => write!(out, "1970-01-01{days:+}d"),
    };
}

/// Writes a time of day, without quotes.
pub(super) fn write_time(micros: i64, out: &mut Vec<u8>) {
    let seconds = micros.div_euclid(MICROS_PER_SECOND);
    let fraction = micros.rem_euclid(MICROS_PER_SECOND);
    // Writing to memory cannot fail.
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fraction != 0 {
        let digits = format!(".{fraction:06}");
        out.extend_from_slice(digits.trim_end_matches('0').as_bytes());
    }
}

/// Writes a moment in UTC, without quotes.
pub(super) fn write_timestamp(micros: i64, out: &mut Vec<u8>) {
    // The days of all 64-bit microseconds fit 32 bits.
    write_date(i32::try_from(micros.div_euclid(MICROS_PER_DAY)).unwrap_or(i32::MAX), out);
    out.push(b'T');
    write_time(micros.rem_euclid(MICROS_PER_DAY), out);
    out.push(b'Z');
}

fn days_of(date: Date) -> i32 {
    // Four digits of years make a few million days.
    i32::try_from(date.duration_since(EPOCH).as_secs() / 86_400).unwrap_or(i32::MAX)
}

fn narrow<T: TryFrom<i32>>(number: i32) -> Result<T, Refusal> {
    T::try_from(number).map_err(|_| Refusal::default())
}

/// What of a text is not read yet.
struct Scanner<'a>(&'a [u8]);

impl Scanner<'_> {
    fn date(&mut self) -> Result<i32, Refusal> {
        let negative = self.one_of(b"-").is_ok();
        let year = self.digits(4)?;
        self.one_of(b"-")?;
        let month = self.digits(2)?;
        self.one_of(b"-")?;
        let day = self.digits(2)?;
        if negative && year == 0 {
            return Err("the year 0000 has no sign".into());
        }
        let year = if negative { -year } else { year };
        let date = Date::new(narrow(year)?, narrow(month)?, narrow(day)?);
        date.map(days_of).map_err(|_| "there is no such day".into())
    }

    fn time(&mut self) -> Result<i64, Refusal> {
        let hour = self.digits(2)?;
        self.one_of(b":")?;
        let minute = self.digits(2)?;
        self.one_of(b":")?;
        let second = self.digits(2)?;
        if hour > 23 {
            return Err("hours go from 00 to 23".into());
        }
        if minute > 59 {
            return Err("minutes go from 00 to 59".into());
        }
        if second > 59 {
            return Err("seconds go from 00 to 59; leap seconds have no place".into());
        }
        let seconds = i64::from((hour * 60 + minute) * 60 + second);
        Ok(seconds * MICROS_PER_SECOND + self.fraction()?)
    }

    /// An optional point with one to six digits, in microseconds.
    fn fraction(&mut self) -> Result<i64, Refusal> {
        if self.one_of(b".").is_err() {
            return Ok(0);
        }
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let unit = match count {
            0 => return Err(Refusal::default()),
            1..=6 => [100_000, 10_000, 1_000, 100, 10, 1][count - 1],
            _ => return Err("it has more than 6 decimals".into()),
        };
        Ok(i64::from(self.digits(count)?) * unit)
    }

    /// `Z` or `±HH:MM`, in microseconds east of UTC.
    fn offset(&mut self) -> Result<i64, Refusal> {
        if self.0.is_empty() {
            return Err("it lacks Z or an offset from UTC".into());
        }
        let sign = match self.one_of(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _ => return Ok(0),
        };
        let hours = self.digits(2)?;
        self.one_of(b":")?;
        let minutes = self.digits(2)?;
        if hours > 23 || minutes > 59 {
            return Err("offsets go from -23:59 to +23:59".into());
        }
        Ok(sign * i64::from(hours * 60 + minutes) * 60 * MICROS_PER_SECOND)
    }

    /// Exactly `count` (at most 9) digits.
    fn digits(&mut self, count: usize) -> Result<i32, Refusal> {
        let (digits, rest) = self.0.split_at_checked(count).ok_or_else(Refusal::default)?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(Refusal::default());
        }
        self.0 = rest;
        Ok(digits.iter().fold(0, |sum, digit| sum * 10 + i32::from(digit - b'0')))
    }

    fn one_of(&mut self, accepted: &[u8]) -> Result<u8, Refusal> {
        match self.0.split_first() {
            Some((first, rest)) if accepted.contains(first) => {
                self.0 = rest;
                Ok(*first)
            }
            _ => Err(Refusal::default()),
        }
    }

    fn end(&self) -> Result<(), Refusal> {
        if self.0.is_empty() { Ok(()) } else { Err(Refusal::default()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn dates_are_days_since_1970() {
        for (text, days) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2024-02-29", 19_782),
            ("2000-02-29", 11_016),
            ("0000-01-01", -719_528),
            ("-0001-12-31", -719_529),
            ("-9999-01-01", -4_371_587),
            ("9999-12-31", 2_932_896),
        ] {
            assert_eq!(parse_date(text), Ok(days), "{text}");
            assert_eq!(written(|out| write_date(days, out)), text);
        }
    }

    #[test]
    fn days_that_do_not_exist_are_refused() {
        for text in ["2024-02-30", "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-01", "2024-01-00", "2024-04-31"] {
            assert_eq!(parse_date(text), Err("there is no such day".into()), "{text}");
        }
    }

    #[test]
    fn dates_have_one_spelling() {
        for text in [
            "",
            "2024",
            "2024-01",
            "2024-1-1",
            "20240131",
            "2024-01-31T00:00:00",
            "2024-01-31Z",
            " 2024-01-31",
            "2024-01-31 ",
            "+2024-01-31",
            "-0000-01-01",
            "10000-01-01",
            "-10000-01-01",
            "002024-01-31",
            "2024/01/31",
            "31-01-2024",
            "2024-W05-1",
            "٢٠٢٤-01-31",
        ] {
            assert!(parse_date(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_microseconds_since_midnight() {
        for (text, micros) in [
            ("00:00:00", 0),
            ("23:59:59.999999", MICROS_PER_DAY - 1),
            ("12:34:56.5", 45_296_500_000),
            ("00:00:00.000001", 1),
        ] {
            assert_eq!(parse_time(text), Ok(micros), "{text}");
            assert_eq!(written(|out| write_time(micros, out)), text);
        }
        assert_eq!(parse_time("12:34:56.500"), Ok(45_296_500_000));
    }

    #[test]
    fn times_that_do_not_exist_or_are_spelled_otherwise_are_refused() {
        for text in [
            "24:00:00",
            "23:60:00",
            "23:59:60",
            "12:34",
            "1:02:03",
            "12:34:56.",
            "12:34:56,5",
            "12:34:56.1234567",
            "12:34:56.0000000",
            "12:34:56Z",
            "T12:34:56",
            "",
            " 12:34:56",
            "-1:00:00",
        ] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn moments_are_kept_in_utc() {
        for (text, micros, utc) in [
            ("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"),
            ("1970-01-01T01:00:00+01:00", 0, "1970-01-01T00:00:00Z"),
            ("1969-12-31T18:30:00-05:30", 0, "1970-01-01T00:00:00Z"),
            ("1969-12-31t23:59:59.999999z", -1, "1969-12-31T23:59:59.999999Z"),
            ("1970-01-01T00:00:00-00:00", 0, "1970-01-01T00:00:00Z"),
            ("2024-01-31T12:34:56.123456Z", 1_706_704_496_123_456, "2024-01-31T12:34:56.123456Z"),
            ("-9999-01-01T00:00:00Z", -377_705_116_800_000_000, "-9999-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
        ] {
            assert_eq!(parse_timestamp(text), Ok(micros), "{text}");
            assert_eq!(written(|out| write_timestamp(micros, out)), utc);
        }
    }

    #[test]
    fn moments_without_offset_or_out_of_range_are_refused() {
        assert_eq!(parse_timestamp("2024-01-31T12:00:00"), Err("it lacks Z or an offset from UTC".into()));
        let outside = Err("in UTC it is outside of the years -9999 to 9999".into());
        assert_eq!(parse_timestamp("-9999-01-01T00:00:00+00:01"), outside);
        assert_eq!(parse_timestamp("9999-12-31T23:59:00-00:01"), outside);
        for text in [
            "2024-01-31",
            "2024-01-31 12:00:00Z",
            "2024-01-31T12:00Z",
            "2024-01-31T24:00:00Z",
            "2016-12-31T23:59:60Z",
            "2024-02-30T00:00:00Z",
            "2024-01-31T12:00:00+1",
            "2024-01-31T12:00:00+01",
            "2024-01-31T12:00:00+0100",
            "2024-01-31T12:00:00+24:00",
            "2024-01-31T12:00:00+01:60",
            "2024-01-31T12:00:00Z[UTC]",
            "2024-01-31T12:00:00.1234567Z",
            "2024-01-31T12:00:00ZZ",
            "2024-01-31T12:00:00 Z",
        ] {
            assert!(parse_timestamp(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_day_that_no_door_lets_in_does_not_read_back() {
        let text = written(|out| write_date(i32::MAX, out));
        assert!(parse_date(&text).is_err(), "{text}");
    }
}
