use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

fn block() -> Value {
    json!({
        "v": 1,
        "boxes": {"bounded": "one file", "rejectable": "a test", "end_to_end": "all is here",
                  "objective": "an exit code"},
        "plan": [{"item": "parse zones", "check": "test zones"},
                 {"item": "say so", "check": "grep the notes"}],
        "covers": [{"line": "the zone is kept", "check": 0}],
        "frozen": ["tests/zones.py"],
    })
}

fn answer(block: &Value) -> String {
    format!("Done.\n\n```json\n{block:#}\n```\n\nPLANNED\n")
}

fn with(change: impl FnOnce(&mut Value)) -> String {
    let mut block = block();
    change(&mut block);
    answer(&block)
}

#[track_caller]
fn why(text: &str) -> String {
    match read(text) {
        Planned::Broken { why } => why,
        other => panic!("{other:?}\n{text}"),
    }
}

fn plan() -> Plan {
    match read(&answer(&block())) {
        Planned::Plan(plan) => plan,
        other => panic!("{other:?}"),
    }
}

// rows: G-08, U-39
#[test]
fn the_one_json_block_is_the_plan() {
    let plan = plan();
    assert_eq!(plan.boxes.objective, "an exit code");
    assert_eq!(plan.plan[1].check, "grep the notes");
    assert_eq!(plan.frozen[0].as_str(), "tests/zones.py");
    let json = serde_json::to_value(&plan).unwrap();
    assert_eq!(serde_json::from_value::<Plan>(json).unwrap(), plan);
    for (name, text) in [
        ("CRLF", answer(&block()).replace('\n', "\r\n")),
        (
            "a mark of the byte order",
            format!("\u{feff}{}", answer(&block())),
        ),
        ("color", format!("{}\u{1b}[0m", answer(&block()).trim_end())),
        (
            "other blocks",
            format!("```sh\necho '```json'\n```\n{}", answer(&block())),
        ),
        ("a longer fence", answer(&block()).replace("```", "`````")),
        ("tildes", answer(&block()).replace("```", "~~~")),
        (
            "a fence in a fence",
            format!("````md\n```json\n{{}}\n```\n````\n{}", answer(&block())),
        ),
        (
            "half a character",
            with(|block| block["mood"] = json!("MOOD")).replace("MOOD", r"\ud83d"),
        ),
        (
            "an unknown key",
            with(|block| block["mood"] = json!("good")),
        ),
    ] {
        assert_eq!(read(&text), Planned::Plan(plan.clone()), "{name}");
    }
    let short = with(|block| {
        block.as_object_mut().unwrap().remove("covers");
        block.as_object_mut().unwrap().remove("frozen");
    });
    assert!(matches!(read(&short), Planned::Plan(_)));
}

// rows: G-06, G-37
// cases: 12, 14, 15
#[test]
fn the_last_line_decides() {
    let refused = |code, how: &str| Planned::Refused {
        code,
        how: how.to_owned(),
    };
    let block = answer(&block());
    let block = block.trim_end().strip_suffix("PLANNED").unwrap();
    for (last, expected) in [
        ("REFUSED", refused(RefusalCode::NeedsPerson, "")),
        ("REFUSED:", refused(RefusalCode::NeedsPerson, "")),
        ("REFUSED: not_bounded", refused(RefusalCode::NotBounded, "")),
        (
            "REFUSED: not_objective: name a file: x",
            refused(RefusalCode::NotObjective, "name a file: x"),
        ),
        (
            "REFUSED: ask Ann: she knows",
            refused(RefusalCode::NeedsPerson, "ask Ann: she knows"),
        ),
        (
            "  REFUSED : irreversible : no \r\n\n \n",
            refused(RefusalCode::Irreversible, "no"),
        ),
    ] {
        assert_eq!(read(last), expected, "{last:?}");
        assert_eq!(read(&format!("Text.\n{last}")), expected, "{last:?}");
        assert_eq!(read(&format!("{block}{last}")), expected, "{last:?}");
    }
    for last in [
        "",
        "the gate REFUSED nothing",
        "REFUSED nothing",
        "REFUSEDLY: not_bounded: x",
        "PLANNED.",
        "planned",
        "Planned: all is well",
        "REFUSED: not_bounded: x\nso be it",
        "PLANNED\nREFUSE",
    ] {
        assert!(
            why(&format!("{block}{last}")).contains("last line"),
            "{last:?}"
        );
    }
    for code in RefusalCode::ALL {
        assert_eq!(read(&format!("REFUSED: {code}: x")), refused(code, "x"));
    }
}

