//! Who a harness is, and what it is called.
//!
//! A loop's records know a harness by its name alone. So the same harness has the
//! same name in every role, and no two have one name: whether a judge did the work
//! itself, and who is out of service, is seen from names.

use super::CalledHarness;
use crate::config::{Env, VariableName, VariableValue};
use std::collections::{BTreeMap, BTreeSet};

/// Names the harnesses of a loop, list by list. The first of several that would
/// have the same name keeps it, the later ones have a number behind it.
pub(super) fn give<'h>(harnesses: impl IntoIterator<Item = &'h mut CalledHarness>) {
    let mut named: Vec<&CalledHarness> = Vec::new();
    for harness in harnesses {
        harness.name = match named.iter().find(|known| is_same(known, harness)) {
            Some(known) => known.name.clone(),
            None => free(&harness.name, &named),
        };
        named.push(harness);
    }
}

/// Whether two harnesses are one: the same command of the same tool in the same
/// environment. How long it may take and how it gets its prompt makes it no other.
fn is_same(one: &CalledHarness, other: &CalledHarness) -> bool {
    let profile = |harness: &CalledHarness| harness.profile.as_ref().map(|p| p.name().clone());
    one.command == other.command
        && profile(one) == profile(other)
        && changes(&one.env) == changes(&other.env)
}

/// What a harness's environment gets, loses and inherits, however it is written.
type Changes<'e> = (
    BTreeMap<&'e VariableName, &'e VariableValue>,
    BTreeSet<&'e VariableName>,
    Option<BTreeSet<&'e VariableName>>,
);

fn changes(env: &Env) -> Changes<'_> {
    (
        env.set.iter().flatten().collect(),
        env.unset.iter().flatten().collect(),
        env.pass.as_ref().map(|pass| pass.iter().collect()),
    )
}

/// Returns `plain`, or with the first number behind it that makes it a new name.
fn free(plain: &str, named: &[&CalledHarness]) -> String {
    let mut name = plain.to_owned();
    let mut number = 1;
    while named.iter().any(|known| known.name == name) {
        number += 1;
        name = format!("{plain}-{number}");
    }
    name
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, ProfileName};
    use crate::harness::{Harnesses, Profiles};
    use crate::profile::Profile;
    use crate::step::Role;
    use std::sync::Arc;

    fn profiles(names: &[&str]) -> Profiles {
        let profile = |name: &&str| {
            let text = format!(
                r#"{{"v": 1, "name": "{name}", "command": ["{name}"], "prompt_via": "stdin",
                    "output": {{"format": "ndjson", "final": {{"path": "text"}}}}}}"#
            );
            let profile = Profile::parse(&text).unwrap();
            let name: ProfileName = name.parse().unwrap();
            (name, Arc::new(profile))
        };
        names.iter().map(profile).collect()
    }

    /// Returns the names of implement's harnesses and of verify's.
    fn names(implement: &str, verify: &str) -> [Vec<String>; 2] {
        let text = format!(
            r#"{{"name": "l", "roles": {{"plan": {{"harness": "pi"}},
                "implement": {{"harness": {implement}}}, "verify": {{"harness": {verify}}}}}}}"#
        );
        let config = Config::parse(&text).unwrap().config;
        let harnesses = Harnesses::of(&config, &profiles(&["pi", "pi-2", "codex"])).unwrap();
        [Role::Implement, Role::Verify].map(|role| {
            let names = harnesses.of_role(role).iter().map(|h| h.name.clone());
            names.collect()
        })
    }

    // rows: H-20
    // cases: 43
    #[test]
    fn a_name_stands_for_one_harness_in_every_role() {
        #[rustfmt::skip]
        let table = [
            // One tool with two models is two harnesses, whichever role has them.
            (r#"[{"profile": "pi", "command": ["pi", "strong"]}, "codex"]"#,
             r#"[{"profile": "pi", "command": ["pi", "cheap"]}, "codex"]"#,
             "pi codex / pi-2 codex"),
            // The same one has one name wherever it stands in the lists.
            (r#"[{"profile": "pi", "command": ["pi", "a"]}, {"profile": "pi", "command": ["pi", "b"]}]"#,
             r#"{"profile": "pi", "command": ["pi", "b"]}"#,
             "pi pi-2 / pi-2"),
            (r#"["codex", {"profile": "codex", "timeout_seconds": 9, "cost_per_call_usd": 1}]"#,
             r#"{"profile": "codex", "command": ["codex"], "env": {"set": {}}}"#,
             "codex codex / codex"),
            // Programs without a profile are told apart by what they are called with.
            (r#"{"command": ["bash", "work.sh"]}"#, r#"{"command": ["/bin/bash", "judge.sh"]}"#,
             "bash / bash-2"),
            (r#"{"command": ["bash", "work.sh"]}"#, r#"{"command": ["bash", "work.sh"]}"#,
             "bash / bash"),
            // So are accounts and models that stand in the environment.
            (r#"{"profile": "codex", "env": {"set": {"HOME": "/a"}}}"#,
             r#"[{"profile": "codex", "env": {"set": {"HOME": "/b"}}}, "codex"]"#,
             "codex / codex-2 codex-3"),
            (r#"{"profile": "codex", "env": {"unset": ["A", "B"]}}"#,
             r#"{"profile": "codex", "env": {"unset": ["B", "A"]}}"#,
             "codex / codex"),
            (r#"{"profile": "codex", "env": {"pass": []}}"#, r#""codex""#, "codex / codex-2"),
            // A profile is part of it; and no number makes it another's name.
            (r#"{"profile": "codex", "command": ["pi"]}"#, r#"["pi", {"command": ["pi"]}, "pi-2"]"#,
             "codex / pi pi-2 pi-2-2"),
            (r#""pi-2""#, r#"["pi", {"command": ["pi"]}]"#, "pi-2 / pi pi-3"),
        ];
        for (implement, verify, expected) in table {
            let [work, judge] = names(implement, verify).map(|names| names.join(" "));
            assert_eq!(format!("{work} / {judge}"), expected);
        }
    }
}
