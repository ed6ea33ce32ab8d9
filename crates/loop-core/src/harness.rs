//! The harnesses of a loop as they are called: what the configuration says, over
//! the profiles that it names (decision D-8).

mod names;

use crate::Usd;
use crate::config::{
    self, Config, Env, Harness, HarnessChoice, HarnessRef, ProfileName, PromptVia,
};
use crate::profile::Profile;
use crate::step::Role;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The seeds' default command: the one place where a harness is named.
pub const DEFAULT_COMMAND: [&str; 5] = ["opencode", "run", "--dir", "{cwd}", "{prompt_content}"];

/// The profiles that there are, by name.
pub type Profiles = BTreeMap<ProfileName, Arc<Profile>>;

/// The harnesses of every role, in the order in which they are tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Harnesses {
    shared: Vec<CalledHarness>,
    plan: Vec<CalledHarness>,
    implement: Vec<CalledHarness>,
    verify: Vec<CalledHarness>,
    orchestrate: Vec<CalledHarness>,
}

/// One harness of a role, with everything that a call needs to know.
#[derive(Clone, Debug, PartialEq)]
pub struct CalledHarness {
    /// Its name: its profile's, else its program's. Where two that differ would have
    /// the same, the later one has a number behind it.
    pub name: String,
    /// Its profile. Without one a harness is its exit code and its text.
    pub profile: Option<Arc<Profile>>,
    /// The command with its tokens.
    pub command: Vec<String>,
    /// Whether that is the seeds' default.
    pub is_default: bool,
    /// How the prompt reaches it.
    pub prompt_via: PromptVia,
    /// How long a call may take.
    pub timeout: Duration,
    /// How long a call may be silent.
    pub idle_timeout: Option<Duration>,
    /// What its environment gets and loses.
    pub env: Env,
    /// What a call is taken to cost when it reports nothing.
    pub cost_per_call: Option<Usd>,
}

/// A harness that cannot be called as it is described.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// Its profile does not exist.
    #[error("{key}: there is no harness profile `{name}`; there are {}", known.join(", "))]
    NoSuchProfile {
        /// The path of the key that names it.
        key: String,
        /// The name.
        name: String,
        /// The names of those that there are.
        known: Vec<String>,
    },
    /// The prompt goes into a file that the command does not name.
    #[error("{key}: with prompt_via \"file\" the command needs {{prompt}}, the file's path")]
    NoPromptFile {
        /// The path of the key that describes it.
        key: String,
    },
}

impl HarnessError {
    /// Returns the path of the key that is wrong.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::NoSuchProfile { key, .. } | Self::NoPromptFile { key } => key,
        }
    }
}

impl Harnesses {
    /// Finds the harnesses of every role of `config`.
    ///
    /// # Errors
    ///
    /// [`HarnessError`] for the first harness that cannot be called.
    pub fn of(config: &Config, profiles: &Profiles) -> Result<Self, HarnessError> {
        let shared = called(config.harness(), "harness", profiles)?;
        let of = |name, role: Option<&config::Role>| match role.and_then(|r| r.harness.as_ref()) {
            Some(own) => called(Some(own), &format!("roles.{name}.harness"), profiles),
            None => Ok(shared.clone()),
        };
        let roles = config.roles();
        let mut harnesses = Self {
            plan: of("plan", roles.plan.as_ref())?,
            implement: of("implement", roles.implement.as_ref())?,
            verify: of("verify", roles.verify.as_ref())?,
            orchestrate: of("orchestrate", roles.orchestrate.as_ref())?,
            shared,
        };
        // In this order a role that is not called takes no name from one that is.
        let lists = [
            &mut harnesses.implement,
            &mut harnesses.verify,
            &mut harnesses.plan,
            &mut harnesses.orchestrate,
            &mut harnesses.shared,
        ];
        names::give(lists.into_iter().flatten());
        Ok(harnesses)
    }

    /// Returns the harnesses of every role that has none of its own.
    #[must_use]
    pub fn shared(&self) -> &[CalledHarness] {
        &self.shared
    }

    /// Returns the harnesses of the role called `name`; none if there is no such role.
    pub(crate) fn of_name(&self, name: &str) -> &[CalledHarness] {
        let role = Role::ALL.into_iter().find(|role| role.as_str() == name);
        role.map_or(&[], |role| self.of_role(role))
    }

    /// Returns the harnesses of `role` in the order in which they are tried; there
    /// is at least one.
    #[must_use]
    pub fn of_role(&self, role: Role) -> &[CalledHarness] {
        match role {
            Role::Plan => &self.plan,
            Role::Implement => &self.implement,
            Role::Verify => &self.verify,
            Role::Orchestrate => &self.orchestrate,
        }
    }
}