// rows: G-08, U-39
// cases: 105
#[test]
fn what_breaks_the_contract_is_broken_and_says_where() {
    let long = "x".repeat(MAX_TEXT + 1);
    let many = |entry: Value| Value::Array(vec![entry; MAX_ITEMS + 1]);
    let item = json!({"item": "a", "check": "b"});
    for (text, says) in [
        ("PLANNED".to_owned(), "no fenced `json` block"),
        (
            answer(&block()).replace("```json", "```"),
            "no fenced `json` block",
        ),
        (
            answer(&block()).replace("```json", "```json5"),
            "no fenced `json` block",
        ),
        (
            format!("{0}{0}", answer(&block())),
            "2 fenced `json` blocks",
        ),
        ("```json\n{}\nPLANNED".to_owned(), "has no end"),
        ("```json\n[]\n```\nPLANNED".to_owned(), "is wrong"),
        ("```json\n{} {}\n```\nPLANNED".to_owned(), "is wrong"),
        ("```json\n```\nPLANNED".to_owned(), "is wrong"),
        (with(|b| b["v"] = json!(2)), "version 2"),
        (with(|b| b["v"] = json!(null)), "is wrong"),
        (
            with(|b| b["plan"][0] = json!({"item": "a"})),
            "missing field `check`",
        ),
        (with(|b| b["plan"][0]["check"] = json!(null)), "is wrong"),
        (
            with(|b| b["plan"][1]["check"] = json!(" \n")),
            "`plan[1].check` says nothing",
        ),
        (
            with(|b| b["plan"][0]["item"] = json!("")),
            "`plan[0].item` says nothing",
        ),
        (with(|b| b["plan"] = json!([])), "`plan` is empty"),
        (
            with(|b| b["plan"] = many(item.clone())),
            "`plan` has 101 entries",
        ),
        (
            with(|b| b["boxes"]["end_to_end"] = json!("")),
            "`boxes.end_to_end` says nothing",
        ),
        (
            with(|b| b["boxes"] = json!({"bounded": "x"})),
            "missing field `rejectable`",
        ),
        (
            with(|b| b["covers"][0]["check"] = json!(2)),
            "`covers[0].check` is 2",
        ),
        (with(|b| b["covers"][0]["check"] = json!(-1)), "is wrong"),
        (
            with(|b| b["covers"][0]["line"] = json!("")),
            "`covers[0].line` says nothing",
        ),
        (
            with(|b| b["plan"][0]["item"] = json!(long)),
            "longer than 2000 characters",
        ),
        (
            with(|b| b["frozen"] = json!(["/etc/passwd"])),
            "not below the project",
        ),
        (with(|b| b["frozen"] = json!(["a/../../b"])), "leads out"),
        (with(|b| b["frozen"] = json!([""])), "is empty"),
        (
            with(|b| b["frozen"] = json!(["~/x"])),
            "not below the project",
        ),
        (
            with(|b| b["frozen"] = json!(["./"])),
            "name a file in the project",
        ),
        (
            with(|b| b["frozen"] = json!(["STATE.md"])),
            "which the loop itself writes",
        ),
        (
            with(|b| b["frozen"] = json!(["./.automaton/x"])),
            "which the loop itself writes",
        ),
        (
            answer(&block()).replace("\"v\": 1", "\"v\": 1, \"plan\": []"),
            "duplicate field",
        ),
    ] {
        let why = why(&text);
        assert!(why.contains(says), "{says:?} is not in {why:?}");
        assert!(
            why.lines().count() == 1 && why.chars().count() < 600,
            "{why}"
        );
    }
}

