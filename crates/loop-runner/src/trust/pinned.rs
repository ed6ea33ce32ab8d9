//! What of a configuration has to be agreed to: all of it, less what starts nothing.

use crate::hash::sha256_hex;
use crate::lint::called_roles;
use crate::setup::Setup;
use loop_core::config::Config;
use loop_core::notice::{REDACTED, Secrets};
use serde_json::{Map, Value};

/// Keys that neither start anything nor widen what an agent reaches: texts, caps,
/// and paths to look at. A key that is new is not among them, so that what a later
/// version can start has to be agreed to.
///
/// `*` stands for any key.
const STARTS_NOTHING: &[&str] = &[
    "$schema",
    "name",
    "description",
    "acceptance_criteria",
    "brakes",
    "schedule",
    "phases",
    "approval_phases",
    "work_source.kind",
    "work_source.area",
    "work_source.section",
    "work_source.task",
    "work_source.timeout_seconds",
    "work_source.tick_when_done",
    "roles.*.prompt",
    "roles.*.tier",
    "roles.*.context_window",
    "gate.frozen",
    "gate.timeout_seconds",
    "gate.min_tests",
    "gate.must_start_red",
    "gate.report",
    "gate.prove",
];

/// The same in every harness, wherever it stands.
const OF_A_HARNESS: &[&str] = &[
    "timeout_seconds",
    "idle_timeout_seconds",
    "cost_per_call_usd",
    "prompt_var",
    "cwd_var",
    "output_var",
];

/// What a loop starts, or lets an agent reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pinned {
    /// SHA-256 of all of it.
    pub(super) digest: String,
    /// A line for each, for people.
    pub(super) lines: Vec<String>,
}

/// Says in lines what a loop starts, for people: every program that its
/// configuration names, the default command where it names none, and what an agent
/// may reach. Values of variables that look like secrets are hidden.
#[must_use]
pub fn starts(setup: &Setup) -> Vec<String> {
    let mut lines = Vec::new();
    for role in called_roles(setup) {
        for harness in setup.harnesses.of_role(role) {
            let whose = match &harness.profile {
                Some(profile) => format!("the profile {}", profile.name().as_str()),
                None if harness.is_default => "default".to_owned(),
                None => continue,
            };
            let command = Value::from(harness.command.clone());
            lines.push(format!("roles.{} ({whose}): {command}", role.as_str()));
        }
    }
    lines.extend(Pinned::of(&setup.config).lines);
    lines
}

impl Pinned {
    pub(super) fn of(config: &Config) -> Self {
        // A map of settings always has a form in JSON.
        let mut value = serde_json::to_value(config).unwrap_or_default();
        if let Value::Object(keys) = &mut value {
            keys.retain(|key, _| !key.starts_with("x-"));
        }
        for path in STARTS_NOTHING {
            let steps: Vec<_> = path.split('.').collect();
            remove(&mut value, &steps);
        }
        strip_harnesses(&mut value);
        drop_empty(&mut value);
        sort(&mut value);
        let mut lines = Vec::new();
        tell("", &value, &mut lines);
        Self {
            digest: sha256_hex(value.to_string().as_bytes()),
            lines,
        }
    }
}

fn remove(value: &mut Value, steps: &[&str]) {
    let (Value::Object(keys), Some((step, rest))) = (value, steps.split_first()) else {
        return;
    };
    match (*step, rest) {
        (last, []) => {
            keys.shift_remove(last);
        }
        ("*", rest) => keys.values_mut().for_each(|value| remove(value, rest)),
        (step, rest) => {
            if let Some(value) = keys.get_mut(step) {
                remove(value, rest);
            }
        }
    }
}

fn strip_harnesses(value: &mut Value) {
    let Value::Object(keys) = value else {
        return;
    };
    if let Some(harness) = keys.get_mut("harness") {
        strip(harness);
    }
    if let Some(Value::Object(roles)) = keys.get_mut("roles") {
        let own = roles
            .values_mut()
            .filter_map(|role| role.get_mut("harness"));
        own.for_each(strip);
    }
}

/// Strips one harness, or each of a list.
fn strip(harness: &mut Value) {
    match harness {
        Value::Array(list) => list.iter_mut().for_each(strip),
        Value::Object(_) => OF_A_HARNESS.iter().for_each(|key| remove(harness, &[key])),
        _ => {}
    }
}

/// Takes out what says nothing, so that an empty object is as good as none.
fn drop_empty(value: &mut Value) {
    if let Value::Object(keys) = value {
        keys.values_mut().for_each(drop_empty);
        keys.retain(|_, value| !is_empty(value));
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(keys) => keys.is_empty(),
        _ => false,
    }
}

