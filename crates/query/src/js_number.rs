//! Numbers as JavaScript writes and rounds them.

/// From here on `toFixed` writes what `String` does.
const LARGEST_FIXED: f64 = 1e21;
/// Below this, whole numbers are neighbours of each other.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;
/// A float has at most this many digits behind the point.
const MOST_FRACTION_DIGITS: usize = 1074;

/// What `String(number)` gives: `0.1`, `1e+21`, `1e-7`, `NaN`, `Infinity`.
pub fn number_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    // Also for -0, which JavaScript writes without its sign.
    if number == 0.0 {
        return "0".to_owned();
    }
    // Whole numbers are most of what is written, and all of these are exact.
    if number.fract() == 0.0 && number.abs() < LARGEST_EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be a whole number that fits")]
        return (number as i64).to_string();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    let (digits, exponent) = shortest_digits(number.abs());
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    // The point is after this many digits.
    let point = exponent + 1;
    // The limits at which ECMAScript changes to an exponent: 1e21 and 1e-7.
    let text = if !(-5..=21).contains(&point) {
        let (first, rest) = digits.split_at(1);
        let fraction = if rest.is_empty() { String::new() } else { format!(".{rest}") };
        format!("{first}{fraction}e{}{}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    } else if point <= 0 {
        format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize))
    } else if point >= count {
        format!("{digits}{}", "0".repeat((point - count).unsigned_abs() as usize))
    } else {
        let (whole, fraction) = digits.split_at(point.unsigned_abs() as usize);
        format!("{whole}.{fraction}")
    };
    format!("{sign}{text}")
}

/// The fewest digits that are read back as the same number, and the power of ten of the first.
fn shortest_digits(number: f64) -> (String, i32) {
    let shortest = format!("{number:e}");
    let count = shortest.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
    // Of several texts of this length JavaScript takes the nearest to the number, and of two the even one.
    let nearest = format!("{number:.*e}", count.saturating_sub(1));
    let written = if nearest.parse() == Ok(number) { nearest } else { shortest };
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let digits = digits.replace('.', "");
    let significant = digits.trim_end_matches('0');
    (if significant.is_empty() { digits.clone() } else { significant.to_owned() }, exponent.parse().unwrap_or_default())
}

/// What `number.toFixed(digits)` gives. Of two equally near numbers the one farther from zero is taken.
pub fn to_fixed(number: f64, digits: usize) -> String {
    if !number.is_finite() || number.abs() >= LARGEST_FIXED {
        return number_text(number);
    }
    let text = fixed_magnitude(number.abs(), digits);
    // `(-0.4).toFixed(0)` is `-0`, `(-0).toFixed(0)` is `0`.
    if number < 0.0 { format!("-{text}") } else { text }
}

fn fixed_magnitude(number: f64, digits: usize) -> String {
    let exact = format!("{number:.MOST_FRACTION_DIGITS$}");
    let point = exact.find('.').unwrap_or(exact.len());
    // Rounded by the exact digits of the float: `1.005` is a little less, and becomes 1.00.
    let behind = exact.as_bytes().get(point + 1 + digits..).unwrap_or_default();
    let cut = if digits == 0 { &exact[..point] } else { &exact[..(point + 1 + digits).min(exact.len())] };
    let padded = format!("{cut}{}", "0".repeat((point + 1 + digits).saturating_sub(exact.len())));
    if behind.first().is_some_and(|digit| *digit >= b'5') { incremented(&padded) } else { padded }
}

/// The decimal number with one more in its last digit.
fn incremented(decimal: &str) -> String {
    let mut digits: Vec<u8> = decimal.bytes().collect();
    for digit in digits.iter_mut().rev() {
        match *digit {
            b'.' => {}
            b'9' => *digit = b'0',
            _ => {
                *digit += 1;
                return String::from_utf8(digits).unwrap_or_default();
            }
        }
    }
    // All digits were nines.
    format!("1{}", String::from_utf8(digits).unwrap_or_default())
}

/// What `Math.round` gives: halves go up, so that −2.5 becomes −2.
pub fn round_half_up(number: f64) -> f64 {
    // Not `number + 0.5`, which rounds 0.49999999999999994 up.
    let floor = number.floor();
    if number - floor >= 0.5 { floor + 1.0 } else { floor }
}