// cases: 105
#[test]
fn a_huge_answer_is_bounded() {
    let huge = "x".repeat(3 << 20);
    assert!(why(&with(|b| b["mood"] = json!(huge))).contains("longer than 1048576 bytes"));
    let Planned::Refused { how, .. } = read(&format!("REFUSED: not_bounded: {huge}")) else {
        panic!("it is a refusal");
    };
    assert!(how.chars().count() < MAX_TEXT + 20);
    // A value that is wrong is not repeated whole.
    let text = with(|b| b["frozen"] = json!([format!("/{}", "y".repeat(100_000))]));
    assert!(why(&text).chars().count() < 600);
    // No more than once over, whatever opens and closes.
    let fences = "```\n".repeat(300_000);
    assert!(why(&format!("{fences}PLANNED")).contains("no fenced"));
}

// cases: 131
#[test]
fn lines_that_no_check_covers_are_named() {
    let covered = |line: &str, said: &str| {
        let mut plan = plan();
        plan.covers[0].line = said.to_owned();
        uncovered(&[line.to_owned()], &plan).is_empty()
    };
    for (line, said) in [
        ("the zone is kept", "the zone is kept"),
        ("The  zone is\nkept.", " the zone IS kept"),
        ("`cargo test` passes", "- [ ] cargo test passes"),
        ("it is **fast**", "1. It is fast."),
        ("Größe stimmt", "GRÖßE STIMMT"),
        ("- 1 of 2 holds", "1 of 2 holds"),
    ] {
        assert!(covered(line, said), "{line:?} {said:?}");
    }
    for (line, said) in [
        ("the zone is kept", "the zone"),
        ("exit code 1", "exit code 2"),
        ("-1 is refused", "1 is refused"),
        ("2.5 is read", "5 is read"),
    ] {
        assert!(!covered(line, said), "{line:?} {said:?}");
    }
    let lines = ["a", "the zone is kept", "b"].map(str::to_owned);
    assert_eq!(uncovered(&lines, &plan()), ["a", "b"]);
}

// rows: G-02, U-38
#[test]
fn a_task_that_nobody_wrote_is_none() {
    let template = b"# Task\n\nfill in\n";
    let is = |task: &[u8]| placeholder(Some(task), template);
    assert_eq!(placeholder(None, template), Some(Placeholder::Missing));
    for blank in [&b""[..], b" \r\n\t\n", "\u{feff}\n".as_bytes()] {
        assert_eq!(is(blank), Some(Placeholder::Blank), "{blank:?}");
    }
    assert_eq!(is(template), Some(Placeholder::Template));
    assert_eq!(
        is(b"# Real\r\n\t<!-- loop:placeholder --> \r\nwork"),
        Some(Placeholder::Marked)
    );
    assert_eq!(
        is(b"Mend it; `<!-- loop:placeholder -->` stays in a sentence"),
        None
    );
    assert_eq!(is(b"# Task\n\nfill in more\n"), None);
    assert_eq!(is(b"\xff mend it"), None);
}

proptest! {
    // rows: G-37
    #[test]
    fn only_a_last_line_that_says_so_refuses(text in "[ -~\n]{0,60}") {
        let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let says = last.is_some_and(|line| {
            line.strip_prefix("REFUSED").is_some_and(|rest| {
                rest.trim().is_empty() || rest.trim_start().starts_with(':')
            })
        });
        let answer = read(&text);
        let refused = matches!(answer, Planned::Refused { .. });
        prop_assert_eq!(refused, says);
        let planned = matches!(answer, Planned::Plan(_));
        prop_assert!(!planned);
    }

    // cases: 105
    #[test]
    fn no_answer_that_was_cut_is_a_plan(at in 0_usize..400) {
        let whole = answer(&block());
        let whole = whole.trim_end();
        prop_assume!(at < whole.len());
        let broken = matches!(read(&whole[..at]), Planned::Broken { .. });
        prop_assert!(broken, "{at}");
    }

    #[test]
    fn a_plan_that_covers_every_line_leaves_none(lines in proptest::collection::vec("\\PC{0,30}", 0..8)) {
        let mut plan = plan();
        plan.covers = lines.iter().map(|line| Cover { line: line.clone(), check: 0 }).collect();
        prop_assert!(uncovered(&lines, &plan).is_empty());
        plan.covers.clear();
        prop_assert_eq!(uncovered(&lines, &plan), lines);
    }
}
