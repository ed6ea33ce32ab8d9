//! What a loop has cost, in words.

use loop_core::state::State;

/// Says what is known of the cost; a part that nobody knows makes it a lower bound
/// (decision D-15).
pub(crate) fn cost(state: &State) -> String {
    let spent = &state.spent.used;
    match (spent.unpriced_calls, spent.usd) {
        (0, usd) if usd.is_zero() => "nothing yet".to_owned(),
        (0, usd) => format!("${usd}"),
        (_, usd) if usd.is_zero() => "unknown".to_owned(),
        (_, usd) => format!("at least ${usd}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_core::Usd;

    // rows: D-15
    // cases: 133
    #[test]
    fn what_is_unknown_is_never_zero() {
        for (micros, unpriced, words) in [
            (0, 0, "nothing yet"),
            (120_000, 0, "$0.12"),
            (0, 3, "unknown"),
            (120_000, 3, "at least $0.12"),
        ] {
            let mut state = State::new();
            state.spent.used.usd = Usd::from_micros(micros).unwrap();
            state.spent.used.unpriced_calls = unpriced;
            assert_eq!(cost(&state), words);
        }
    }
}