/// The order in which keys stand in a file means nothing.
fn sort(value: &mut Value) {
    match value {
        Value::Object(keys) => {
            keys.values_mut().for_each(sort);
            keys.sort_keys();
        }
        Value::Array(list) => list.iter_mut().for_each(sort),
        _ => {}
    }
}

fn tell(path: &str, value: &Value, lines: &mut Vec<String>) {
    let at = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    match value {
        Value::Object(keys) if path.ends_with("env.set") => tell_variables(path, keys, lines),
        Value::Object(keys) => {
            for (key, value) in keys {
                tell(&at(key), value, lines);
            }
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            for (index, value) in list.iter().enumerate() {
                tell(&format!("{path}[{index}]"), value, lines);
            }
        }
        value => lines.push(format!("{path}: {value}")),
    }
}

fn tell_variables(path: &str, keys: &Map<String, Value>, lines: &mut Vec<String>) {
    for (name, value) in keys {
        let shown = match Secrets::is_secret(name) {
            true => REDACTED.to_owned(),
            false => value.to_string(),
        };
        lines.push(format!("{path}.{name}: {shown}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(rest: &str) -> Pinned {
        let text = format!(r#"{{"name":"l"{rest}}}"#);
        let parsed = Config::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        Pinned::of(&parsed.config)
    }

    const ROLES: &str = r#","roles":{"implement":{"prompt":"a.md"}}"#;

    // cases: 152
    #[test]
    fn whatever_can_start_a_program_or_widen_its_reach_counts() {
        let plain = pinned(ROLES);
        for added in [
            r#","harness":{"command":["a"]}"#,
            r#","harness":{"profile":"p"}"#,
            r#","harness":"p""#,
            r#","harness":[{"command":["a"]}]"#,
            r#","harness":{"env":{"set":{"LD_PRELOAD":"/x"}}}"#,
            r#","harness":{"env":{"pass":["HOME"]}}"#,
            r#","gate":{"command":["a"]}"#,
            r#","gate":{"command":["a"],"setup":["b"]}"#,
            r#","gate":{"command":["a"],"where":"clean","overlay":"/o"}"#,
            r#","work_source":{"kind":"command","command":["a"]}"#,
            r#","work_source":{"kind":"command","command":["a"],"done_command":["b"]}"#,
            r#","work_source":{"kind":"single","project":"/q"}"#,
            r#","blast_radius":{"setup":["a"]}"#,
            r#","blast_radius":{"copy":[".env"]}"#,
            r#","blast_radius":{"watch":"warn"}"#,
            r#","blast_radius":{"use_worktree":true}"#,
            r#","notify":[{"on":["done"],"command":["a"]}]"#,
        ] {
            let other = pinned(&format!("{ROLES}{added}"));
            assert_ne!(other.digest, plain.digest, "{added}");
            assert_ne!(other.lines, plain.lines, "{added}");
        }
        let own = pinned(r#","roles":{"verify":{"harness":{"command":["a"]}}}"#);
        assert_eq!(own.lines, [r#"roles.verify.harness.command: ["a"]"#]);
    }

    #[test]
    fn texts_caps_and_order_do_not_count() {
        let plain = pinned(&format!(r#"{ROLES},"harness":{{"command":["a"]}}"#));
        for same in [
            r#","harness":{"command":["a"]},"roles":{"implement":{"prompt":"b.md","tier":"x"}}"#,
            r#","roles":{},"harness":{"timeout_seconds":5,"command":["a"],"cost_per_call_usd":1}"#,
            r#","roles":{},"harness":{"command":["a"]},"brakes":{"max_iterations":99}"#,
            r#","roles":{},"harness":{"command":["a"]},"acceptance_criteria":["x"],"x-note":1"#,
            r#","roles":{},"harness":{"command":["a"]},"phases":["implement"],"gate":null"#,
            r#","roles":{},"harness":{"command":["a"]},"description":"d","notify":[]"#,
        ] {
            assert_eq!(pinned(same), plain, "{same}");
        }
    }

    #[test]
    fn a_secret_counts_and_is_not_shown() {
        let with = |key: &str| {
            let env = format!(r#"{{"API_KEY":"{key}","MODE":"fast"}}"#);
            pinned(&format!(r#"{ROLES},"harness":{{"env":{{"set":{env}}}}}"#))
        };
        let (one, other) = (with("opensesame"), with("opensesamf"));
        assert_ne!(one.digest, other.digest);
        assert_eq!(one.lines, other.lines);
        assert_eq!(
            one.lines,
            [
                "harness.env.set.API_KEY: [redacted]",
                "harness.env.set.MODE: \"fast\""
            ]
        );
    }
}
