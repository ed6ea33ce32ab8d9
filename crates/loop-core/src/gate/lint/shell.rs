//! Splits a shell script into simple commands, as far as a look for lost exit
//! codes needs it.

/// What stands between a command and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    /// A line's end, `;`, `&`, `&&`, or nothing.
    Next,
    /// `|` or `|&`.
    Pipe,
    /// `||`.
    Or,
    /// A bracket or a branch, so that the command is part of another.
    Inner,
}

/// A simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// Its line, from 1.
    pub(super) line: usize,
    pub(super) joint: Joint,
    /// Its words, without quotes.
    pub(super) words: Vec<String>,
}

impl Command {
    pub(super) fn name(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

/// Words after which a command begins that is part of another.
const OPENERS: [&str; 8] = ["if", "then", "else", "elif", "do", "while", "until", "{"];
/// Words that end such a part.
const CLOSERS: [&str; 4] = ["fi", "done", "esac", "}"];

/// Splits a script into its commands, in their order.
pub(super) fn commands(script: &str) -> Vec<Command> {
    let mut lexer = Lexer {
        rest: script,
        line: 1,
        heredocs: Vec::new(),
    };
    let mut found = Vec::new();
    let mut current = start(Joint::Next);
    let mut depth = 0_usize;
    while let Some(token) = lexer.token() {
        match token {
            Token::Word { text, line, quoted } => {
                let is_first = current.words.is_empty();
                if is_first && !quoted && OPENERS.contains(&text.as_str()) {
                    depth += 1;
                    current = start(Joint::Inner);
                } else if is_first && !quoted && CLOSERS.contains(&text.as_str()) {
                    depth = depth.saturating_sub(1);
                    current.words.push(text);
                    current.line = line;
                } else {
                    if is_first {
                        current.line = line;
                    }
                    current.words.push(text);
                }
            }
            Token::Operator(operator) => {
                let joint = match operator {
                    "|" | "|&" => Joint::Pipe,
                    "||" => Joint::Or,
                    "(" | ")" | ";;" | "&&" => Joint::Inner,
                    _ if depth > 0 => Joint::Inner,
                    _ => Joint::Next,
                };
                if current.words.is_empty() {
                    // `a |` at a line's end goes on in the next line.
                    if operator != "\n" {
                        current.joint = joint;
                    }
                } else {
                    found.push(std::mem::replace(&mut current, start(joint)));
                }
            }
        }
    }
    if !current.words.is_empty() {
        found.push(current);
    }
    found
}

fn start(joint: Joint) -> Command {
    Command {
        line: 0,
        joint,
        words: Vec::new(),
    }
}

enum Token {
    Word {
        text: String,
        line: usize,
        quoted: bool,
    },
    Operator(&'static str),
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    /// The here-documents whose text begins after this line: what ends each,
    /// and whether tabs before that do not count.
    heredocs: Vec<(String, bool)>,
}

/// Operators, longer ones first.
const OPERATORS: [&str; 10] = [";;", "&&", "||", "|&", ";", "&", "|", "(", ")", "\n"];

impl Lexer<'_> {
    fn token(&mut self) -> Option<Token> {
        loop {
            let c = self.rest.chars().next()?;
            if self.rest.starts_with("\\\n") {
                self.advance(2);
            } else if c == '#' {
                self.advance(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("<<") {
                self.heredoc();
            } else if self.redirection() {
                // Its target is no argument.
                self.skip_blanks();
                self.word();
            } else if c.is_whitespace() && c != '\n' {
                self.advance(c.len_utf8());
            } else {
                break;
            }
        }
        let rest = self.rest;
        let operator = OPERATORS
            .iter()
            .find(|operator| rest.starts_with(**operator));
        if let Some(operator) = operator {
            self.advance(operator.len());
            if *operator == "\n" {
                self.skip_heredocs();
            }
            return Some(Token::Operator(operator));
        }
        let line = self.line;
        let (text, quoted) = self.word();
        Some(Token::Word { text, line, quoted })
    }

    fn advance(&mut self, bytes: usize) {
        let (gone, rest) = self.rest.split_at(bytes);
        self.line += gone.matches('\n').count();
        self.rest = rest;
    }

    fn skip_blanks(&mut self) {
        let blanks = self.rest.len() - self.rest.trim_start_matches([' ', '\t']).len();
        self.advance(blanks);
    }

    /// Skips `>`, `2>>`, `>&`, `<` and the like.
    fn redirection(&mut self) -> bool {
        let digits = self.rest.len()
            - self
                .rest
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let after = &self.rest[digits..];
        if !after.starts_with(['<', '>']) && !after.starts_with("&>") {
            return false;
        }
        let signs = after.len() - after.trim_start_matches(['<', '>', '&']).len();
        self.advance(digits + signs);
        true
    }

    fn heredoc(&mut self) {
        self.advance(2);
        // `<<<` is a string, and its word an ordinary one.
        if self.rest.starts_with('<') {
            self.advance(1);
            return;
        }
        let strips = self.rest.starts_with('-');
        self.advance(usize::from(strips));
        self.skip_blanks();
        let (end, _) = self.word();
        self.heredocs.push((end, strips));
    }

    fn skip_heredocs(&mut self) {
        for (end, strips) in std::mem::take(&mut self.heredocs) {
            while !self.rest.is_empty() {
                let line = self.rest.split('\n').next().unwrap_or_default();
                let is_end = match strips {
                    true => line.trim_start_matches('\t') == end,
                    false => line == end,
                };
                self.advance((line.len() + 1).min(self.rest.len()));
                if is_end {
                    break;
                }
            }
        }
    }

    /// Reads one word, and tells whether a part of it was quoted.
    fn word(&mut self) -> (String, bool) {
        let mut text = String::new();
        let mut quoted = false;
        while let Some(c) = self.rest.chars().next() {
            match c {
                '\'' | '"' | '`' => {
                    quoted = true;
                    self.quoted(c, &mut text);
                }
                '\\' => {
                    quoted = true;
                    self.advance(1);
                    if let Some(c) = self.rest.chars().next() {
                        text.push(c);
                        self.advance(c.len_utf8());
                    }
                }
                '$' if self.rest.starts_with("$(") => self.substitution(&mut text),
                '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                c if c.is_whitespace() => break,
                c => {
                    text.push(c);
                    self.advance(c.len_utf8());
                }
            }
        }
        (text, quoted)
    }

    fn quoted(&mut self, quote: char, text: &mut String) {
        self.advance(1);
        while let Some(c) = self.rest.chars().next() {
            self.advance(c.len_utf8());
            if c == quote {
                return;
            }
            if c == '\\' && quote != '\'' {
                let next = self.rest.chars().next();
                self.advance(next.map_or(0, char::len_utf8));
                text.extend(next);
            } else {
                text.push(c);
            }
        }
    }

    /// Skips `$(...)`, whose exit code is only a value's.
    fn substitution(&mut self, text: &mut String) {
        let mut depth = 0_u32;
        self.advance(1);
        text.push('$');
        while let Some(c) = self.rest.chars().next() {
            self.advance(c.len_utf8());
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
}
