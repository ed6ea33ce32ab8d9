//! Where in a text the verdict stands.

use super::Unreadable;
use crate::text::{last_line, without_controls, without_lone_surrogates};
use serde_json::{Map, Value};

/// Returns the JSON text of the object that stands for the verdict.
pub(super) fn object(text: &str, prompt: &str) -> Result<String, Unreadable> {
    // Inside a JSON string neither a byte order mark nor an escape sequence may
    // stand bare, so nothing that counts is lost here.
    let text = without_controls(text.trim_start_matches('\u{feff}'));
    let text = without_lone_surrogates(text.trim());
    // An echo is one in the same form.
    let prompt = without_lone_surrogates(prompt);
    if parse(&text).is_some() {
        return Ok(text.into_owned());
    }
    let own = |json: &str| !prompt.contains(json);
    let last = last_line(&text).filter(|line| parse(line).is_some());
    if let Some(json) = last.filter(|json| own(json)) {
        return Ok(json.to_owned());
    }
    let all = candidates(&text);
    let candidates: Vec<_> = all.iter().filter(|found| own(found.json)).collect();
    let Some((last, rest)) = candidates.split_last() else {
        return Err(match (all.is_empty(), last) {
            (true, None) => Unreadable::NoObject,
            _ => Unreadable::Echo,
        });
    };
    if rest.iter().any(|other| other.pass != last.pass) {
        return Err(Unreadable::Conflicting);
    }
    Ok(last.json.to_owned())
}

/// An object somewhere in the text that has both `pass` and `score`.
struct Candidate<'t> {
    json: &'t str,
    pass: Value,
}

/// Finds every candidate, fenced or not. An object inside an object is part of
/// the outer one and does not count on its own; what stands in an object that
/// never ends is part of an answer that was cut off.
///
/// Each byte is read at most once per nesting level that is open around it, and
/// serde_json stops at 128 levels, so this stays linear on any input.
fn candidates(text: &str) -> Vec<Candidate<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find('{').map(|at| from + at) {
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter();
        let map: Map<String, Value> = match stream.next() {
            Some(Ok(map)) => map,
            Some(Err(error)) if error.is_eof() => break,
            _ => {
                from = start + 1;
                continue;
            }
        };
        let end = start + stream.byte_offset();
        if let (Some(pass), true) = (map.get("pass"), map.contains_key("score")) {
            found.push(Candidate {
                json: &text[start..end],
                pass: pass.clone(),
            });
        }
        from = end;
    }
    found
}

fn parse(json: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(json).ok()
}
