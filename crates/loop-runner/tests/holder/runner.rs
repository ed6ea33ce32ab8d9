//! As much of the standard test runner as is needed to be called like it.

use std::{
    panic,
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// A test and its name.
pub(crate) type Test = (&'static str, fn());

/// How many tests run at once; they mostly wait.
const THREADS: usize = 4;

/// The standard runner's options that take a value.
const VALUED: [&str; 4] = ["--color", "--format", "--logfile", "--test-threads"];

/// Lists functions as tests, named as the standard runner would.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub(crate) const TESTS: &[crate::runner::Test] =
            &[$((concat!(module_path!(), "::", stringify!($name)), $name)),*];
    };
}
pub(crate) use tests;

/// Runs or lists the tests that the arguments select.
pub(crate) fn run(arguments: &[String], tests: &[&[Test]]) -> ExitCode {
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    let filters = filters(arguments);
    let selected: Vec<Test> = tests
        .concat()
        .into_iter()
        .filter(|(name, _)| {
            filters.is_empty()
                || filters.iter().any(|filter| match has("--exact") {
                    true => name == filter,
                    false => name.contains(filter.as_str()),
                })
        })
        .filter(|_| !has("--ignored"))
        .collect();
    if has("--list") {
        selected
            .iter()
            .for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let failures = run_all(&selected);
    println!("\n{} tests, {failures} failed", selected.len());
    if failures == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Returns the arguments that are neither options nor their values.
fn filters(arguments: &[String]) -> Vec<&String> {
    let mut value_follows = false;
    arguments
        .iter()
        .filter(|word| {
            let is_value = value_follows;
            value_follows = VALUED.contains(&word.as_str());
            !is_value && !word.starts_with('-')
        })
        .collect()
}

fn run_all(tests: &[Test]) -> usize {
    let (next, failures) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some((name, test)) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
            let passed = panic::catch_unwind(test).is_ok();
            failures.fetch_add(usize::from(!passed), Ordering::Relaxed);
            println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        }
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(work);
        }
    });
    failures.into_inner()
}
