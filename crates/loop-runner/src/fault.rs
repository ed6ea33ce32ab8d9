//! Places where a test can let the engine die.
//!
//! Only builds with debug assertions have them. `LOOP_FAULT=append.written`
//! aborts the process when it passes that point, `LOOP_FAULT=append.written:3`
//! when it passes it for the third time.

/// The environment variable that names the point.
pub const VARIABLE: &str = "LOOP_FAULT";

/// Every point of the event store, in the order in which a tick passes them.
pub const POINTS: &[&str] = &[
    // A request is left in the inbox.
    "submit.written",
    "submit.renamed",
    "submit.synced",
    // The numbered points of opening a loop.
    "open.1",
    "open.2",
    "open.2.kept",
    "open.2.cut",
    "open.2.healed",
    "open.3",
    "open.3.ended",
    "open.3.interrupted",
    "open.4",
    "open.5",
    // One record.
    "append.before",
    "append.written",
    "append.synced",
    // The cache.
    "cache.written",
    "cache.renamed",
    // One step.
    "step.opened",
    "step.begun",
    "step.answered",
    // One request.
    "drain.read",
    "drain.recorded",
    "drain.removed",
    "drain.set_aside",
    // The end of a tick.
    "close.recorded",
    "close.cleared",
    // A log that has grown.
    "growth.copied",
    "growth.linked",
    "growth.renamed",
    "growth.synced",
];

/// Aborts the process if a test asked for it at this point.
#[cfg(debug_assertions)]
pub fn point(name: &'static str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    debug_assert!(POINTS.contains(&name), "fault point {name} is not listed");
    static ASKED: OnceLock<Option<(String, u64)>> = OnceLock::new();
    static PASSED: AtomicU64 = AtomicU64::new(0);

    let asked = ASKED.get_or_init(|| std::env::var(VARIABLE).ok().map(|text| parse(&text)));
    if let Some((point, passage)) = asked
        && point == name
        && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == *passage
    {
        std::process::abort();
    }
}

/// Does nothing: this build has no fault points.
#[cfg(not(debug_assertions))]
#[inline]
pub fn point(_name: &'static str) {}

#[cfg(debug_assertions)]
fn parse(text: &str) -> (String, u64) {
    let (name, passage) = text.split_once(':').unwrap_or((text, "1"));
    (name.to_owned(), passage.parse().unwrap_or(1))
}
