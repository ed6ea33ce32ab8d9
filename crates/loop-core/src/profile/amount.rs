//! Numbers of an output, read digit by digit.

/// Reads a decimal such as `12`, `0.0123` or `1.2e-3` as so many units of `10^-decimals`, rounded
/// up. `None` for a number that is negative or too large, and for what is no number.
pub(super) fn units(text: &str, decimals: i32) -> Option<u64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let point = i64::try_from(whole.len()).ok()? + i64::from(exponent) + i64::from(decimals);
    round_up(&digits, point)
}

/// Reads the first `point` digits as a number, one more if there is something behind them.
fn round_up(digits: &[u8], point: i64) -> Option<u64> {
    let leading = digits.iter().take_while(|digit| **digit == b'0').count();
    let significant = &digits[leading..];
    if significant.is_empty() {
        return Some(0);
    }
    let point = point - i64::try_from(leading).ok()?;
    let Ok(point) = usize::try_from(point) else {
        return Some(1);
    };
    // A u64 has at most 20 digits; this also bounds the loop.
    if point > 20 {
        return None;
    }
    let digit_at = |index: usize| {
        significant
            .get(index)
            .map_or(0, |digit| u64::from(digit - b'0'))
    };
    let number = (0..point).try_fold(0_u64, |number, index| {
        number.checked_mul(10)?.checked_add(digit_at(index))
    })?;
    let rest = significant.iter().skip(point);
    let has_rest = rest.into_iter().any(|digit| *digit != b'0');
    number.checked_add(u64::from(has_rest))
}

/// Reads a count of tokens as tools write it for people, such as `1234`, `1.0k` or `2.5M`.
pub(super) fn written_tokens(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.as_bytes().last()? {
        b'k' | b'K' => units(&text[..text.len() - 1], 3),
        b'm' | b'M' => units(&text[..text.len() - 1], 6),
        _ => units(text, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // cases: 137
    #[test]
    fn amounts_are_read_exactly_and_rounded_up() {
        for (text, micros) in [
            ("0", Some(0)),
            ("0.0", Some(0)),
            ("0e400", Some(0)),
            ("0.012720000000000002", Some(12_721)),
            ("0.01272", Some(12_720)),
            ("1.2e-3", Some(1_200)),
            ("1.2E3", Some(1_200_000_000)),
            ("5.9999999999999995e-05", Some(60)),
            ("1e-30", Some(1)),
            ("0.0000001", Some(1)),
            ("12", Some(12_000_000)),
            ("1e400", None),
            ("18446744073710", None),
            ("1e99999999999", None),
            ("-1", None),
            ("-0", None),
            ("NaN", None),
            ("null", None),
            ("\"1\"", None),
            ("$1", None),
            ("1,234.50", None),
            ("+1", None),
            (".5", None),
            ("", None),
            ("\u{ff15}", None),
        ] {
            assert_eq!(units(text, 6), micros, "{text}");
        }
    }

    #[test]
    fn token_counts_for_people_are_read() {
        for (text, tokens) in [
            ("50", Some(50)),
            ("1.0k", Some(1_000)),
            ("2.4k", Some(2_400)),
            ("12k", Some(12_000)),
            ("1.5M", Some(1_500_000)),
            ("many", None),
            ("k", None),
            ("", None),
        ] {
            assert_eq!(written_tokens(text), tokens, "{text}");
        }
    }

    proptest! {
        // cases: 137
        #[test]
        fn micros_come_back_and_nothing_panics(micros in 0..=999_999_999_999_999_u64, other in ".*") {
            let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
            prop_assert_eq!(units(&text, 6), Some(micros));
            prop_assert_eq!(units(&format!("{text}001"), 6), Some(micros + 1));
            let _any = units(&other, 6).or_else(|| written_tokens(&other));
        }
    }
}
