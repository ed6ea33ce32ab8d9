//! `loop list`: the loops of the project, a line each.

mod row;
mod table;
mod trend;

pub(crate) use row::status;

use crate::args::List;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use crate::terminal;
use crate::width::fit;
use loop_core::exit;
use row::Row;
use serde_json::json;

/// Lists the loops.
pub(crate) fn run(context: &Context, args: &List) -> Result<u8, Failure> {
    let project = &context.around.project;
    let names = project.loops().map_err(|error| Failure::of(&error))?;
    let rows = names.into_iter().map(|name| Row::read(context, name));
    let rows: Vec<_> = rows
        .filter(|row| !args.waiting || row.waits().is_some())
        .collect();
    if args.json {
        let loops: Vec<_> = rows.iter().map(Row::json).collect();
        show::json(&json!({"v": 1, "project": project.root(), "loops": loops}))?;
    } else if args.waiting {
        tell_waiting(&rows);
    } else {
        tell(context, &rows);
    }
    Ok(exit::DONE)
}

fn tell(context: &Context, rows: &[Row]) {
    if rows.is_empty() {
        show::line("no loops; make one with: loop create NAME --from-template task --brief TEXT");
    }
    let blocks = trend::blocks_are_shown();
    let limit = terminal::columns_of_stdout();
    for line in table::lines(rows, context.around.clock.now(), blocks) {
        show::line(limit.map_or_else(|| line.clone(), |limit| fit(&line, limit)));
    }
}

/// Says of each loop that waits for a person why, and what to do.
fn tell_waiting(rows: &[Row]) {
    if rows.is_empty() {
        show::line("no loop waits for a person");
    }
    for row in rows {
        if let Some(waits) = row.waits() {
            show::line(format!("{} ({})", row.name, waits.word));
            show::line(format!("  why: {}", show::one_line(&waits.why)));
            show::line(format!("  do: {}", show::one_line(&waits.what)));
        }
    }
}
