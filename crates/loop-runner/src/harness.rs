//! How a role's harness is called, taken from the configuration.

use crate::holder::Policy;
use loop_core::Role;
use loop_core::config::{self, Config, Harness, HarnessRef};
use std::ffi::OsString;
use std::time::Duration;

/// The seeds' default command: the one place where a harness is named.
const DEFAULT_COMMAND: [&str; 5] = ["opencode", "run", "--dir", "{cwd}", "{prompt_content}"];

/// Everything about a harness but the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarnessSettings {
    /// The command with its tokens.
    pub command: Vec<String>,
    /// Whether it is the seeds' default.
    pub is_default: bool,
    /// How long a call may be silent.
    pub idle_timeout: Option<Duration>,
    /// What its environment gets and loses.
    pub environment: Policy,
}

impl HarnessSettings {
    /// Returns the harness of `role`: its own, else the loop's, else the
    /// default command.
    #[must_use]
    pub fn of(config: &Config, role: Role) -> Self {
        let harness = config
            .harness_of(role_config(config, role))
            .and_then(|choice| choice.as_slice().first())
            .and_then(HarnessRef::described);
        let command = harness.and_then(Harness::command);
        Self {
            is_default: command.is_none(),
            command: match command {
                Some(argv) => argv.as_slice().to_vec(),
                None => DEFAULT_COMMAND.map(str::to_owned).to_vec(),
            },
            idle_timeout: harness.and_then(Harness::idle_timeout),
            environment: harness.map_or_else(Policy::default, policy),
        }
    }
}

/// Returns what the configuration says of `role`.
#[must_use]
pub fn role_config(config: &Config, role: Role) -> Option<&config::Role> {
    let roles = config.roles();
    match role {
        Role::Plan => roles.plan.as_ref(),
        Role::Implement => roles.implement.as_ref(),
        Role::Verify => roles.verify.as_ref(),
        Role::Orchestrate => roles.orchestrate.as_ref(),
    }
}

fn policy(harness: &Harness) -> Policy {
    let Some(env) = &harness.env else {
        return Policy::default();
    };
    let names = |names: &Vec<config::VariableName>| {
        names
            .iter()
            .map(|name| OsString::from(name.as_str()))
            .collect()
    };
    Policy {
        set: env
            .set
            .iter()
            .flatten()
            .map(|(name, value)| (name.as_str().into(), value.as_str().into()))
            .collect(),
        unset: env.unset.as_ref().map(names).unwrap_or_default(),
        pass: env.pass.as_ref().map(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(harness: &str) -> HarnessSettings {
        let text = format!(r#"{{"name":"l","roles":{{}}{harness}}}"#);
        let config = Config::parse(&text).unwrap().config;
        HarnessSettings::of(&config, Role::Implement)
    }

    // rows: H-01, H-02, H-03, H-04, H-05, H-06, Q-42, Q-47
    // cases: 114
    #[test]
    fn without_a_command_the_default_is_used() {
        for harness in [
            "",
            r#","harness":null"#,
            r#","harness":{}"#,
            r#","harness":{"command":[]}"#,
            r#","harness":{"command":null}"#,
            r#","harness":{"prompt_var":"X"}"#,
        ] {
            let settings = settings(harness);
            assert!(settings.is_default, "{harness}");
            assert_eq!(settings.command, DEFAULT_COMMAND, "{harness}");
        }
        assert!(DEFAULT_COMMAND.contains(&"--dir"));
        assert!(!DEFAULT_COMMAND.iter().any(|element| {
            // Nor does it go on with whatever session a person had last.
            [
                "--cwd",
                "--prompt-file",
                "-m",
                "-c",
                "--continue",
                "-s",
                "--session",
            ]
            .contains(element)
                || element.starts_with("--model")
        }));
    }

    // rows: H-20
    #[test]
    fn a_role_may_have_a_harness_of_its_own() {
        let text = r#"{"name":"l","harness":{"command":["a"]},
            "roles":{"verify":{"harness":{"command":["b"],"env":{"unset":["K"]}}}}}"#;
        let config = Config::parse(text).unwrap().config;
        let command = |role| HarnessSettings::of(&config, role).command;
        assert_eq!(command(Role::Implement), ["a"]);
        assert_eq!(command(Role::Verify), ["b"]);
        assert_eq!(command(Role::Orchestrate), ["a"]);
        let verify = HarnessSettings::of(&config, Role::Verify);
        assert_eq!(verify.environment.unset, [OsString::from("K")]);
    }
}
