//! How an agent's command-line tool is called.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::command::{Argv, HarnessCommand};
use super::money::PositiveUsd;
use super::name::{ProfileName, checked_string};
use super::number::Whole;
use crate::Usd;

/// The harness of a loop or of one role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum HarnessChoice {
    /// One harness.
    One(HarnessRef),
    /// Harnesses that are tried in turn, while the ones before are out of service.
    Fallbacks(#[schemars(length(min = 1))] Vec<HarnessRef>),
}

impl HarnessChoice {
    /// Returns the harnesses in the order in which they are tried.
    #[must_use]
    pub fn as_slice(&self) -> &[HarnessRef] {
        match self {
            Self::One(harness) => std::slice::from_ref(harness),
            Self::Fallbacks(harnesses) => harnesses,
        }
    }
}

/// A harness by the name of its profile, or described in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum HarnessRef {
    /// The profile of this name, unchanged.
    Profile(ProfileName),
    /// A description of the harness.
    Described(Box<Harness>),
}

impl HarnessRef {
    /// Returns the description, where there is one.
    #[must_use]
    pub fn described(&self) -> Option<&Harness> {
        match self {
            Self::Profile(_) => None,
            Self::Described(harness) => Some(harness),
        }
    }
}

/// A description of a harness.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object that describes a harness")]
pub struct Harness {
    /// The profile whose settings apply where this object has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileName>,
    /// The command with its tokens; the default command when absent or empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<HarnessCommand>,
    /// How the prompt reaches the harness; as an argument when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_via: Option<PromptVia>,
    /// The seconds that a call may take; 1800 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timeout_seconds: Option<Whole<1, 604_800>>,
    /// The seconds that a call may go without output; as long as it takes when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) idle_timeout_seconds: Option<Whole<1, 604_800>>,
    /// What the harness's environment gets and loses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<Env>,
    /// The estimate that is charged for a call when the harness reports no cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_per_call_usd: Option<PositiveUsd>,
    /// Has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_var: Option<String>,
    /// Has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd_var: Option<String>,
    /// Has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_var: Option<String>,
}

impl Harness {
    /// Makes a harness that is its command and nothing else.
    #[must_use]
    pub fn of_command(command: Argv) -> Self {
        Self {
            command: Some(HarnessCommand::Argv(command)),
            ..Self::default()
        }
    }

    /// Returns the command, or `None` for the default command.
    #[must_use]
    pub fn command(&self) -> Option<&Argv> {
        match &self.command {
            Some(HarnessCommand::Argv(command)) => Some(command),
            Some(HarnessCommand::Default(_)) | None => None,
        }
    }

    /// Returns how long a call may take; 30 minutes when absent.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(
            self.timeout_seconds
                .map_or(1800, |seconds| seconds.get().into()),
        )
    }

    /// Returns how long a call may go without output, if that is limited.
    #[must_use]
    pub fn idle_timeout(&self) -> Option<Duration> {
        self.idle_timeout_seconds
            .map(|seconds| Duration::from_secs(seconds.get().into()))
    }

    /// Returns the estimate that is charged for a call without a reported cost.
    #[must_use]
    pub fn cost_per_call(&self) -> Option<Usd> {
        self.cost_per_call_usd.map(PositiveUsd::get)
    }
}

/// How a prompt reaches a harness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptVia {
    /// In an argument, through the tokens of the command.
    #[default]
    Argv,
    /// On standard input.
    Stdin,
    /// In a file whose name is an argument.
    File,
}

/// Changes to a harness's environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object with set, unset and pass")]
pub struct Env {
    /// Variables and their values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<BTreeMap<VariableName, VariableValue>>,
    /// Variables that are removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unset: Option<Vec<VariableName>>,
    /// The only variables that are inherited, besides the few that every program needs; when
    /// absent, all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<Vec<VariableName>>,
}

checked_string!(
    /// The name of an environment variable.
    VariableName,
    |text| match text {
        "" => Err("the name of the variable is empty; name one".to_owned()),
        _ if text.contains(['=', '\0']) => Err(format!("{text:?} holds = or NUL; use the name of a variable")),
        _ => Ok(()),
    },
    {"type": "string", "pattern": "^[^=\\x00]+$"}
);

checked_string!(
    /// The value of an environment variable.
    VariableValue,
    |text| match text.contains('\0') {
        true => Err("the value holds a NUL character; take it out".to_owned()),
        false => Ok(()),
    },
    {"type": "string"}
);

impl<'de> Deserialize<'de> for HarnessChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ChoiceVisitor)
    }
}

impl<'de> Deserialize<'de> for HarnessRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RefVisitor)
    }
}

struct ChoiceVisitor;

impl<'de> Visitor<'de> for ChoiceVisitor {
    type Value = HarnessChoice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the name of a profile, an object that describes a harness, or an array of these",
        )
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<HarnessChoice, E> {
        RefVisitor.visit_str(name).map(HarnessChoice::One)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HarnessChoice, A::Error> {
        RefVisitor.visit_map(map).map(HarnessChoice::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<HarnessChoice, A::Error> {
        let mut harnesses = Vec::new();
        while let Some(harness) = members.next_element()? {
            harnesses.push(harness);
        }
        if harnesses.is_empty() {
            return Err(A::Error::custom(
                "the list of harnesses is empty; name one, or leave the key out",
            ));
        }
        Ok(HarnessChoice::Fallbacks(harnesses))
    }
}

struct RefVisitor;

impl<'de> Visitor<'de> for RefVisitor {
    type Value = HarnessRef;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a profile, or an object that describes a harness")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<HarnessRef, E> {
        let name: StrDeserializer<'_, E> = name.into_deserializer();
        ProfileName::deserialize(name).map(HarnessRef::Profile)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HarnessRef, A::Error> {
        Harness::deserialize(MapAccessDeserializer::new(map))
            .map(Box::new)
            .map(HarnessRef::Described)
    }
}
