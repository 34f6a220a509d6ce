//! Integers, floats and decimals as text, without a detour through another kind of number.

use std::io::Write as _;

use super::json::Refusal;

/// Reads a whole number within `range`, spelled as JSON spells integers: no sign but `-`, no leading zeros, nothing around it.
pub(super) fn parse_integer(text: &str, range: (i128, i128)) -> Result<i128, Refusal> {
    if !is_whole(text.strip_prefix('-').unwrap_or(text)) {
        return Err(Refusal::default());
    }
    // What does not fit 128 bits is out of every range.
    text.parse().ok().filter(|value| (range.0..=range.1).contains(value)).ok_or_else(Refusal::default)
}

/// Whether `text` is a JSON integer without its sign.
fn is_whole(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'))
}

/// Reads a JSON number as the nearest `DOUBLE`.
pub(super) fn parse_double(number: &str) -> Result<f64, Refusal> {
    number.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(Refusal::default)
}

/// Reads a JSON number as the nearest `FLOAT`: straight from the text, since rounding twice may end at a neighbour.
pub(super) fn parse_float(number: &str) -> Result<f32, Refusal> {
    number.parse().ok().filter(|value: &f32| value.is_finite()).ok_or_else(Refusal::default)
}

/// Reads the names of what is not a finite number.
pub(super) fn parse_non_finite(text: &str) -> Result<f64, Refusal> {
    match text {
        "NaN" => Ok(f64::NAN),
        "Infinity" => Ok(f64::INFINITY),
        "-Infinity" => Ok(f64::NEG_INFINITY),
        _ => Err(Refusal::default()),
    }
}

/// Reads `[-]digits[.digits]` as an integer of `10^(−scale)`, exactly.
pub(super) fn parse_decimal(text: &str, precision: u8, scale: u8) -> Result<i128, Refusal> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if digits.contains(['e', 'E']) {
        return Err("it must be written without an exponent".into());
    }
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        Some(_) => return Err(Refusal::default()),
        None => (digits, ""),
    };
    if !is_whole(whole) || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refusal::default());
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > usize::from(scale) {
        return Err("it has more digits after the point".into());
    }
    let whole = if whole == "0" { "" } else { whole };
    if whole.len() > usize::from(precision.saturating_sub(scale)) {
        return Err("it has more digits before the point".into());
    }
    // At most 38 digits by the two checks, which an i128 holds.
    let padding = std::iter::repeat_n(b'0', usize::from(scale) - fraction.len());
    let magnitude = whole
        .bytes()
        .chain(fraction.bytes())
        .chain(padding)
        .fold(0_i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
    Ok(if negative { -magnitude } else { magnitude })
}

/// The decimal with `to` digits after the point, if that is the same number.
pub(crate) fn rescale(unscaled: i128, from: u8, to: u8) -> Option<i128> {
    let power = 10_i128.checked_pow(u32::from(from.abs_diff(to)))?;
    if to >= from { unscaled.checked_mul(power) } else { (unscaled % power == 0).then_some(unscaled / power) }
}

/// The same number without zeros at the end of its fraction.
pub(super) fn normalise(mut unscaled: i128, mut scale: u8) -> (i128, u8) {
    // Division of 128 bits is a function call; almost all decimals fit 64.
    if let Ok(mut small) = i64::try_from(unscaled) {
        while scale > 0 && small % 10 == 0 {
            small /= 10;
            scale -= 1;
        }
        return (small.into(), scale);
    }
    while scale > 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    (unscaled, scale)
}

/// Writes a decimal with all digits of its scale.
pub(super) fn write_decimal(unscaled: i128, scale: u8, out: &mut Vec<u8>) {
    if unscaled < 0 {
        out.push(b'-');
    }
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = usize::from(scale) + 1);
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(scale));
    out.extend_from_slice(whole.as_bytes());
    if !fraction.is_empty() {
        out.push(b'.');
        out.extend_from_slice(fraction.as_bytes());
    }
}

/// Writes a `DOUBLE` as the shortest number that reads back to the same bits, or as the name of what is no number.
pub(super) fn write_double(value: f64, out: &mut Vec<u8>) {
    write_shortest(value, format_args!("{value:?}"), out);
}

/// Writes a `FLOAT` likewise: the shortest number whose nearest `FLOAT` it is.
pub(super) fn write_float(value: f32, out: &mut Vec<u8>) {
    write_shortest(value.into(), format_args!("{value:?}"), out);
}

/// The nearest `FLOAT`: of a value that was made of one, just that.
#[expect(clippy::cast_possible_truncation, reason = "the nearest is asked for")]
pub(crate) const fn narrow(value: f64) -> f32 {
    value as f32
}

