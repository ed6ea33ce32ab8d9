//! Malformed configurations: each is refused with its place, its key and what to do.

use loop_core::config::{Config, Position};

/// Marks the place at which the fault has to be reported; it is not part of the text.
const MARK: char = '»';

const JSON: &str = "; write plain JSON: no comments, no trailing commas, numbers as plain decimals";
const CUT: &str = "; the file is cut short, restore it or close what is open";
const ITERATIONS: &str = "expected a whole number from 1 to 1000000, or \"unlimited\", found ";
const DOLLARS: &str =
    "expected dollars as a plain decimal with at most 6 decimals, not negative, found ";
const COMMAND: &str =
    "expected an array with a string for the program and for each argument, found ";

fn position(marked: &str) -> Position {
    // Editors do not show a byte order mark.
    let marked = marked.trim_start_matches('\u{feff}');
    let before = &marked[..marked.find(MARK).expect("the text has a mark")];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Position {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

#[track_caller]
fn refused(marked: &str, key: &str, message: &str) {
    let text = marked.replace(MARK, "");
    let error = Config::parse(&text).expect_err(marked);
    let Position { line, column } = position(marked);
    let key_and_message = if key.is_empty() {
        message.to_owned()
    } else {
        format!("{key}: {message}")
    };
    assert_eq!(
        error.with_file("loop.json").to_string(),
        format!("loop.json:{line}:{column}: {key_and_message}"),
        "{text}"
    );
    assert_eq!(
        (error.key(), error.position().line, error.position().column),
        (key, line, column)
    );
}

/// Puts one fragment into an otherwise good configuration, on its third line.
fn around(fragment: &str) -> String {
    format!("{{\n  \"name\": \"a\", \"roles\": {{}},\n  {fragment}\n}}")
}

// rows: V-11; cases: 3, 4, 79
#[test]
fn a_document_that_is_no_configuration_is_refused() {
    let empty = "the file is empty; write an object with at least `name` and `roles`";
    #[rustfmt::skip]
    let table: [(&str, &str, String); 15] = [
        ("»", "", empty.into()),
        ("» \n\t\r\n ", "", empty.into()),
        ("»[]", "", "expected an object, found an empty array".into()),
        ("»[{}]", "", "expected an object, found an array".into()),
        ("  »null", "", "expected an object, found null".into()),
        ("\n»\"loop\"", "", "expected an object, found \"loop\"".into()),
        ("»{}", "name", "missing key; add it".into()),
        ("»{\"name\": \"a\"}", "roles", "missing key; add it".into()),
        ("»name: a", "", format!("expected ident{JSON}")),
        ("{»// comment\n}", "", format!("key must be a string{JSON}")),
        ("{»'name': 'a'}", "", format!("key must be a string{JSON}")),
        ("{\"name\": \"a\", \"roles\": {}} »{}", "", format!("trailing characters{JSON}")),
        ("{\"name\": \"a\", \"roles\": {}»", "", format!("EOF while parsing an object{CUT}")),
        ("{\"name\": \"a\", \"roles\": {\"implement\": {\"prompt\": \"im»", "roles.implement.prompt", format!("EOF while parsing a string{CUT}")),
        ("{\"name\": \"a\", \"roles\": {},»}", "", format!("trailing comma{JSON}")),
    ];
    for (text, key, message) in table {
        refused(text, key, &message);
    }
}

// rows: B-04; cases: 2, 3
#[test]
fn a_number_that_is_no_plain_decimal_is_refused() {
    let key = "brakes.max_iterations";
    refused(
        &around(r#""brakes": {"max_iterations": »0x10}"#),
        "brakes",
        &format!("expected `,` or `}}`{JSON}"),
    );
    #[rustfmt::skip]
    let table: [(&str, String); 14] = [
        ("»08", format!("invalid number{JSON}")),
        ("»010", format!("invalid number{JSON}")),
        ("»+3", format!("expected value{JSON}")),
        ("».5", format!("expected value{JSON}")),
        ("»NaN", format!("expected value{JSON}")),
        ("»５", format!("expected value{JSON}")),
        ("»1e400", format!("number out of range{JSON}")),
        ("»0", format!("{ITERATIONS}0")),
        ("»-1", format!("{ITERATIONS}-1")),
        ("»1e3", format!("{ITERATIONS}1e3")),
        ("»3.0", format!("{ITERATIONS}3.0")),
        ("»18446744073709551616", format!("{ITERATIONS}18446744073709551616")),
        ("»\" 5 \"", format!("{ITERATIONS}\" 5 \"")),
        ("»true", format!("{ITERATIONS}true")),
    ];
    for (number, message) in table {
        refused(
            &around(&format!("\"brakes\": {{\"max_iterations\": {number}}}")),
            key,
            &message,
        );
    }
}

// rows: B-20, X-13; cases: 4
#[test]
fn an_unknown_key_is_refused_with_the_nearest_known_one() {
    #[rustfmt::skip]
    let table = [
        (r#"»"brake": {"max_iterations": 3}"#, "brake", "did you mean brakes?"),
        (r#"»"x": 3"#, "x", "use one of $schema, name, description, work_source, acceptance_criteria, roles, harness, gate, brakes, blast_radius, schedule, phases, approval_phases, notify"),
        (r#"»"max_iterations": 3"#, "max_iterations", "did you mean brakes.max_iterations?"),
        (r#"»"command": ["x"]"#, "command", "did you mean gate.command?"),
        (r#""brakes": {»"max_iteratons": 3}"#, "brakes.max_iteratons", "did you mean max_iterations?"),
        (r#""brakes": {»"x-note": 3}"#, "brakes.x-note", "use one of max_iterations, score_plateau_window, score_plateau_delta, min_score, max_harness_failures, no_progress_window, max_wall_seconds, max_ticks_per_day, max_cost_usd, max_tokens, on_trip"),
        (r#""work_source": {»"knd": "single"}"#, "work_source.knd", "did you mean kind?"),
        (r#""harness": {»"timeout": 60}"#, "harness.timeout", "did you mean timeout_seconds?"),
        (r#""harness": {"env": {»"sett": {}}}"#, "harness.env.sett", "did you mean set?"),
        (r#""gate": {"command": ["x"], »"froozen": []}"#, "gate.froozen", "did you mean frozen?"),
        (r#""blast_radius": {»"filescope": []}"#, "blast_radius.filescope", "did you mean file_scope?"),
        (r#""schedule": {»"interval": 60}"#, "schedule.interval", "did you mean interval_seconds?"),
        (r#""notify": [{"on": ["done"], »"comand": ["x"]}]"#, "notify[0].comand", "did you mean command?"),
        (r#""harness": ["p", {»"profil": "q"}]"#, "harness[1].profil", "did you mean profile?"),
    ];
    for (fragment, key, advice) in table {
        refused(&around(fragment), key, &format!("unknown key; {advice}"));
    }
    refused(
        "{\"name\": \"a\",\n \"roles\": {\"implement\": null,\n\t»\"verifier\": {}}}",
        "roles.verifier",
        "unknown key; did you mean verify?",
    );
}

// cases: 4
#[test]
fn a_key_that_is_there_twice_is_refused_at_the_second_place() {
    let message = "duplicate key; keep one of the two";
    #[rustfmt::skip]
    let table = [
        (r#"»"name": "b""#, "name"),
        (r#""x-a": 1, "x-b": 2, »"x-a": 1"#, "x-a"),
        (r#""x-a": [{"b": 1, »"b": 2}]"#, "x-a[0].b"),
        (r#""brakes": {"max_iterations": 3, »"max_\u0069terations": 3}"#, "brakes.max_iterations"),
        (r#""harness": {"env": {"set": {"A": "1", »"A": "2"}}}"#, "harness.env.set.A"),
    ];
    for (fragment, key) in table {
        refused(&around(fragment), key, message);
    }
    let both = r#""blast_radius": {"use_worktree": true, »"worktree": true}"#;
    refused(
        &around(both),
        "blast_radius.worktree",
        "use_worktree is there too; remove this one",
    );
}

// rows: B-01, B-04; cases: 2, 137
#[test]
fn a_brake_that_would_be_off_or_absurd_is_refused() {
    #[rustfmt::skip]
    let table: [(&str, &str, String); 18] = [
        (r#""max_wall_seconds": »0"#, "max_wall_seconds", "expected a whole number from 1 to 31622400, or \"unlimited\", found 0".into()),
        (r#""max_wall_seconds": »"none""#, "max_wall_seconds", "expected a whole number from 1 to 31622400, or \"unlimited\", found \"none\"".into()),
        (r#""score_plateau_window": »1"#, "score_plateau_window", "one score is no plateau; write 0 to turn the brake off, or at least 2".into()),
        (r#""score_plateau_window": »"unlimited""#, "score_plateau_window", "expected a whole number from 0 to 32, found \"unlimited\"".into()),
        (r#""min_score": »1.01"#, "min_score", "expected a number from 0 to 1, found 1.01".into()),
        (r#""min_score": »-0.1"#, "min_score", "expected a number from 0 to 1, found -0.1".into()),
        (r#""min_score": »7e-1"#, "min_score", "expected a number from 0 to 1, found 7e-1".into()),
        (r#""max_harness_failures": »0"#, "max_harness_failures", "expected a whole number from 1 to 1000, found 0".into()),
        (r#""max_ticks_per_day": »0"#, "max_ticks_per_day", "expected a whole number from 1 to 86400, found 0".into()),
        (r#""max_tokens": »"unlimited""#, "max_tokens", "expected a whole number from 1 to 4294967295, found \"unlimited\"".into()),
        (r#""max_cost_usd": »"$1,234.50""#, "max_cost_usd", format!("{DOLLARS}\"$1,234.50\"")),
        (r#""max_cost_usd": »1.2e-3"#, "max_cost_usd", format!("{DOLLARS}1.2e-3")),
        (r#""max_cost_usd": »0.10000000000000001"#, "max_cost_usd", format!("{DOLLARS}0.10000000000000001")),
        (r#""min_score": »0.7000000000000001"#, "min_score", "expected a number from 0 to 1, found 0.7000000000000001".into()),
        (r#""max_cost_usd": »-1"#, "max_cost_usd", format!("{DOLLARS}-1")),
        (r#""max_cost_usd": »0.1234567"#, "max_cost_usd", format!("{DOLLARS}0.1234567")),
        (r#""max_cost_usd": »0.00"#, "max_cost_usd", "0 is no amount to count with; write more, or leave the key out".into()),
        (r#""on_trip": »"stop""#, "on_trip", "unknown value \"stop\"; use one of halt, park".into()),
    ];
    for (fragment, key, message) in table {
        refused(
            &around(&format!("\"brakes\": {{{fragment}}}")),
            &format!("brakes.{key}"),
            &message,
        );
    }
    refused(
        &around("\"brakes\": »3"),
        "brakes",
        "expected an object with the brakes, found 3",
    );
    refused(
        &around("\"brakes\": »[3]"),
        "brakes",
        "expected an object with the brakes, found an array",
    );
    refused(
        &around(r#""brakes": {"max_wall_seconds": "unlimited", "max_iterations": »"unlimited"}"#),
        "brakes.max_iterations",
        "unlimited iterations in unlimited time would never stop; limit one of the two, or set max_cost_usd, \
         max_tokens or max_ticks_per_day",
    );
    refused(
        &around(r#""brakes": {"on_trip": »"park"}"#),
        "brakes.on_trip",
        "a single source has no next task to take; use \"halt\", or a source of kind backlog, audit or command",
    );
}

// rows: H-39
#[test]
fn a_harness_that_cannot_be_called_is_refused() {
    #[rustfmt::skip]
    let table: [(&str, &str, String); 14] = [
        (r#"{"command": »"opencode run"}"#, ".command", format!("{COMMAND}\"opencode run\"")),
        (r#"{"command": [»""]}"#, ".command[0]", "the program is empty; name one".into()),
        (r#"{"command": ["a", »5]}"#, ".command[1]", "expected a string, found 5".into()),
        (r#"{"command": ["a", »"\u0000"]}"#, ".command[1]",
            "no program can be given a NUL character; take it out".into()),
        (r#"{"timeout_seconds": »0}"#, ".timeout_seconds", "expected a whole number from 1 to 604800, found 0".into()),
        (r#"{"timeout_seconds": »604801}"#, ".timeout_seconds",
            "expected a whole number from 1 to 604800, found 604801".into()),
        (r#"{"prompt_via": »"arg"}"#, ".prompt_via", "unknown value \"arg\"; did you mean \"argv\"?".into()),
        (r#"{"prompt_via": »3}"#, ".prompt_via", "unknown value 3; use one of argv, stdin, file".into()),
        (r#"{"cost_per_call_usd": »0}"#, ".cost_per_call_usd",
            "0 is no amount to count with; write more, or leave the key out".into()),
        (r#"{"env": {"set": {"A": »1}}}"#, ".env.set.A", "expected a string, found 1".into()),
        (r#"{"env": {"unset": [»"A=B"]}}"#, ".env.unset[0]", "\"A=B\" holds = or NUL; use the name of a variable".into()),
        (r#"»[]"#, "", "the list of harnesses is empty; name one, or leave the key out".into()),
        (r#"["a", »["b"]]"#, "[1]",
            "expected the name of a profile, or an object that describes a harness, found an array".into()),
        (r#"»7"#, "",
            "expected the name of a profile, an object that describes a harness, or an array of these, found 7".into()),
    ];
    for (harness, path, message) in table {
        refused(
            &around(&format!("\"harness\": {harness}")),
            &format!("harness{path}"),
            &message,
        );
        let in_role =
            format!("{{\"name\": \"a\", \"roles\": {{\"verify\": {{\"harness\": {harness}}}}}}}");
        refused(&in_role, &format!("roles.verify.harness{path}"), &message);
    }
}

// rows: K-05, S-27, X-10, C-08; cases: 154
#[test]
fn the_other_sections_are_held_to_their_forms() {
    let name = "start with a letter or digit and use at most 64 of A-Z a-z 0-9 . _ -";
    let time = "is no time of day; write two different times such as \"22:00-06:00\"";
    #[rustfmt::skip]
    let table: [(&str, &str, String); 30] = [
        (r#""description": »5"#, "description", "expected a string, found 5".into()),
        (r#""acceptance_criteria": »5"#, "acceptance_criteria", "expected a string or an array of strings, found 5".into()),
        (r#""acceptance_criteria": [»1, 2]"#, "acceptance_criteria[0]", "expected a string, found 1".into()),
        (r#""work_source": {"kind": »1}"#, "work_source.kind", "unknown value 1; use one of single, audit, backlog, command".into()),
        (r#""work_source": {"kind": "backlog", "area": »"../x"}"#, "work_source.area", "\"../x\" leads out with \"..\"; write the path without it".into()),
        (r#""work_source": {"kind": "backlog", "area": »"/x"}"#, "work_source.area", "\"/x\" is not below the project; write it relative to the project".into()),
        (r#""work_source": {"task": »"a/b"}"#, "work_source.task", format!("\"a/b\" is no task name; {name}")),
        (r#""work_source": »{"kind": "command"}"#, "work_source.command", "missing key; add it".into()),
        (r#""work_source": {"kind": "command", "command": »[]}"#, "work_source.command", "the command is empty; name a program".into()),
        (r#""gate": »{}"#, "gate.command", "missing key; add it".into()),
        (r#""gate": {"command": »"make test"}"#, "gate.command", format!("{COMMAND}\"make test\"")),
        (r#""gate": {"command": ["a"], "frozen": [»"~/x"]}"#, "gate.frozen[0]", "\"~/x\" is not below the project; write it relative to the project".into()),
        (r#""gate": {"command": ["a"], "where": »"here"}"#, "gate.where", "unknown value \"here\"; use one of worktree, clean".into()),
        (r#""gate": {"command": ["a"], "prove": »"yes"}"#, "gate.prove", "expected true or false, found \"yes\"".into()),
        (r#""blast_radius": {"use_worktree": »1}"#, "blast_radius.use_worktree", "expected true or false, found 1".into()),
        (r#""blast_radius": {"file_scope": ["src/", »"/etc"]}"#, "blast_radius.file_scope[1]", "\"/etc\" is not below the project; write it relative to the project".into()),
        (r#""blast_radius": {"file_scope": [»"a/../../b"]}"#, "blast_radius.file_scope[0]", "\"a/../../b\" leads out with \"..\"; write the path without it".into()),
        (r#""blast_radius": {"file_scope": [»""]}"#, "blast_radius.file_scope[0]", "the path is empty; name a file, a folder or a pattern, or leave it out".into()),
        (r#""blast_radius": {"protect": [»"C:\\new\\table"]}"#, "blast_radius.protect[0]", "\"C:\\\\new\\\\table\" has a backslash; separate the parts of a path with /".into()),
        (r#""blast_radius": {"file_scope": »"src/"}"#, "blast_radius.file_scope", "expected an array, found \"src/\"".into()),
        (r#""schedule": {"interval_seconds": »0}"#, "schedule.interval_seconds", "expected a whole number from 1 to 31622400, found 0".into()),
        (r#""schedule": {"interval_seconds": 60, "timezone": "UTC", "cron": »"0 * * * *"}"#, "schedule.cron", "there is an interval too; keep interval_seconds or cron, not both".into()),
        (r#""schedule": »{"cron": "0 * * * *"}"#, "schedule.timezone", "missing key; add it".into()),
        (r#""schedule": {"timezone": "UTC", "cron": »"60 * * * *"}"#, "schedule.cron", "\"60\" is no minute; use numbers from 0 to 59, *, ranges a-b and steps /n".into()),
        (r#""schedule": {"timezone": »"UTC", "interval_seconds": 5}"#, "schedule.timezone", "nothing here is read in a time zone; add cron or window, or remove it".into()),
        (r#""schedule": {"window": »"22:00-24:00"}"#, "schedule.window", format!("\"22:00-24:00\" {time}")),
        (r#""schedule": {"window": »"6:00-7:00"}"#, "schedule.window", format!("\"6:00-7:00\" {time}")),
        (r#""notify": [{"on": [»"stoped"], "command": ["x"]}]"#, "notify[0].on[0]", "unknown value \"stoped\"; did you mean \"stopped\"?".into()),
        (r#""notify": [{"on": »[], "command": ["x"]}]"#, "notify[0].on", "the list of events is empty; name one, or remove the entry".into()),
        (r#""notify": [»{"on": ["done"]}]"#, "notify[0].command", "missing key; add it".into()),
    ];
    for (fragment, key, message) in table {
        refused(&around(fragment), key, &message);
    }
}

#[test]
fn phases_are_a_list_of_different_names() {
    let known = "use one of research, spec, implement, code_review, bug_find";
    #[rustfmt::skip]
    let table: [(&str, &str, String); 7] = [
        (r#""phases": »[]"#, "phases", "there are no phases; name at least one, or leave the key out".into()),
        (r#""phases": ["a", »"a"]"#, "phases[1]", "the phase a is there twice; take one out".into()),
        (r#""phases": ["a", »"complete"]"#, "phases[1]", "\"complete\" is implied as the last phase; leave it out".into()),
        (r#""phases": [»"human_intervention"]"#, "phases[0]", "\"human_intervention\" is where a task waits for a person; name the phase otherwise" .into()),
        (r#""approval_phases": ["spec", »"review"]"#, "approval_phases[1]", format!("review is no phase of this loop; {known}")),
        (r#""phases": ["a"], "approval_phases": [»"spec"]"#, "approval_phases[0]", "spec is no phase of this loop; use one of a".into()),
        (r#""approval_phases": ["spec", »"spec"]"#, "approval_phases[1]", "the phase spec is there twice; take one out".into()),
    ];
    for (fragment, key, message) in table {
        refused(&around(fragment), key, &message);
    }
}

#[test]
fn a_loop_has_the_name_of_a_folder() {
    let long = "a".repeat(65);
    for name in [
        "",
        ".a",
        "-a",
        "_a",
        "a/b",
        "../x",
        "a b",
        "ä",
        "a\u{0}",
        long.as_str(),
    ] {
        let json = serde_json::to_string(name).unwrap();
        refused(
            &format!("{{\"name\": »{json}, \"roles\": {{}}}}"),
            "name",
            &format!(
                "{name:?} is no loop name; start with a letter or digit and use at most 64 of A-Z a-z 0-9 . _ -"
            ),
        );
    }
}

#[test]
fn columns_count_characters_and_a_byte_order_mark_is_none() {
    refused(
        "{\"description\": \"äöü\", \"name\": \"a\", »\"role\": {}}",
        "role",
        "unknown key; did you mean roles?",
    );
    refused(
        "\u{feff}{\"name\": »7}",
        "name",
        "expected a string, found 7",
    );
}

#[test]
fn a_long_value_is_shown_shortened() {
    let value = format!("\"{}\"", "é".repeat(100));
    let shown = format!("\"{}...", "é".repeat(39));
    refused(
        &around(&format!("\"brakes\": {{\"max_iterations\": »{value}}}")),
        "brakes.max_iterations",
        &format!("{ITERATIONS}{shown}"),
    );
}

#[test]
fn a_hostile_key_or_value_cannot_move_the_cursor() {
    refused(
        &around(r#"»"a\u001b[2J\n\u2028b": 1"#),
        r"a\u{1b}[2J\n\u{2028}b",
        "unknown key; use one of $schema, name, description, work_source, acceptance_criteria, roles, harness, gate, \
         brakes, blast_radius, schedule, phases, approval_phases, notify",
    );
    refused(
        &around("\"brakes\": {\"max_iterations\": »\"\u{9b}31m\"}"),
        "brakes.max_iterations",
        &format!("{ITERATIONS}\"\\u{{9b}}31m\""),
    );
}
