//! JUnit XML, as far as tests and their results go.
//!
//! A small reader of our own, since the file comes out of a process that runs an
//! agent's code: no declared entity is expanded, nothing is nested without
//! bound, and what is damaged is refused rather than read in part.

use super::runners::{ReportFault, Tally, TestResult};

/// How deep elements may be nested.
const MAX_DEPTH: usize = 64;

/// Reads the test cases of a report.
pub(super) fn read(text: &str) -> Result<Tally, ReportFault> {
    let mut reader = Reader { text, at: 0 };
    let mut tally = Tally::default();
    let mut open: Vec<&str> = Vec::new();
    let mut case: Option<(String, TestResult)> = None;
    let mut is_report = false;
    while let Some(tag) = reader.tag()? {
        match tag {
            Tag::Open {
                name,
                attributes,
                closed,
            } => {
                if open.is_empty() {
                    // Something after the end would be a second report.
                    if is_report || !matches!(name, "testsuites" | "testsuite") {
                        return Err(reader.fault("the outermost element is not one test suite"));
                    }
                    is_report = true;
                }
                match (name, &mut case) {
                    ("testcase", Some(_)) => return Err(reader.fault("a test case in a test case")),
                    ("testcase", None) => {
                        case = Some((full_name(&attributes), TestResult::Passed));
                    }
                    ("failure" | "error", Some(case)) => case.1 = TestResult::Failed,
                    ("skipped", Some(case)) if case.1 == TestResult::Passed => {
                        case.1 = TestResult::Skipped;
                    }
                    _ => {}
                }
                if closed {
                    finish(name, &mut case, &mut tally);
                } else {
                    open.push(name);
                }
                if open.len() > MAX_DEPTH {
                    return Err(reader.fault("elements are nested too deep"));
                }
            }
            Tag::Close(name) => {
                if open.pop() != Some(name) {
                    return Err(reader.fault("an end without its start"));
                }
                finish(name, &mut case, &mut tally);
            }
        }
    }
    if !open.is_empty() || !is_report {
        return Err(reader.fault("the report ends too early"));
    }
    Ok(tally)
}

fn finish(name: &str, case: &mut Option<(String, TestResult)>, tally: &mut Tally) {
    if name == "testcase"
        && let Some((name, result)) = case.take()
    {
        tally.add(result, name);
    }
}

fn full_name(attributes: &[(&str, String)]) -> String {
    let of = |wanted: &str| {
        let mut found = attributes.iter().filter(|(name, _)| *name == wanted);
        found.next().map(|(_, value)| value.as_str())
    };
    let name = of("name").unwrap_or_default();
    match of("classname") {
        Some(class) if !class.is_empty() => format!("{class}::{name}"),
        _ => name.to_owned(),
    }
}

enum Tag<'a> {
    Open {
        name: &'a str,
        attributes: Vec<(&'a str, String)>,
        closed: bool,
    },
    Close(&'a str),
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn fault(&self, what: &'static str) -> ReportFault {
        ReportFault::Xml { at: self.at, what }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Goes behind the next `end`, and returns what stands before it.
    fn until(&mut self, end: &str, what: &'static str) -> Result<&'a str, ReportFault> {
        let rest = self.rest();
        let Some(at) = rest.find(end) else {
            return Err(self.fault(what));
        };
        self.at += at + end.len();
        Ok(&rest[..at])
    }

    fn skip(&mut self, start: &str) -> bool {
        let found = self.rest().starts_with(start);
        if found {
            self.at += start.len();
        }
        found
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Returns the next tag; `None` at the end of the text.
    fn tag(&mut self) -> Result<Option<Tag<'a>>, ReportFault> {
        loop {
            let Some(at) = self.rest().find('<') else {
                self.at = self.text.len();
                return Ok(None);
            };
            self.at += at;
            if self.skip("<!--") {
                self.until("-->", "a comment without an end")?;
            } else if self.skip("<![CDATA[") {
                self.until("]]>", "a CDATA section without an end")?;
            } else if self.skip("<?") {
                self.until("?>", "an instruction without an end")?;
            } else if self.skip("<!") {
                return Err(self.fault("declarations are not read"));
            } else if self.skip("</") {
                let name = self.until(">", "a tag without an end")?;
                return Ok(Some(Tag::Close(name.trim_end())));
            } else {
                self.skip("<");
                return self.open().map(Some);
            }
        }
    }

    fn open(&mut self) -> Result<Tag<'a>, ReportFault> {
        let name = self.name()?;
        let mut attributes = Vec::new();
        loop {
            self.skip_space();
            if self.skip("/>") {
                let closed = true;
                return Ok(Tag::Open {
                    name,
                    attributes,
                    closed,
                });
            }
            if self.skip(">") {
                let closed = false;
                return Ok(Tag::Open {
                    name,
                    attributes,
                    closed,
                });
            }
            let attribute = self.name()?;
            self.skip_space();
            if !self.skip("=") {
                return Err(self.fault("an attribute without a value"));
            }
            self.skip_space();
            let quote = match self.rest().chars().next() {
                Some('"') => "\"",
                Some('\'') => "'",
                _ => return Err(self.fault("a value without quotes")),
            };
            self.at += 1;
            let value = self.until(quote, "a value without an end")?;
            let value = self.unescape(value)?;
            attributes.push((attribute, value));
        }
    }

    fn name(&mut self) -> Result<&'a str, ReportFault> {
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, ':' | '_' | '-' | '.');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if end == 0 {
            return Err(self.fault("a name is missing"));
        }
        self.at += end;
        Ok(&rest[..end])
    }

    /// Replaces the five entities that XML itself has, and numbers.
    fn unescape(&self, value: &str) -> Result<String, ReportFault> {
        let mut text = String::with_capacity(value.len());
        let mut rest = value;
        while let Some((before, after)) = rest.split_once('&') {
            text.push_str(before);
            let Some((entity, behind)) = after.split_once(';') else {
                return Err(self.fault("an entity without an end"));
            };
            let number = |digits: &str, base| u32::from_str_radix(digits, base).ok();
            let character = match entity {
                "lt" => Some('<'),
                "gt" => Some('>'),
                "amp" => Some('&'),
                "quot" => Some('"'),
                "apos" => Some('\''),
                _ => entity.strip_prefix('#').and_then(|code| {
                    let code = match code.strip_prefix(['x', 'X']) {
                        Some(digits) => number(digits, 16),
                        None => number(code, 10),
                    };
                    code.and_then(char::from_u32)
                }),
            };
            text.push(character.ok_or_else(|| self.fault("an entity that XML does not have"))?);
            rest = behind;
        }
        text.push_str(rest);
        Ok(text)
    }
}
