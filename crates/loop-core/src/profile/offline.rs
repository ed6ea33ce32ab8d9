//! How to point a harness at a scripted model server.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{Argv, VariableName, VariableValue};

/// How to point a harness at a scripted model server, to try it without an account.
///
/// In all values `{url}` stands for the address of the server (`http://127.0.0.1:PORT`) and `{dir}`
/// for an empty folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with env, files and command"
)]
pub struct Offline {
    /// Variables that the harness's environment gets on top of the profile's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) env: Option<BTreeMap<VariableName, VariableValue>>,
    /// Files in the folder `{dir}`, by their relative paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) files: Option<BTreeMap<String, String>>,
    /// The command instead of the profile's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Argv>,
}

impl Offline {
    /// Returns the variables and their values, with tokens.
    pub fn env(&self) -> impl Iterator<Item = (&str, &str)> {
        let variables = self.env.iter().flatten();
        variables.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the files by their paths relative to `{dir}`, with tokens in their texts.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter().flatten();
        files.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Fills the tokens of one value in.
    #[must_use]
    pub fn fill(text: &str, url: &str, dir: &str) -> String {
        text.replace("{url}", url).replace("{dir}", dir)
    }
}
