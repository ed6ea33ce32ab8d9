//! What a child sees of the engine's environment.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
};

/// Names that are inherited in any case.
const BASIC: [&str; 7] = ["PATH", "HOME", "USER", "SHELL", "LANG", "TERM", "TZ"];
/// Prefixes of names that are inherited in any case.
const BASIC_PREFIXES: [&str; 2] = ["LC_", "XDG_"];
/// Prefixes of names that are never inherited: a child that sees the git
/// variables or the loop of its engine acts on the wrong repository or loop.
const NEVER: [&str; 2] = ["GIT_", "AUTOMATON_"];

/// The exact environment of a child.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<OsString, OsString>);

/// A configuration's `env` object, with a harness profile's names merged in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Variables that are set last, whatever their name.
    pub set: BTreeMap<OsString, OsString>,
    /// Names that are not inherited.
    pub unset: Vec<OsString>,
    /// If present, only these names and a basic set are inherited.
    ///
    /// `GIT_*` and `AUTOMATON_*` are not inherited even when named here; who
    /// wants one gives its value in [`set`](Self::set).
    pub pass: Option<Vec<OsString>>,
}

/// The variables by which a child knows where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// `AUTOMATON_LOOP`: the loop's name.
    pub loop_name: OsString,
    /// `AUTOMATON_ROLE`: the role that the child plays. Commands that change
    /// something refuse to run where it is set.
    pub role: Option<OsString>,
    /// `AUTOMATON_TICK`: the tick's number.
    pub tick: Option<u64>,
    /// `AUTOMATON_PROJECT`: the project's root.
    pub project: OsString,
    /// `AUTOMATON_HOME`: the automation's home.
    pub home: OsString,
    /// `AUTOMATON_DIFF`: the file that holds the changes to be judged.
    pub diff: Option<OsString>,
}

impl Environment {
    /// Filters `inherited` by `policy` and adds `place`.
    ///
    /// Later steps win: inherited variables, then the place's, then the
    /// policy's `set`.
    pub fn new(
        inherited: impl IntoIterator<Item = (OsString, OsString)>,
        policy: &Policy,
        place: &Place,
    ) -> Self {
        let mut variables: BTreeMap<_, _> = inherited
            .into_iter()
            .filter(|(name, _)| policy.inherits(name))
            .collect();
        variables.extend(place.variables());
        variables.extend(policy.set.clone());
        Self(variables)
    }

    /// Returns the value of `name`.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.0.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// Sets one more variable, such as those of a notification.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.0.insert(name.into(), value.into());
    }

    /// Iterates over names and values in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    /// Takes the variables as they are, without any filter.
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl Policy {
    fn inherits(&self, name: &OsStr) -> bool {
        !has_prefix(name, &NEVER)
            && !self.unset.iter().any(|unset| unset == name)
            && self.pass.as_ref().is_none_or(|pass| {
                pass.iter().any(|passed| passed == name)
                    || BASIC.iter().any(|basic| *basic == name)
                    || has_prefix(name, &BASIC_PREFIXES)
            })
    }
}

impl Place {
    fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> {
        let tick = self.tick.map(|tick| tick.to_string().into());
        [
            ("AUTOMATON_LOOP", Some(self.loop_name.clone())),
            ("AUTOMATON_ROLE", self.role.clone()),
            ("AUTOMATON_TICK", tick),
            ("AUTOMATON_PROJECT", Some(self.project.clone())),
            ("AUTOMATON_HOME", Some(self.home.clone())),
            ("AUTOMATON_DIFF", self.diff.clone()),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.into(), value?)))
    }
}

