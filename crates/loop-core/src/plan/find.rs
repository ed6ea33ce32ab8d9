//! Where in a planner's text its block stands.

/// The most bytes that a block has; a plan inside of its limits is far shorter.
const MAX_BLOCK: usize = 1024 * 1024;

/// Returns what the one fenced `json` block of `text` holds.
///
/// Other blocks are passed over, and what looks like a fence in them is none.
pub(super) fn block(text: &str) -> Result<&str, String> {
    let mut blocks = Vec::new();
    let mut open: Option<Open<'_>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        match &open {
            None => open = Open::at(line, at),
            Some(fence) if fence.is_closed_by(line) => {
                if fence.is_json() {
                    blocks.push(&text[fence.from..start]);
                }
                open = None;
            }
            Some(_) => {}
        }
    }
    if open.is_some_and(|fence| fence.is_json()) {
        return Err("the planner's `json` block has no end".to_owned());
    }
    match blocks[..] {
        [] => Err("the planner's text holds no fenced `json` block".to_owned()),
        [block] if block.len() > MAX_BLOCK => Err(format!(
            "the planner's `json` block is longer than {MAX_BLOCK} bytes"
        )),
        [block] => Ok(block),
        _ => Err(format!(
            "the planner's text holds {} fenced `json` blocks; it must be one",
            blocks.len()
        )),
    }
}

/// A fence that was opened.
struct Open<'t> {
    mark: char,
    length: usize,
    info: &'t str,
    /// Where its block begins.
    from: usize,
}

impl<'t> Open<'t> {
    /// Reads a line that may open a fence; what follows it is at `from`.
    fn at(line: &'t str, from: usize) -> Option<Self> {
        let line = line.trim();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = line.trim_start_matches(mark);
        let length = line.len() - info.len();
        // A backtick behind three of them is code inside of a line.
        let fence = length >= 3 && !(mark == '`' && info.contains('`'));
        fence.then_some(Self {
            mark,
            length,
            info,
            from,
        })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }

    fn is_json(&self) -> bool {
        let word = self.info.split_whitespace().next();
        word.is_some_and(|word| word.eq_ignore_ascii_case("json"))
    }
}