/// A number as `Intl.NumberFormat` writes it in English: with at least and at most this many digits behind the point,
/// rounded by its shortest decimal form, halves away from zero.
pub fn decimal_text(number: f64, least: usize, most: usize, grouping: bool) -> String {
    let sign = if number.is_sign_negative() && !number.is_nan() { "-" } else { "" };
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return format!("{sign}∞");
    }
    let rounded = rounded_decimal(number.abs(), most);
    let (whole, fraction) = rounded.split_once('.').unwrap_or((&rounded, ""));
    let mut fraction = fraction.trim_end_matches('0').to_owned();
    while fraction.len() < least {
        fraction.push('0');
    }
    let whole = if grouping { grouped(whole) } else { whole.to_owned() };
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

fn rounded_decimal(number: f64, most: usize) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    // `Intl` rounds the decimal that is shown, unlike `toFixed`.
    let (digits, exponent) = shortest_digits(number);
    let decimal = if exponent < 0 {
        format!("0.{}{digits}", "0".repeat((-exponent - 1).unsigned_abs() as usize))
    } else {
        let whole = exponent.unsigned_abs() as usize + 1;
        let padded = format!("{digits}{}", "0".repeat(whole.saturating_sub(digits.len())));
        let (whole, fraction) = padded.split_at(whole);
        format!("{whole}.{fraction}")
    };
    let point = decimal.find('.').unwrap_or(decimal.len());
    let end = point + 1 + most;
    match decimal.as_bytes().get(end) {
        None => decimal,
        Some(next) => {
            let cut = decimal[..end].trim_end_matches('.');
            if *next >= b'5' { incremented(cut) } else { cut.to_owned() }
        }
    }
}

/// `1,234,567`
fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Each was asked of Node 20.
    #[test]
    fn numbers_are_written_as_javascript_writes_them() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-12.5, "-12.5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1e23, "1e+23"),
            (1.5e22, "1.5e+22"),
            (0.000_001, "0.000001"),
            (1e-7, "1e-7"),
            (1.5e-7, "1.5e-7"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (5e-324, "5e-324"),
            (-133_907.857_142_857_13 * 1e9, "-133907857142857.12"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(number_text(number), text);
        }
    }

    #[test]
    fn fixed_digits_are_those_of_the_exact_number() {
        for (number, digits, text) in [
            (1.005, 2, "1.00"),
            (2.675, 2, "2.67"),
            (1.125, 2, "1.13"),
            (0.5, 0, "1"),
            (2.5, 0, "3"),
            (-2.5, 0, "-3"),
            (9.995, 2, "9.99"),
            (9.999, 2, "10.00"),
            (0.0, 2, "0.00"),
            (-0.4, 0, "-0"),
            (1e21, 2, "1e+21"),
            (123.456, 1, "123.5"),
        ] {
            assert_eq!(to_fixed(number, digits), text, "{number} {digits}");
        }
    }

    #[test]
    fn english_decimals_are_rounded_by_their_shortest_form() {
        for (number, least, most, text) in [
            (1.005, 2, 2, "1.01"),
            (123_456.789, 2, 2, "123,456.79"),
            (0.0, 0, 3, "0"),
            (1500.0, 0, 3, "1,500"),
            (1.0004, 0, 3, "1"),
            (0.9995, 0, 3, "1"),
            (-0.001, 2, 2, "-0.00"),
            (1e21, 0, 0, "1,000,000,000,000,000,000,000"),
            (0.05, 0, 0, "0"),
            (0.5, 0, 0, "1"),
        ] {
            assert_eq!(decimal_text(number, least, most, true), text, "{number}");
        }
    }

    #[test]
    fn halves_are_rounded_up() {
        for (number, rounded) in
            [(2.5, 3.0), (-2.5, -2.0), (0.499_999_999_999_999_94, 0.0), (-0.5, 0.0), (1e300, 1e300)]
        {
            assert_eq!(round_half_up(number), rounded);
        }
    }

    proptest! {
        #[test]
        fn a_written_number_is_read_as_the_same(number in any::<f64>()) {
            let read: f64 = number_text(number).replace("Infinity", "inf").parse().unwrap();
            prop_assert!(read == number || number.is_nan());
            to_fixed(number, 3);
            decimal_text(number, 0, 3, true);
        }
    }
}
