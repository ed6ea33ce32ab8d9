//! The demo's scripted agent: it implements half of the work first, and the
//! rest when the judge's hint says what is missing. The judge runs the test.

use crate::failure::Failure;
use crate::show;
use loop_core::exit;
use serde_json::json;
use std::env;
use std::fs;
use std::process::Command;

/// What the judge says is missing, and what the implementer looks for.
const HINT: &str = "join the words with dashes";

const HALF: &str = "\
#!/bin/sh
# Prints its argument as a slug: small letters, words joined.
printf '%s\\n' \"$1\" | tr '[:upper:]' '[:lower:]'
";

const WHOLE: &str = "\
#!/bin/sh
# Prints its argument as a slug: small letters, words joined.
printf '%s\\n' \"$1\" | tr '[:upper:]' '[:lower:]' | tr -s ' ' '-'
";

/// Plays the role that the environment names.
pub(crate) fn run(prompt: &str) -> Result<u8, Failure> {
    let text = fs::read_to_string(prompt)
        .map_err(|error| Failure::failed(format!("cannot read the prompt {prompt}: {error}")))?;
    match env::var("AUTOMATON_ROLE").as_deref() {
        Ok("implement") => implement(&text),
        Ok("verify") => verify(),
        _ => Err(Failure::usage("this is the scripted agent of `loop demo`")),
    }
}

fn implement(prompt: &str) -> Result<u8, Failure> {
    let (script, said) = if prompt.contains(HINT) {
        (WHOLE, "The words are joined with dashes now.")
    } else {
        (HALF, "slug.sh prints small letters now.")
    };
    fs::write("slug.sh", script).map_err(|error| Failure::of(&error))?;
    show::line(said);
    Ok(exit::DONE)
}

/// Judges by what the test says, not by what the implementer says.
fn verify() -> Result<u8, Failure> {
    let test = Command::new("sh")
        .arg("test.sh")
        .output()
        .map_err(|error| Failure::of(&error))?;
    let said = String::from_utf8_lossy(&test.stdout).trim().to_owned();
    let pass = test.status.success();
    show::json(&json!({
        "pass": pass,
        "score": if pass { 1.0 } else { 0.4 },
        "reasons": [format!("sh test.sh: {said}")],
        "next_hint": if pass { "" } else { HINT },
    }))?;
    Ok(exit::DONE)
}