impl CalledHarness {
    /// Whether it reports what a call has cost.
    #[must_use]
    pub fn reports_cost(&self) -> bool {
        self.profile.as_ref().is_some_and(|p| p.reports_cost())
    }

    /// Whether it reports the tokens of a call.
    #[must_use]
    pub fn reports_tokens(&self) -> bool {
        self.profile.as_ref().is_some_and(|p| p.reports_tokens())
    }

    /// Whether a prompt that starts with `-` would be taken for an option.
    #[must_use]
    pub fn refuses_dash(&self) -> bool {
        self.is_default || self.profile.as_ref().is_some_and(|p| p.refuses_dash())
    }

    fn new(
        choice: Option<&HarnessRef>,
        key: &str,
        profiles: &Profiles,
    ) -> Result<Self, HarnessError> {
        let described = choice.and_then(HarnessRef::described);
        let profile = match choice {
            Some(HarnessRef::Profile(name)) => Some(find(name, key, profiles)?),
            Some(HarnessRef::Described(harness)) => match &harness.profile {
                Some(name) => Some(find(name, &format!("{key}.profile"), profiles)?),
                None => None,
            },
            None => None,
        };
        let own = described.and_then(Harness::command);
        let command = own.or_else(|| profile.as_ref().map(|profile| profile.command()));
        let is_default = command.is_none();
        let command = match command {
            Some(argv) => argv.as_slice().to_vec(),
            None => DEFAULT_COMMAND.map(str::to_owned).to_vec(),
        };
        let harness = described.cloned().unwrap_or_default();
        let prompt_via = match (harness.prompt_via, &profile) {
            (Some(via), _) => via,
            (None, Some(profile)) => profile.prompt_via(),
            (None, None) => PromptVia::default(),
        };
        if prompt_via == PromptVia::File && !command.iter().any(|e| e.contains("{prompt}")) {
            return Err(HarnessError::NoPromptFile {
                key: key.to_owned(),
            });
        }
        let idle = profile.as_ref().and_then(|profile| profile.idle_timeout());
        Ok(Self {
            name: match &profile {
                Some(profile) => profile.name().as_str().to_owned(),
                None => program(&command),
            },
            timeout: harness.timeout(),
            idle_timeout: harness.idle_timeout().or(idle),
            env: merged(
                profile.as_ref().and_then(|profile| profile.env()),
                harness.env.as_ref(),
            ),
            cost_per_call: harness.cost_per_call(),
            profile,
            command,
            is_default,
            prompt_via,
        })
    }
}

/// Finds the harnesses that stand at `key`; without any it is the default command.
fn called(
    choice: Option<&HarnessChoice>,
    key: &str,
    profiles: &Profiles,
) -> Result<Vec<CalledHarness>, HarnessError> {
    let Some(choice) = choice else {
        return Ok(vec![CalledHarness::new(None, key, profiles)?]);
    };
    let at = |(index, harness): (usize, &HarnessRef)| {
        let key = match choice {
            HarnessChoice::One(_) => key.to_owned(),
            HarnessChoice::Fallbacks(_) => format!("{key}[{index}]"),
        };
        CalledHarness::new(Some(harness), &key, profiles)
    };
    choice.as_slice().iter().enumerate().map(at).collect()
}

fn find(name: &ProfileName, key: &str, profiles: &Profiles) -> Result<Arc<Profile>, HarnessError> {
    profiles
        .get(name)
        .cloned()
        .ok_or_else(|| HarnessError::NoSuchProfile {
            key: key.to_owned(),
            name: name.as_str().to_owned(),
            known: profiles
                .keys()
                .map(|name| name.as_str().to_owned())
                .collect(),
        })
}

/// Returns the name of a command's program without its folder.
fn program(command: &[String]) -> String {
    let first = command.first().map_or("", String::as_str);
    let name = Path::new(first).file_name();
    name.and_then(|name| name.to_str())
        .unwrap_or(first)
        .to_owned()
}

/// Puts the configuration's changes to the environment over the profile's.
fn merged(profile: Option<&Env>, own: Option<&Env>) -> Env {
    let (Some(profile), Some(own)) = (profile, own) else {
        return profile.or(own).cloned().unwrap_or_default();
    };
    let mut set = profile.set.clone().unwrap_or_default();
    set.extend(own.set.clone().unwrap_or_default());
    let mut unset = profile.unset.clone().unwrap_or_default();
    unset.extend(own.unset.clone().unwrap_or_default());
    unset.retain(|name| !own.set.as_ref().is_some_and(|set| set.contains_key(name)));
    Env {
        set: Some(set),
        unset: Some(unset),
        pass: own.pass.clone().or_else(|| profile.pass.clone()),
    }
}
