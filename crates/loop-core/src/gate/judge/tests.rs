use super::*;
use crate::gate::start::{Start, classify, is_unwritten};
use proptest::prelude::*;

const GREEN: &str =
    "test a ... ok\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored\n";
const SWALLOWED: &str =
    "test a ... ok\ntest b ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n";
const FEWER: &str = "test a ... ok\n\ntest result: ok. 1 passed; 0 failed; 1 ignored\n";
const NONE: &str = "test result: ok. 0 passed; 0 failed; 0 ignored\n";
const RENAMED: &str =
    "test a ... ok\ntest c ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored\n";
const MORE: &str = "test a ... ok\ntest b ... ok\ntest c ... ok\n\ntest result: ok. 3 passed; 0 failed; 0 ignored\n";
const NOTHING: &str = "=== no tests ran in 0.01s ===\n";
const TWO_STAGES: &str = "tests/a.py::a PASSED\ntests/a.py::b PASSED\n=== 2 passed in 0.12s ===\n=== 9 deselected in 0.01s ===\n=== no tests ran in 0.01s ===\n";
const UNBUILT: &str = "error: could not compile `app`\n";

fn run(end: GateEnd, output: &str) -> GateRun<'_> {
    GateRun {
        end,
        output,
        output_sha256: "0".repeat(64),
        report: ReportFile::NotAsked,
    }
}

fn exited(code: i32, output: &str) -> GateRun<'_> {
    run(GateEnd::Exited(code), output)
}

fn baseline(output: &str) -> Baseline {
    Baseline::of(read_tests(output).as_ref())
}

// rows: D-13
// cases: 16, 56, 129, 130
#[test]
fn an_exit_code_of_0_is_green_only_if_the_output_agrees() {
    let before = baseline(SWALLOWED);
    for (output, min_tests, green, said) in [
        (GREEN, None, true, "2 tests ran"),
        (GREEN, Some(2), true, "2 tests ran"),
        (MORE, None, true, "3 tests ran"),
        (GREEN, Some(3), false, "only 2 tests ran"),
        (SWALLOWED, None, false, "1 of its tests failed"),
        (UNBUILT, None, false, "could not compile"),
        (NONE, None, false, "2 ran before the work"),
        (NOTHING, None, false, "printed: === no tests ran in"),
        ("all fine\n", None, false, "no test is known to have run"),
        (
            "all fine\n",
            Some(1),
            false,
            "how many tests ran is unknown",
        ),
        (RENAMED, None, false, "did not run: b"),
        (FEWER, None, false, "did not run: b"),
    ] {
        let expected = Expected {
            min_tests,
            baseline: Some(&before),
            ..Expected::default()
        };
        let report = judge(&exited(0, output), &expected);
        assert_eq!((report.exit, report.green), (0, green), "{output}");
        assert!(report.why.contains(said), "{}", report.why);
        assert_eq!(report.hint.is_none(), green, "{output}");
    }
}

// rows: D-13
// cases: 56
#[test]
fn a_stage_that_runs_nothing_takes_nothing_from_the_others() {
    let report = judge(&exited(0, TWO_STAGES), &Expected::default());
    assert_eq!((report.green, report.tests), (true, Some(2)), "{report:?}");
    let report = judge(&exited(0, NOTHING), &Expected::default());
    assert!(!report.green, "{report:?}");
}

// rows: D-13, G-38
#[test]
fn any_other_end_is_red_with_its_literal_code() {
    for (end, exit, said) in [
        (GateEnd::Exited(1), 1, "exit code 1"),
        (GateEnd::Exited(255), 255, "exit code 255"),
        (GateEnd::TimedOut, 124, "took too long"),
        (GateEnd::Signaled(9), 137, "signal 9"),
    ] {
        let report = judge(&run(end, GREEN), &Expected::default());
        assert_eq!((report.exit, report.green), (exit, false));
        assert!(report.why.contains(said), "{}", report.why);
        let first = format!("The acceptance gate failed with exit code {exit}.");
        assert!(report.hint.unwrap().starts_with(&first));
    }
}

// rows: D-13
#[test]
fn what_a_person_should_know_is_flagged() {
    let counted = Baseline {
        tests: Some(3),
        names: None,
    };
    let named = baseline(GREEN);
    for (run, before, flag) in [
        (
            exited(0, GREEN),
            &counted,
            "fewer tests ran than before the work: 2 of 3",
        ),
        (exited(0, MORE), &named, "new tests ran: c"),
        (exited(0, "fine"), &Baseline::default(), "no count"),
        (exited(0, NONE), &Baseline::default(), "no test ran"),
        (
            exited(101, UNBUILT),
            &named,
            "did not build: error: could not compile",
        ),
        (
            exited(0, "v.sh: line 2: x: command not found"),
            &Baseline::default(),
            "a command was missing",
        ),
    ] {
        let expected = Expected {
            baseline: Some(before),
            ..Expected::default()
        };
        let flags = judge(&run, &expected).flags;
        assert!(
            flags.iter().any(|line| line.contains(flag)),
            "{flag}: {flags:?}"
        );
    }
    let expected = Expected {
        baseline: Some(&named),
        ..Expected::default()
    };
    assert_eq!(judge(&exited(0, GREEN), &expected).flags, [""; 0]);
}

