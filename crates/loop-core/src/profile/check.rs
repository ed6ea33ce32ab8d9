//! The rules that tie the keys of a profile together.

use super::file::{File, Format, Output};
use super::path::Path;
use super::pattern::Pattern;
use super::select::{Selector, Usage};
use crate::config::{Problem, PromptVia};

/// A path, and what is wrong there.
type Wrong = (String, Problem);

/// Checks the rules that tie keys together.
pub(super) fn check(file: &File) -> Result<(), Wrong> {
    prompt(file)?;
    let output = &file.output;
    answer(output)?;
    for (index, selector) in output.errors().iter().enumerate() {
        let path = format!("output.error[{index}]");
        self::selector(output.format, &path, selector)?;
        tight(&format!("{path}.match"), selector.pattern.as_ref())?;
    }
    if let Some(session) = &output.session {
        selector(output.format, "output.session", session)?;
    }
    signs(output)?;
    usages(output)?;
    cost(output)?;
    faults(file)?;
    limits(file)?;
    offline(file)
}

fn wrong<T>(path: &str, advice: &str) -> Result<T, Wrong> {
    Err((path.to_owned(), Problem::Invalid(advice.to_owned())))
}

/// A prompt that is not handed over would cost a call that does nothing.
fn prompt(file: &File) -> Result<(), Wrong> {
    let mut arguments = file.command.as_slice().iter();
    let mut has = |token: &str| arguments.any(|argument| argument.contains(token));
    match file.prompt_via {
        PromptVia::Argv if !has("{prompt_content}") => wrong(
            "command",
            "the prompt is an argument, but none holds {prompt_content}; put it in",
        ),
        PromptVia::File if !has("{prompt}") => wrong(
            "command",
            "the prompt is a file, but no argument holds {prompt}; put it in",
        ),
        PromptVia::Stdin if has("{prompt_content}") => wrong(
            "command",
            "the prompt comes by standard input; take {prompt_content} out",
        ),
        _ => Ok(()),
    }
}

fn answer(output: &Output) -> Result<(), Wrong> {
    match &output.answer {
        Some(answer) => selector(output.format, "output.final", answer),
        None if output.format == Format::Text => Ok(()),
        None => wrong("output", "there is no final; say where the answer stands"),
    }
}

fn selector(format: Format, path: &str, selector: &Selector) -> Result<(), Wrong> {
    let fields = selector.place.is_some() || selector.path.is_some() || selector.since.is_some();
    place_or_pattern(format, path, fields, selector.pattern.as_ref())?;
    if format != Format::Text && selector.path.is_none() {
        return wrong(path, "there is no path; say where the text stands");
    }
    Ok(())
}

/// Patterns belong to `text` output, and everything else to JSON.
fn place_or_pattern(
    format: Format,
    path: &str,
    fields: bool,
    pattern: Option<&Pattern>,
) -> Result<(), Wrong> {
    match format {
        Format::Text if fields => wrong(path, "text has no fields; give a match, nothing else"),
        Format::Text if pattern.is_none() => wrong(path, "there is no match; give the pattern"),
        Format::Json | Format::Ndjson if pattern.is_some() => {
            wrong(path, "match is for text; give where and path")
        }
        _ => Ok(()),
    }
}

/// A pattern that blames must not fit what somebody talks about.
fn tight(path: &str, pattern: Option<&Pattern>) -> Result<(), Wrong> {
    match pattern.and_then(Pattern::looseness) {
        Some(advice) => wrong(path, advice),
        None => Ok(()),
    }
}

fn signs(output: &Output) -> Result<(), Wrong> {
    let ends = output.ends().iter().map(|sign| ("output.done", sign));
    let recoveries = output.recoveries().iter();
    let recoveries = recoveries.map(|sign| ("output.overcome", sign));
    for (path, sign) in ends.chain(recoveries) {
        let fields = sign.place.is_some();
        place_or_pattern(output.format, path, fields, sign.pattern.as_ref())?;
        if sign.place.is_none() && sign.pattern.is_none() {
            return wrong(path, "there is no where; say what the event holds");
        }
    }
    Ok(())
}

fn usages(output: &Output) -> Result<(), Wrong> {
    const PATH: &str = "output.usage";
    for usage in output.usages() {
        let Usage {
            place,
            pattern,
            input,
            cached,
            output: written,
            per,
            ..
        } = usage;
        let paths = input.is_some() || written.is_some() || cached.is_some();
        let fields = place.is_some() || paths || per.is_some();
        place_or_pattern(output.format, PATH, fields, pattern.as_ref())?;
        let complete = match pattern {
            Some(pattern) => pattern.has("input") && pattern.has("output"),
            None => input.is_some() && written.is_some(),
        };
        if !complete {
            return wrong(
                PATH,
                "tokens need an input and an output; say where both stand",
            );
        }
    }
    Ok(())
}

fn cost(output: &Output) -> Result<(), Wrong> {
    const PATH: &str = "output.cost";
    let Some(cost) = &output.cost else {
        return Ok(());
    };
    let fields = cost.place.is_some() || cost.path.is_some();
    place_or_pattern(output.format, PATH, fields, cost.pattern.as_ref())?;
    let complete = match &cost.pattern {
        Some(pattern) => pattern.has_group(),
        None => cost.path.is_some(),
    };
    if complete {
        return Ok(());
    }
    wrong(
        PATH,
        "say where the amount stands: a path, or a group of the match",
    )
}

fn faults(file: &File) -> Result<(), Wrong> {
    for (index, fault) in file.faults.iter().flatten().enumerate() {
        let path = format!("faults[{index}]");
        if fault.place.is_none() && fault.pattern.is_none() && fault.exit.is_none() {
            return wrong(&path, "nothing means this fault; give where, match or exit");
        }
        if fault.place.is_some() && file.output.format == Format::Text {
            return wrong(&path, "text has no fields; give a match or exit");
        }
        if fault.stream.is_some() && fault.pattern.is_none() {
            return wrong(&path, "stream says where match is tried; give a match");
        }
        tight(&format!("{path}.match"), fault.pattern.as_ref())?;
        if fault.exit.iter().flatten().any(|code| *code == 0) {
            let advice = "0 is how a call ends that went well; name other codes";
            return wrong(&format!("{path}.exit"), advice);
        }
        let Some(reset) = &fault.reset else { continue };
        let known = match &fault.pattern {
            Some(pattern) => pattern.has(reset),
            None => fault.place.is_some() && Path::try_from(reset.clone()).is_ok(),
        };
        if !known {
            let advice = "reset is no group of match, and no path in the event of where; name one";
            return wrong(&format!("{path}.reset"), advice);
        }
    }
    Ok(())
}

/// What is no option would be read as a part of the prompt.
fn limits(file: &File) -> Result<(), Wrong> {
    let flag = file
        .limits
        .as_ref()
        .and_then(|limits| limits.max_usd.as_ref());
    match flag {
        Some(flag) if !flag.starts_with('-') => wrong(
            "limits.max_usd",
            "this is no option; write one that starts with -, such as --max-budget-usd",
        ),
        _ => Ok(()),
    }
}

/// The files are laid out in a folder that they must not leave.
fn offline(file: &File) -> Result<(), Wrong> {
    let offline = file.offline.as_ref();
    for (path, _) in offline.into_iter().flat_map(super::Offline::files) {
        let leaves = path.split('/').any(|part| matches!(part, "" | "." | ".."));
        if leaves || path.contains(['\\', '\0']) {
            return wrong(
                "offline.files",
                "a path leaves the folder; name files inside it",
            );
        }
    }
    Ok(())
}
