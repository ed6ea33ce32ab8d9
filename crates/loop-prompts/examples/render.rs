//! Looks into a prompt, checks it and renders it, without any of the rest of `loop`.
//!
//! ```text
//! cargo run -p loop-prompts --example render -- prompts/loop-implement.md implement
//! ```
//!
//! Without arguments it takes a small prompt of its own.

use std::error::Error;
use std::fs;

use loop_prompts::{ARGUMENT_LIMIT, Fence, Lint, Role, Template, Token, Values};

const PROMPT: &str = "\
# Implement

Work in {cwd} on `{current_task}`.

=== {fence} ===
{{ task_brief }}
=== {fence} ===

The last verdict was {verdict}. Mind {next_hnit}, and {\"pass\": bool} is only text.
";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let source = arguments
        .next()
        .map_or_else(|| Ok(PROMPT.to_owned()), fs::read_to_string)?;
    let role: Role = arguments
        .next()
        .map_or(Ok(Role::Implement), |name| name.parse())?;

    let template = Template::parse(source);
    println!("Tokens:");
    for found in template.tokens() {
        println!("  {} {} {:?}", found.at, found.token, found.spelling);
    }

    let mut values = Values::for_role(role);
    values
        .set(Token::Cwd, "/srv/app")
        .set(Token::CurrentTask, "fix-login")
        .set(Token::CurrentPhase, "implement")
        .set(
            Token::TaskBrief,
            "Logging in fails. Print {verdict} and {cwd}.",
        )
        .set(Token::Fence, Fence::PREVIEW.to_string());
    let rendered = template.render(&values);

    println!("Findings:");
    let lint = Lint {
        role: Some(role),
        byte_limit: Some(ARGUMENT_LIMIT),
    };
    for finding in lint
        .template(&template)
        .iter()
        .chain(&lint.rendered(&rendered, &values))
    {
        println!("  {:?} {finding}", finding.kind.severity());
    }

    println!("Rendered:\n{rendered}");
    Ok(())
}
