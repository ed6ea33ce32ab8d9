//! `loop config`: every setting in effect, and where it comes from.

use crate::args::NamedJson;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use loop_core::config::{Effective, Enforced, Origin, Supported};
use loop_core::exit;
use serde_json::{Value, json};

/// Shows the settings.
pub(crate) fn run(context: &Context, args: &NamedJson) -> Result<u8, Failure> {
    let setup = context.setup(&args.name)?;
    let rows = (setup.config).effective(&Supported::THIS_VERSION, &setup.harnesses);
    if args.json {
        let rows: Vec<_> = rows.iter().map(json_row).collect();
        show::json(&json!({"v": 1, "loop": setup.name, "settings": rows}))?;
        return Ok(exit::DONE);
    }
    for row in &rows {
        show::line(text_row(row));
    }
    for words in setup.config.uncapped(&setup.harnesses) {
        show::line(words);
    }
    Ok(exit::DONE)
}

fn origin(row: &Effective) -> &'static str {
    match row.from {
        Origin::File => "loop.json",
        Origin::Default => "default",
    }
}

pub(crate) fn text_row(row: &Effective) -> String {
    let enforced = match &row.enforced {
        Enforced::Yes => String::new(),
        Enforced::Off => "  off".to_owned(),
        Enforced::No(why) => format!("  NOT ENFORCED: {why}"),
    };
    let value = show::one_line(&row.value);
    format!("{:<34} {value:<28} {}{enforced}", row.key, origin(row))
}

fn json_row(row: &Effective) -> Value {
    let (enforced, why) = match &row.enforced {
        Enforced::Yes => ("yes", None),
        Enforced::Off => ("off", None),
        Enforced::No(why) => ("no", Some(why)),
    };
    json!({
        "key": row.key, "value": row.value, "from": origin(row), "enforced": enforced, "why": why,
    })
}
