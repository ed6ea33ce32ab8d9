//! Where a driver's time comes from.

use loop_core::time::Timestamp;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the time of day, which people and timers may set back.
    fn now(&self) -> Timestamp;

    /// Returns the time since some fixed moment; it only goes forward.
    fn monotonic(&self) -> Duration;
}

/// The clock of the machine.
#[derive(Clone, Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    /// Makes a clock whose monotonic time starts now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            started: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_unix_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }
}

/// A clock that stands still until it is told to go on, for tests.
#[derive(Debug)]
pub struct FixedClock {
    start: Timestamp,
    passed_ms: AtomicU64,
}

impl FixedClock {
    /// Makes a clock that shows `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self {
            start,
            passed_ms: AtomicU64::new(0),
        }
    }

    /// Lets `time` pass.
    pub fn advance(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.passed_ms.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        let passed = self.passed_ms.load(Ordering::Relaxed);
        let passed = i64::try_from(passed).unwrap_or(i64::MAX);
        Timestamp::from_unix_millis(self.start.unix_millis().saturating_add(passed))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.passed_ms.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_clock_moves_only_when_told() {
        let clock = FixedClock::new("2026-11-30T23:10:04.000Z".parse().unwrap());
        assert_eq!(clock.now().to_string(), "2026-11-30T23:10:04.000Z");
        clock.advance(Duration::from_millis(1_500));
        assert_eq!(clock.now().to_string(), "2026-11-30T23:10:05.500Z");
        assert_eq!(clock.monotonic(), Duration::from_millis(1_500));
    }
}
