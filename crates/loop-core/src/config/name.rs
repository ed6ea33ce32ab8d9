//! Strings that have to have a certain form: names, paths, commands.

/// Makes a string type whose values have passed a check.
///
/// The check gets the text and says what is wrong with it and what to do.
macro_rules! checked_string {
    ($(#[$meta:meta])* $name:ident, $check:expr, $schema:tt) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::config::name::Malformed;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                let check: fn(&str) -> Result<(), String> = $check;
                match check(&text) {
                    Ok(()) => Ok(Self(text)),
                    Err(message) => Err($crate::config::name::Malformed(message)),
                }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::config::name::Malformed;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.to_owned().try_into()
            }
        }

        impl From<$name> for String {
            fn from(checked: $name) -> Self {
                checked.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}

pub(crate) use checked_string;

/// A text that does not have the form it needs; the message says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub(crate) String);

const LONGEST: usize = 64;

checked_string!(
    /// The name of a loop, which is also the name of its folder.
    LoopName, |text| check_name("loop name", text),
    {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}
);

checked_string!(
    /// The name of a task, which is also the name of its folder.
    TaskName, |text| check_name("task name", text),
    {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}
);

checked_string!(
    /// The name of a harness profile.
    ProfileName, |text| check_name("profile name", text),
    {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}
);

checked_string!(
    /// The name of a phase that a loop takes a task through.
    PhaseName, check_phase,
    {
        "type": "string",
        "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        "not": {"enum": ["complete", "human_intervention"]},
    }
);

impl LoopName {
    /// Reports whether the name is kept for the engine's own loop of autonomous runs.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.0 == "run"
    }
}

fn check_name(what: &str, text: &str) -> Result<(), String> {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let starts_well = text
        .bytes()
        .next()
        .is_some_and(|first| first.is_ascii_alphanumeric());
    if starts_well && text.len() <= LONGEST && text.bytes().all(is_inner) {
        return Ok(());
    }
    Err(format!(
        "{text:?} is no {what}; start with a letter or digit and use at most {LONGEST} of \
         A-Z a-z 0-9 . _ -"
    ))
}

fn check_phase(text: &str) -> Result<(), String> {
    match text {
        "complete" => Err("\"complete\" is implied as the last phase; leave it out".to_owned()),
        "human_intervention" => Err(
            "\"human_intervention\" is where a task waits for a person; name the phase otherwise"
                .to_owned(),
        ),
        _ => check_name("phase name", text),
    }
}
