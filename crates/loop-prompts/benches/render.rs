//! Parsing and rendering, beside plain handlebars on the same text and values.
//!
//! ```text
//! cargo bench -p loop-prompts --bench render
//! ```
//!
//! The numbers of one run, and what they mean, are in `design/benchmarks.md`.

use std::collections::BTreeMap;
use std::fmt;

use divan::{AllocProfiler, Bencher, black_box};
use handlebars::{Handlebars, no_escape};
use loop_prompts::{Lint, Role, Template, Token, Values};

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// A prompt of plain sentences with tokens spread evenly, in a spelling that both
/// sides take.
#[derive(Clone, Copy)]
struct Shape {
    bytes: usize,
    tokens: usize,
}

impl Shape {
    fn text(self) -> String {
        let filler = "Read the code before you change it. ".chars().cycle();
        let share = self.bytes / self.tokens;
        let mut text = String::with_capacity(self.bytes);
        for token in Token::ALL.into_iter().cycle().take(self.tokens) {
            let tag = format!("{{{{{{{}}}}}}}", token.name());
            text.extend(filler.clone().take(share.saturating_sub(tag.len() + 1)));
            text.extend([tag.as_str(), "\n"]);
        }
        text
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} KiB, {} tokens", self.bytes >> 10, self.tokens)
    }
}

const SMALL: Shape = Shape {
    bytes: 10 << 10,
    tokens: 20,
};
const DENSE: Shape = Shape {
    bytes: 140 << 10,
    tokens: 4_000,
};
const DENSE_TIMES_4: Shape = Shape {
    bytes: 560 << 10,
    tokens: 16_000,
};
const LARGE: Shape = Shape {
    bytes: 1 << 20,
    tokens: 2_000,
};

const VALUE: &str = "a value of ordinary length";

fn values() -> Values<'static> {
    let mut values = Values::unrestricted();
    for token in Token::ALL {
        values.set(token, VALUE);
    }
    values
}

fn data(artifact: &str) -> BTreeMap<&'static str, &str> {
    let mut data: BTreeMap<_, _> = Token::ALL.map(|token| (token.name(), VALUE)).into();
    data.insert(Token::ArtifactContent.name(), artifact);
    data
}

fn plain_handlebars(text: &str, data: &BTreeMap<&'static str, &str>) -> String {
    let mut engine = Handlebars::new();
    engine.register_escape_fn(no_escape);
    engine.set_strict_mode(true);
    engine
        .render_template(text, data)
        .expect("the text is valid handlebars")
}

#[divan::bench_group(sample_count = 20, sample_size = 1)]
mod parse_and_render {
    use super::*;

    #[divan::bench(args = [SMALL, DENSE, DENSE_TIMES_4, LARGE])]
    fn loop_prompts(bencher: Bencher<'_, '_>, shape: Shape) {
        let (text, values) = (shape.text(), values());
        assert_eq!(
            Template::parse(shape.text())
                .render(&values)
                .matches(VALUE)
                .count(),
            shape.tokens
        );
        bencher
            .with_inputs(|| text.clone())
            .bench_values(|text| Template::parse(text).render(black_box(&values)));
    }

    #[divan::bench(args = [SMALL, DENSE, LARGE], sample_count = 3)]
    fn handlebars(bencher: Bencher<'_, '_>, shape: Shape) {
        let (text, data) = (shape.text(), data(VALUE));
        assert_eq!(
            Template::parse(shape.text()).render(&values()),
            plain_handlebars(&text, &data)
        );
        bencher
            .with_inputs(|| text.clone())
            .bench_values(|text| plain_handlebars(&text, black_box(&data)));
    }
}

/// A verifier's prompt whose artifact has 100 MB.
#[divan::bench_group(sample_count = 5, sample_size = 1)]
mod artifact_of_100_mb {
    use super::*;

    const TEXT: &str = "Judge this:\n{{{artifact_content}}}\n";

    #[divan::bench]
    fn loop_prompts(bencher: Bencher<'_, '_>) {
        let artifact = "x".repeat(100_000_000);
        let mut values = Values::for_role(Role::Verify);
        values.set(Token::ArtifactContent, artifact.as_str());
        bencher.bench_local(|| Template::parse(TEXT).render(black_box(&values)));
    }

    #[divan::bench]
    fn handlebars(bencher: Bencher<'_, '_>) {
        let artifact = "x".repeat(100_000_000);
        let data = data(&artifact);
        bencher.bench_local(|| plain_handlebars(TEXT, black_box(&data)));
    }
}

/// A mebibyte of what a parser could stumble over: parsed, rendered and linted.
#[divan::bench(
    args = ["{", "{{ ", "{{{", "{a", "{cwd", "{{!--", "{{#if ", "{{x}}"],
    sample_count = 5,
    sample_size = 1
)]
fn hostile_mebibyte(bencher: Bencher<'_, '_>, unit: &str) {
    let text = unit.repeat((1 << 20) / unit.len());
    let (values, lint) = (
        values(),
        Lint {
            role: Some(Role::Verify),
            byte_limit: None,
        },
    );
    bencher.with_inputs(|| text.clone()).bench_values(|text| {
        let template = Template::parse(text);
        (
            lint.template(&template),
            template.render(black_box(&values)),
        )
    });
}