fn has_prefix(name: &OsStr, prefixes: &[&str]) -> bool {
    prefixes
        .iter()
        .any(|prefix| name.as_bytes().starts_with(prefix.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INHERITED: &[&str] = &[
        "PATH=/bin",
        "HOME=/h",
        "USER=u",
        "SHELL=/bin/sh",
        "LANG=C",
        "LC_ALL=C",
        "TERM=dumb",
        "TZ=UTC",
        "XDG_CACHE_HOME=/c",
        "API_KEY=k",
        "EDITOR=ed",
        "PATHS=x",
        "GIT_DIR=/g",
        "GITHUB_TOKEN=t",
        "AUTOMATON_ROLE=verify",
        "AUTOMATON_DIFF=/old",
        "AUTOMATON_EVENT=old",
    ];

    fn pairs(list: &[&str]) -> Vec<(OsString, OsString)> {
        list.iter()
            .map(|pair| pair.split_once('=').unwrap())
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    fn names(list: &[&str]) -> Vec<OsString> {
        list.iter().map(OsString::from).collect()
    }

    fn place(diff: Option<&str>) -> Place {
        Place {
            loop_name: "l".into(),
            role: Some("implement".into()),
            tick: Some(7),
            project: "/p".into(),
            home: "/a".into(),
            diff: diff.map(OsString::from),
        }
    }

    const OURS: &[&str] = &[
        "AUTOMATON_LOOP=l",
        "AUTOMATON_ROLE=implement",
        "AUTOMATON_TICK=7",
        "AUTOMATON_PROJECT=/p",
        "AUTOMATON_HOME=/a",
    ];
    const BASICS: &[&str] = &[
        "PATH=/bin",
        "HOME=/h",
        "USER=u",
        "SHELL=/bin/sh",
        "LANG=C",
        "LC_ALL=C",
        "TERM=dumb",
        "TZ=UTC",
        "XDG_CACHE_HOME=/c",
    ];

    // rows: D-23
    #[test]
    fn environment_follows_the_table() {
        let others = ["API_KEY=k", "EDITOR=ed", "PATHS=x", "GITHUB_TOKEN=t"];
        let cases: [(&str, Policy, Option<&str>, Vec<&str>); 6] = [
            ("no policy", Policy::default(), None, others.to_vec()),
            (
                "unset takes away what is inherited, not what we set",
                Policy {
                    unset: names(&["API_KEY", "EDITOR", "AUTOMATON_ROLE", "ABSENT"]),
                    ..Policy::default()
                },
                None,
                vec!["PATHS=x", "GITHUB_TOKEN=t"],
            ),
            (
                "pass keeps the basic set and its names, exactly",
                Policy {
                    pass: Some(names(&["API_KEY", "PATHS"])),
                    ..Policy::default()
                },
                None,
                vec!["API_KEY=k", "PATHS=x"],
            ),
            (
                "pass cannot bring back git's variables or an engine's",
                Policy {
                    pass: Some(names(&["GIT_DIR", "AUTOMATON_EVENT"])),
                    ..Policy::default()
                },
                None,
                vec![],
            ),
            (
                "unset wins over pass, set over all",
                Policy {
                    set: pairs(&["API_KEY=mine", "GIT_PAGER=cat"])
                        .into_iter()
                        .collect(),
                    unset: names(&["API_KEY", "EDITOR"]),
                    pass: Some(names(&["API_KEY", "EDITOR"])),
                },
                None,
                vec!["API_KEY=mine", "GIT_PAGER=cat"],
            ),
            (
                "a diff is ours, not the inherited one",
                Policy {
                    pass: Some(vec![]),
                    ..Policy::default()
                },
                Some("/new"),
                vec!["AUTOMATON_DIFF=/new"],
            ),
        ];
        for (what, policy, diff, expected) in cases {
            let actual = Environment::new(pairs(INHERITED), &policy, &place(diff));
            let expected: Environment = pairs(&[BASICS, OURS, &expected].concat())
                .into_iter()
                .collect();
            assert_eq!(actual, expected, "{what}");
        }
    }

    #[test]
    fn what_a_place_lacks_is_not_set() {
        let outside = Place {
            role: None,
            tick: None,
            ..place(None)
        };
        let actual = Environment::new(pairs(INHERITED), &Policy::default(), &outside);
        let ours = actual.iter().filter(|(name, _)| has_prefix(name, &NEVER));
        let names: Vec<_> = ours.map(|(name, _)| name).collect();
        assert_eq!(
            names,
            ["AUTOMATON_HOME", "AUTOMATON_LOOP", "AUTOMATON_PROJECT"]
        );
    }

    #[test]
    fn basic_names_may_be_unset() {
        let policy = Policy {
            unset: names(&["TERM"]),
            ..Policy::default()
        };
        let actual = Environment::new(pairs(INHERITED), &policy, &place(None));
        assert_eq!(actual.get("TERM"), None);
        assert_eq!(actual.get("HOME"), Some(OsStr::new("/h")));
    }
}
