use super::*;
use proptest::prelude::*;

/// Runner, passed, failed, skipped, names (or `None`).
type Row<'a> = (TestRunner, u64, u64, u64, Option<&'a [&'a str]>);

fn check(output: &str, expected: Option<Row<'_>>) {
    let found = read_tests(output);
    let found = found.as_ref().map(|report| {
        let names = report
            .names
            .as_ref()
            .map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
        (
            report.runner,
            report.passed,
            report.failed,
            report.skipped,
            names,
        )
    });
    let expected = expected.map(|(runner, passed, failed, skipped, names)| {
        (runner, passed, failed, skipped, names.map(<[&str]>::to_vec))
    });
    assert_eq!(found, expected, "{output}");
}

// rows: D-13
#[test]
fn cargo_test_is_summed_up_over_its_programs() {
    use TestRunner::Cargo;
    let one = "
     Running unittests src/lib.rs (target/debug/deps/app-0123456789abcdef)

running 3 tests
test a::one ... ok
test a::two ... FAILED
test slow ... ignored, takes long

failures:

---- a::two stdout ----
thread 'a::two' panicked at src/lib.rs:3:5:
test result: made up by a panic

failures:
    a::two

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s
";
    check(
        one,
        Some((Cargo, 1, 1, 1, Some(&["app a::one", "app a::two"]))),
    );
    let two = "
running 1 test
test one ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

   Doc-tests app

running 2 tests
test src/lib.rs - add (line 7) ... ok
test src/lib.rs - neg (line 12) - compile ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
";
    check(
        two,
        Some((
            Cargo,
            3,
            0,
            0,
            Some(&[
                "app (doc) src/lib.rs - add",
                "app (doc) src/lib.rs - neg - compile",
                "one",
            ]),
        )),
    );
    // Output between a name and its result takes the name away, not the count.
    let torn = "test a ... hello\nok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
    check(torn, Some((Cargo, 1, 0, 0, None)));
    let empty = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 4 filtered out; finished in 0.00s\n";
    check(empty, Some((Cargo, 0, 0, 0, Some(&[]))));
    let colored = "test a ... \u{1b}[32mok\u{1b}[m\n\ntest result: \u{1b}[32mok\u{1b}[m. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
    check(colored, Some((Cargo, 1, 0, 0, Some(&["a"]))));
}

// rows: D-13
#[test]
fn nextest_is_read_from_its_summary() {
    use TestRunner::Nextest;
    let output = "
    Starting 3 tests across 2 binaries (1 test skipped)
        PASS [   0.005s] (1/3) app tests::one
        FAIL [   0.006s] (2/3) app::it two
  stdout ---
    test two ... FAILED
        PASS [   0.007s] app::it three
────────────
     Summary [   0.008s] 3 tests run: 2 passed (1 slow, 1 leaky), 1 failed, 1 skipped
        FAIL [   0.006s] (2/3) app::it two
error: test run failed
";
    check(
        output,
        Some((
            Nextest,
            2,
            1,
            1,
            Some(&["app tests::one", "app::it three", "app::it two"]),
        )),
    );
    let early = "     Summary [   0.1s] 1/4 tests run: 0 passed, 1 failed, 0 skipped\n";
    check(early, Some((Nextest, 0, 1, 0, None)));
}

// rows: D-13
#[test]
fn pytest_is_read_with_and_without_its_rules() {
    use TestRunner::Pytest;
    let verbose = "
============================= test session starts ==============================
collected 4 items

tests/test_a.py::test_one PASSED                                         [ 25%]
tests/test_a.py::test_two FAILED                                         [ 50%]
tests/test_a.py::test_p[a b] XFAIL                                       [ 75%]
tests/test_a.py::test_s SKIPPED (no)                                     [100%]

=========================== short test summary info ============================
FAILED tests/test_a.py::test_two - assert 1 == 2
============= 1 failed, 1 passed, 1 skipped, 1 xfailed, 2 warnings in 0.12s =============
";
    check(
        verbose,
        Some((
            Pytest,
            1,
            1,
            2,
            Some(&["tests/test_a.py::test_one", "tests/test_a.py::test_two"]),
        )),
    );
    check(
        "..F\n1 failed, 2 passed in 61.02s (0:01:01)\n",
        Some((Pytest, 2, 1, 0, None)),
    );
    check(
        "===== 2 passed, 1 error in 0.2s =====\n",
        Some((Pytest, 2, 1, 0, None)),
    );
    check(
        "== 2 passed, 4 subtests passed in 0.2s ==\n",
        Some((Pytest, 2, 0, 0, None)),
    );
    check(
        "\nno tests ran in 0.00s\n",
        Some((Pytest, 0, 0, 0, Some(&[]))),
    );
    check(
        "[gw1] [ 50%] PASSED t.py::a \n[gw0] [100%] PASSED t.py::b \n2 passed in 0.5s\n",
        Some((Pytest, 2, 0, 0, Some(&["t.py::a", "t.py::b"]))),
    );
}

// rows: D-13
#[test]
fn go_is_counted_only_when_it_names_its_tests() {
    use TestRunner::Go;
    let verbose = "
=== RUN   TestA
=== RUN   TestA/sub
--- PASS: TestA (0.00s)
    --- PASS: TestA/sub (0.00s)
=== RUN   TestB
    b_test.go:7: nope
--- FAIL: TestB (0.00s)
=== RUN   TestC
--- SKIP: TestC (0.00s)
FAIL
FAIL\texample.org/app\t0.003s
ok  \texample.org/app/x\t0.002s
";
    check(
        verbose,
        Some((Go, 2, 1, 1, Some(&["TestA", "TestA/sub", "TestB"]))),
    );
    check("ok  \texample.org/app\t0.003s\n", None);
    check(
        "--- FAIL: TestB (0.00s)\nFAIL\texample.org/app\t0.003s\n",
        None,
    );
    check(
        "ok  \texample.org/app\t0.003s [no tests to run]\n",
        Some((Go, 0, 0, 0, Some(&[]))),
    );
    check(
        "?   \texample.org/app\t[no test files]\n",
        Some((Go, 0, 0, 0, Some(&[]))),
    );
    let json = r#"{"Time":"2026-01-01T00:00:00Z","Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- PASS: TestX\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"fail","Package":"p","Test":"TestB","Elapsed":0}
not json
{"Action":"fail","Package":"p","Elapsed":0.1}
"#;
    check(json, Some((Go, 1, 1, 0, Some(&["p.TestA", "p.TestB"]))));
}

// rows: D-13
#[test]
fn tap_needs_a_plan_and_counts_what_is_missing_as_failed() {
    use TestRunner::Tap;
    let output = "TAP version 13\n1..5\nok 1 - adds\n    ok 1 - inner\nnot ok 2 - divides\nok 3 # SKIP no zlib\nnot ok 4 - later # TODO\nok 5\n";
    check(
        output,
        Some((Tap, 2, 1, 2, Some(&["5", "adds", "divides"]))),
    );
    check("ok 1 - a\n1..3\n", Some((Tap, 1, 2, 0, None)));
    check(
        "1..2\nok 1 - a\nBail out! no disk\n",
        Some((Tap, 1, 1, 0, None)),
    );
    check("ok 1 - a\nok 2 - b\n", None);
    check("1..2 is a range\nok 1\n", None);
    check("1..2\nokay\n", None);
    check("TAP version 14\n1..2 # two\n", Some((Tap, 0, 2, 0, None)));
}

// rows: D-13
// cases: 129
#[test]
fn prose_has_no_count() {
    for output in [
        "",
        "All 12 tests passed!",
        "tests: pass, lint: pass",
        "5 passed in total",
        "12 passed, 3 stars in 1s",
        "I ran it: test result: ok. 5 passed; 0 failed; 0 ignored",
        "test result: fine. 5 passed; 0 failed",
        "test result: ok. many passed; 0 failed",
        "   ok 1 - indented\n   1..1",
        "Summary: 5 tests run: 5 passed",
        "1..x\nok 1",
        "Test Suites: 1 passed, 1 total\nTests:       3 passed, 3 total",
    ] {
        check(output, None);
    }
}

// rows: D-13
#[test]
fn two_runners_in_one_gate_are_added() {
    let output = "test a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n== 2 passed in 0.1s ==\n";
    check(output, Some((TestRunner::Several, 3, 0, 0, None)));
}

// rows: D-13
#[test]
fn a_report_file_is_junit_or_tap() {
    let xml = "\u{feff}<?xml version=\"1.0\"?>
<!-- <testcase name=\"no\"/> -->
<testsuites><testsuite name='s' tests='4'>
<properties><property name=\"a\" value=\"1 > 0\"/></properties>
<testcase classname=\"t.A\" name=\"one &lt;x&gt; &#65;&#x42;\"/>
<testcase classname=\"t.A\" name=\"two\"><failure message=\"m\"><![CDATA[<testcase name='no'/>]]></failure></testcase>
<testcase name=\"three\"><skipped/></testcase>
<testcase name='four'><system-out>&nothing; ok</system-out></testcase>
</testsuite></testsuites>\n";
    let report = read_report(xml.as_bytes()).unwrap();
    assert_eq!(report.runner, TestRunner::Junit);
    assert_eq!((report.passed, report.failed, report.skipped), (2, 1, 1));
    let names: Vec<_> = report.names.iter().flatten().map(String::as_str).collect();
    assert_eq!(names, ["four", "t.A::one <x> AB", "t.A::two"]);

    let tap = read_report(b"1..1\nok 1 - a\n").unwrap();
    assert_eq!((tap.runner, tap.passed), (TestRunner::Tap, 1));
    assert_eq!(read_report(b"all good"), Err(ReportFault::Unknown));
    assert_eq!(read_report(b""), Err(ReportFault::Unknown));
}

// rows: D-13
// cases: 130
#[test]
fn a_damaged_or_hostile_report_is_refused() {
    let deep = format!("<testsuite>{}", "<a>".repeat(100));
    for xml in [
        "<testsuite>",
        "<testsuite><testcase name='a'></testsuite>",
        "<testsuite><testcase name='a'/></testsuite><testsuite/>",
        "<html><testcase name='a'/></html>",
        "<testsuite><testcase name='&boom;'/></testsuite>",
        "<testsuite><testcase name='&#xD800;'/></testsuite>",
        "<!DOCTYPE x [<!ENTITY a 'b'>]><testsuite/>",
        "<testsuite><testcase name=a/></testsuite>",
        "<testsuite><testcase name/></testsuite>",
        "<testsuite><testcase name='a'><testcase name='b'/></testcase></testsuite>",
        "<testsuite><!-- </testsuite>",
        "<testsuite><",
        "<",
        deep.as_str(),
    ] {
        assert!(
            matches!(read_report(xml.as_bytes()), Err(ReportFault::Xml { .. })),
            "{xml}"
        );
    }
}

proptest! {
    #[test]
    fn any_text_can_be_read(text in any::<String>()) {
        let _tests = read_tests(&text);
        let _report = read_report(format!("<{text}").as_bytes());
    }

    // rows: D-13
    #[test]
    fn names_are_all_or_none(
        names in prop::collection::btree_set("[a-z]{1,8}", 0..8),
        hidden in 0_usize..3,
    ) {
        let lines: String = names.iter().skip(hidden).map(|name| format!("test {name} ... ok\n")).collect();
        let output = format!("{lines}\ntest result: ok. {} passed; 0 failed; 0 ignored\n", names.len());
        let report = read_tests(&output).unwrap();
        prop_assert_eq!(report.executed(), names.len() as u64);
        let complete = hidden == 0 || names.is_empty();
        prop_assert_eq!(report.names, complete.then_some(names));
    }

    #[test]
    fn a_written_report_is_read_back(names in prop::collection::btree_set("[a-z<>&'\" é]{1,8}", 1..6)) {
        let escape = |name: &str| name.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let cases: String = names.iter().map(|name| format!("<testcase name=\"{}\"/>", escape(name))).collect();
        let report = read_report(format!("<testsuite>{cases}</testsuite>").as_bytes()).unwrap();
        prop_assert_eq!(report.names, Some(names));
    }
}
