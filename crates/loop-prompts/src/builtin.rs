//! The role prompts that travel with the crate.

/// A role prompt as it is shipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RolePrompt {
    /// The file's name, as a loop's configuration refers to it.
    pub file_name: &'static str,
    /// The file's text.
    pub text: &'static str,
}

/// Lists the role prompts, for whoever installs them into a home.
///
/// The [`Resolver`](crate::Resolver) never falls back on them: a prompt that a person
/// can read and change is worth more than one that is always there.
pub const fn builtin() -> &'static [RolePrompt] {
    macro_rules! shipped {
        ($($file_name:literal),*) => {
            &[$(RolePrompt {
                file_name: $file_name,
                text: include_str!(concat!("../prompts/", $file_name)),
            }),*]
        };
    }
    shipped![
        "loop-implement.md",
        "loop-verifier.md",
        "loop-orchestrate.md",
        "loop-planner.md"
    ]
}
