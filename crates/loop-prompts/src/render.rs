//! Renders a template through handlebars, which never parses a prompt.
//!
//! handlebars' own parser takes quadratic time, eats `${{ x }}`, refuses half of what
//! stands in everyday prompts, and can abort the process on a hostile text. So it is
//! given templates built from pieces that are already known to be text or tokens: a
//! text becomes a raw string, a token becomes the compiled `{{{name}}}`.
//!
//! Values are helpers that write a borrowed text. As data they would be copied into a
//! JSON tree and once more on the way out, which an artifact of 100 MB would feel.

use std::io;
use std::sync::LazyLock;

use handlebars::template::TemplateElement;
use handlebars::{
    Context, Handlebars, Helper, HelperDef, HelperResult, Output, RenderContext, Renderable,
};

use crate::{Piece, Template, Token, Values};

/// How many pieces are in handlebars' hands at once.
///
/// An element of handlebars' takes several hundred bytes; a prompt made of tokens
/// would grow a hundredfold if all its elements existed at the same time.
const BATCH: usize = 64;

/// Each token as handlebars compiles it, done once in the life of the process.
static COMPILED: LazyLock<[Vec<TemplateElement>; Token::ALL.len()]> = LazyLock::new(|| {
    Token::ALL.map(|token| {
        let source = format!("{{{{{{{}}}}}}}", token.name());
        let template = handlebars::Template::compile(&source);
        template
            .expect("a name in three braces is valid handlebars")
            .elements
    })
});

/// Puts the values in place of the tokens.
pub(crate) fn render(template: &Template, values: &Values<'_>) -> String {
    let engine = engine(values);
    let context = Context::null();
    let mut out = Text(String::with_capacity(rendered_len(template, values)));
    let mut pieces = template.pieces().peekable();
    while pieces.peek().is_some() {
        let batch = elements(pieces.by_ref().take(BATCH), values);
        batch
            .render(&engine, &context, &mut RenderContext::new(None), &mut out)
            .expect("raw text and helpers that append to a string cannot fail");
    }
    out.0
}

/// Makes an engine that knows the values and nothing else of note.
fn engine<'v>(values: &'v Values<'_>) -> Handlebars<'v> {
    let mut engine = Handlebars::new();
    engine.register_escape_fn(handlebars::no_escape);
    engine.set_strict_mode(true);
    for token in Token::ALL {
        if let Some(text) = values.get(token) {
            engine.register_helper(token.name(), Box::new(Inert(text)));
        }
    }
    engine
}

/// Builds the handlebars template of some pieces.
fn elements<'t>(
    pieces: impl Iterator<Item = Piece<'t>>,
    values: &Values<'_>,
) -> handlebars::Template {
    let mut template = handlebars::Template::new();
    for piece in pieces {
        match piece {
            Piece::Token(token, _) if values.get(token).is_some() => {
                template
                    .elements
                    .extend_from_slice(&COMPILED[token as usize]);
            }
            Piece::Token(_, text) | Piece::Text(text) => {
                template
                    .elements
                    .push(TemplateElement::RawString(text.to_owned()));
            }
        }
    }
    template
}

/// Returns the exact length of the result, so that it is allocated once.
fn rendered_len(template: &Template, values: &Values<'_>) -> usize {
    let lengths = template.pieces().map(|piece| match piece {
        Piece::Text(text) => text.len(),
        Piece::Token(token, written) => values.get(token).unwrap_or(written).len(),
    });
    lengths.sum()
}

/// A value: written as it is, never looked at.
struct Inert<'v>(&'v str);

impl HelperDef for Inert<'_> {
    fn call<'reg: 'rc, 'rc>(
        &self,
        _: &Helper<'rc>,
        _: &'reg Handlebars<'reg>,
        _: &'rc Context,
        _: &mut RenderContext<'reg, 'rc>,
        out: &mut dyn Output,
    ) -> HelperResult {
        out.write(self.0)?;
        Ok(())
    }
}

/// The result while it grows.
struct Text(String);

impl Output for Text {
    fn write(&mut self, text: &str) -> io::Result<()> {
        self.0.push_str(text);
        Ok(())
    }
}
