//! Lengths of time for people.

use loop_core::time::Timestamp;

/// Says how long it is from one time to another, in its two largest units; nothing
/// is shorter than `0s`.
pub(crate) fn between(from: Timestamp, to: Timestamp) -> String {
    let millis = to.unix_millis().saturating_sub(from.unix_millis());
    seconds(u64::try_from(millis / 1000).unwrap_or(0))
}

fn seconds(all: u64) -> String {
    let (minutes, hours, days) = (all / 60, all / 3600, all / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{all}s"),
        (0, 0, _) => format!("{minutes}m{:02}s", all % 60),
        (0, _, _) => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{days}d{:02}h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_units_are_enough() {
        for (all, text) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m00s"),
            (3599, "59m59s"),
            (3600, "1h00m"),
            (86_399, "23h59m"),
            (90_000, "1d01h"),
        ] {
            assert_eq!(seconds(all), text);
        }
        let early = Timestamp::from_unix_millis(5000);
        assert_eq!(between(early, Timestamp::from_unix_millis(0)), "0s");
    }
}