// rows: D-13
#[test]
fn a_report_file_that_this_run_did_not_write_is_not_believed() {
    let mut run = exited(0, GREEN);
    run.report = ReportFile::Unusable("report.xml was not written by this run".to_owned());
    let report = judge(&run, &Expected::default());
    assert!(!report.green && report.tests.is_none());
    assert!(report.why.contains("was not written by this run"));
    run.report = ReportFile::Read(read_tests(MORE).unwrap());
    let report = judge(&run, &Expected::default());
    assert_eq!((report.green, report.tests), (true, Some(3)));
}

// rows: D-13
#[test]
fn the_level_rests_on_what_was_set_up_and_on_what_ran() {
    let before = baseline(SWALLOWED);
    let none = baseline("no count");
    let (worktree, clean) = (GatePlace::Worktree, GatePlace::Clean);
    for (place, frozen, overlay, before, output, level) in [
        (worktree, false, false, &before, GREEN, 0),
        (worktree, true, false, &none, GREEN, 0),
        (worktree, true, false, &before, GREEN, 1),
        (worktree, true, false, &before, MORE, 1),
        (worktree, true, false, &before, RENAMED, 0),
        (worktree, true, false, &before, "no count", 0),
        (clean, false, false, &before, GREEN, 0),
        (clean, true, false, &none, "no count", 2),
        (clean, true, true, &none, "no count", 3),
        (clean, false, true, &none, "no count", 3),
    ] {
        let expected = Expected {
            min_tests: None,
            baseline: Some(before),
            place,
            frozen,
            overlay,
        };
        let found = judge(&exited(0, output), &expected).level;
        assert_eq!(found.number(), level, "{expected:?}");
    }
    assert!("4".parse::<u8>().map(Level::try_from).unwrap().is_err());
}

// rows: G-11, G-12, A-30
// cases: 118
#[test]
fn red_counts_only_for_the_right_reason() {
    let classified = |run: &GateRun<'_>, min_tests| {
        let expected = Expected {
            min_tests,
            ..Expected::default()
        };
        classify(run, &judge(run, &expected), None)
    };
    let red = Start::Red { unbuilt: None };
    assert_eq!(classified(&exited(1, SWALLOWED), None), red);
    assert_eq!(classified(&exited(1, "expected 3, got 4\n"), None), red);
    assert_eq!(classified(&exited(0, GREEN), None), Start::Green);
    assert_eq!(
        classified(&exited(0, GREEN), Some(3)),
        red,
        "the work is to write more"
    );
    let unbuilt = classified(&exited(101, UNBUILT), None);
    assert!(
        matches!(unbuilt, Start::Red { unbuilt: Some(_) }),
        "{unbuilt:?}"
    );
    for broken in [
        exited(126, "bash: ./v.sh: Permission denied"),
        exited(127, "bash: pytset: command not found"),
        exited(124, ""),
        run(GateEnd::TimedOut, GREEN),
        run(GateEnd::Signaled(11), ""),
        exited(
            2,
            "verify.sh: line 3: syntax error near unexpected token `fi'\nverify.sh: line 3: `fi'\n",
        ),
        exited(2, "verify.sh: 3: Syntax error: \"fi\" unexpected\n"),
        exited(
            2,
            "bash: -c: line 1: syntax error: unexpected end of file\n",
        ),
        exited(2, "sh: 0: cannot open scripts/verify.sh: No such file\n"),
        exited(
            2,
            "python3: can't open file '/x/check.py': [Errno 2] No such file or directory\n",
        ),
        exited(
            4,
            "no tests ran in 0.00s\nERROR: file or directory not found: tests/x.py\n\n",
        ),
        exited(
            1,
            "Traceback (most recent call last):\nImportError: Start directory is not importable: 'tests'\n",
        ),
        exited(2, "make: *** No rule to make target 'check'.  Stop.\n"),
        exited(
            1,
            "npm error Missing script: \"check\"\nnpm error\nnpm error To see a list\n",
        ),
        exited(0, SWALLOWED),
        exited(0, UNBUILT),
    ] {
        let found = classified(&broken, None);
        assert!(
            matches!(found, Start::Broken { .. }),
            "{broken:?}: {found:?}"
        );
    }
    // A test about syntax errors is no syntax error.
    let about = exited(1, "assertion failed: \"x: syntax error\" is not shown\n");
    assert_eq!(classified(&about, None), red);
}

// rows: A-30
#[test]
fn a_gate_that_changes_its_mind_is_flaky() {
    let (red, green) = (exited(1, ""), exited(0, ""));
    let judged = |run: &GateRun<'_>| judge(run, &Expected::default());
    let start =
        |one: &GateRun<'_>, two: &GateRun<'_>| classify(one, &judged(one), Some(&judged(two)));
    assert!(matches!(start(&red, &green), Start::Flaky { .. }));
    assert!(matches!(start(&green, &red), Start::Flaky { .. }));
    assert!(matches!(start(&red, &exited(2, "")), Start::Red { .. }));
    assert_eq!(start(&green, &green), Start::Green);
}

// rows: G-13
#[test]
fn the_shipped_script_is_known_by_its_line() {
    assert!(is_unwritten("#!/bin/bash\n# loop:unwritten\nexit 1\n"));
    assert!(!is_unwritten("#!/bin/bash\necho '# loop:unwritten'\n"));
}

proptest! {
    // rows: D-13
    #[test]
    fn only_an_exit_code_of_0_is_ever_green(code in any::<i32>(), output in any::<String>()) {
        let report = judge(&exited(code, &output), &Expected::default());
        prop_assert!(!report.green || code == 0);
        prop_assert_eq!(report.exit, code);
        prop_assert_eq!(report.why.lines().count(), 1);
    }
}