fn write_shortest(value: f64, shortest: std::fmt::Arguments<'_>, out: &mut Vec<u8>) {
    if value.is_nan() {
        out.extend_from_slice(b"\"NaN\"");
    } else if value.is_infinite() {
        out.extend_from_slice(if value > 0.0 { b"\"Infinity\"" } else { b"\"-Infinity\"" });
    } else {
        // Writing to memory cannot fail.
        let _ = out.write_fmt(shortest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT8: (i128, i128) = (-128, 127);

    #[test]
    fn integers_have_one_spelling() {
        for (text, value) in [("0", 0), ("-0", 0), ("127", 127), ("-128", -128)] {
            assert_eq!(parse_integer(text, INT8), Ok(value));
        }
        for text in ["", "-", " 1", "1 ", "+1", "0x1", "1.0", "1e0", "01", "-01", "1_0", "١", "--1", "128", "-129"] {
            assert!(parse_integer(text, INT8).is_err(), "{text}");
        }
        assert!(parse_integer(&"9".repeat(200), (i128::MIN, i128::MAX)).is_err());
    }

    #[test]
    fn decimals_are_read_exactly() {
        for (text, value) in
            [("0", 0), ("-0.00", 0), ("1", 100), ("1.5", 150), ("-1.50000", -150), ("99999999.99", 9_999_999_999)]
        {
            assert_eq!(parse_decimal(text, 10, 2), Ok(value), "{text}");
        }
        let largest = "9".repeat(38);
        assert_eq!(parse_decimal(&largest, 38, 0), Ok(10_i128.pow(38) - 1));
        assert_eq!(parse_decimal(&format!("0.{largest}"), 38, 38), Ok(10_i128.pow(38) - 1));
        assert_eq!(parse_decimal("0.1", 1, 1), Ok(1));
    }

    #[test]
    fn decimals_that_do_not_fit_or_are_spelled_otherwise_are_refused() {
        assert_eq!(parse_decimal("100000000", 10, 2), Err("it has more digits before the point".into()));
        assert_eq!(parse_decimal("0.001", 10, 2), Err("it has more digits after the point".into()));
        assert_eq!(parse_decimal("1e2", 10, 2), Err("it must be written without an exponent".into()));
        for text in ["", "-", ".5", "5.", "+1", "01", " 1", "1 ", "1,5", "1.5.0", "1.-5", "--1", "NaN", "-.5"] {
            assert!(parse_decimal(text, 10, 2).is_err(), "{text}");
        }
        assert!(parse_decimal("1", 2, 2).is_err());
    }

    #[test]
    fn decimals_are_written_with_their_scale() {
        for (unscaled, scale, text) in [
            (0, 0, "0"),
            (0, 2, "0.00"),
            (5, 2, "0.05"),
            (-5, 2, "-0.05"),
            (12345, 2, "123.45"),
            (-7, 0, "-7"),
            (1, 38, "0.00000000000000000000000000000000000001"),
        ] {
            let mut out = Vec::new();
            write_decimal(unscaled, scale, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn decimals_lose_zeros_of_the_fraction_only() {
        assert_eq!(normalise(1500, 2), (15, 0));
        assert_eq!(normalise(1500, 1), (150, 0));
        assert_eq!(normalise(0, 9), (0, 0));
        assert_eq!(normalise(-1050, 3), (-105, 2));
        assert_eq!(normalise(10_i128.pow(37), 38), (1, 1));
        assert_eq!(rescale(15, 1, 3), Some(1500));
        assert_eq!(rescale(1500, 3, 1), Some(15));
        assert_eq!(rescale(1501, 3, 1), None);
        assert_eq!(rescale(i128::MAX, 0, 1), None);
    }

    #[test]
    fn floats_beyond_their_range_are_refused_and_tiny_ones_rounded() {
        assert!(parse_float("3.4028236e38").is_err());
        assert!(parse_float("1e39").is_err());
        assert_eq!(parse_float("3.4028235e38"), Ok(f32::MAX));
        assert!(parse_double("1e309").is_err());
        assert_eq!(parse_double("1e-400"), Ok(0.0));
        assert_eq!(parse_double("-0.0").map(f64::to_bits), Ok((-0.0_f64).to_bits()));
    }

    #[test]
    fn a_float_is_rounded_once() {
        // Just above the middle of two neighbours; by way of a DOUBLE it would be the middle and go to the even one.
        let text = "1.00000005960464477540000000000000000001";
        assert_eq!(parse_float(text).unwrap().to_bits(), 0x3f80_0001);
        assert_eq!(narrow(text.parse().unwrap()).to_bits(), 0x3f80_0000);
    }
}
