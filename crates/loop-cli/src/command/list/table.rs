//! The loops as aligned lines.

use super::row::{Facts, Row, iteration, last_score, status};
use super::trend;
use crate::command::cost_words;
use crate::show;
use crate::span;
use crate::width::{fit, pad, width};
use loop_core::time::Timestamp;

/// The widest that a column gets, but for the last.
const WIDEST: usize = 40;

/// Makes a line of each loop. `blocks` has scores drawn with more than ASCII.
pub(super) fn lines(rows: &[Row], now: Timestamp, blocks: bool) -> Vec<String> {
    let cells: Vec<_> = rows.iter().map(|row| cells(row, now, blocks)).collect();
    let columns = cells.iter().map(|cells| cells.fixed.len()).max();
    let widths: Vec<_> = (0..columns.unwrap_or(0))
        .map(|column| {
            let of_column = cells.iter().filter_map(|cells| cells.fixed.get(column));
            of_column.map(|cell| width(cell)).max().unwrap_or(0)
        })
        .collect();
    cells.iter().map(|cells| cells.line(&widths)).collect()
}

/// What stands on a line.
struct Cells {
    fixed: Vec<String>,
    /// What is as long as it is.
    rest: String,
}

impl Cells {
    fn line(&self, widths: &[usize]) -> String {
        let cells = self.fixed.iter().zip(widths);
        // A column that nobody has anything in takes no room.
        let cells = cells.filter(|(_, columns)| **columns > 0);
        let mut line: Vec<_> = cells.map(|(cell, columns)| pad(cell, *columns)).collect();
        line.push(self.rest.clone());
        line.join("  ").trim_end().to_owned()
    }
}

fn cells(row: &Row, now: Timestamp, blocks: bool) -> Cells {
    let name = row.name.clone();
    match &row.read {
        Ok(facts) => of_facts(name, facts, now, blocks),
        Err(failure) => Cells {
            fixed: vec![name, "broken".to_owned()],
            rest: show::one_line(&failure.to_string()),
        },
    }
}

fn of_facts(name: String, facts: &Facts, now: Timestamp, blocks: bool) -> Cells {
    let state = &facts.state;
    let rest = reason(&name, facts);
    let max = facts.max_iterations;
    let max = max.map_or_else(|| "unlimited".to_owned(), |max| max.to_string());
    let score = last_score(state).map_or_else(|| "-".to_owned(), |score| score.to_string());
    let next = facts.next_fire.map_or_else(String::new, |time| {
        format!("next in {}", span::between(now, time))
    });
    Cells {
        fixed: [
            name,
            match facts.running {
                Some(_) => "running".to_owned(),
                None => status(state).to_owned(),
            },
            place(facts),
            format!("{}/{max}", iteration(state)),
            format!("score {score}"),
            trend::of(state, blocks),
            format!("cost {}", cost_words::cost(state)),
            since(facts, now),
            next,
        ]
        .map(|cell| fit(&cell, WIDEST))
        .to_vec(),
        rest,
    }
}

fn place(facts: &Facts) -> String {
    let state = &facts.state;
    match (&state.current_task, &state.current_phase) {
        (Some(task), Some(phase)) => format!("{task} in {phase}"),
        (Some(task), None) => task.clone(),
        (None, _) => "no task".to_owned(),
    }
}

/// Says what runs and how long, or since when the loop is as it is.
fn since(facts: &Facts, now: Timestamp) -> String {
    match (facts.running, facts.state.updated_at) {
        (Some(running), _) => {
            format!(
                "{} since {}",
                running.step,
                span::between(running.since, now)
            )
        }
        (None, Some(time)) => format!("since {}", span::between(time, now)),
        (None, None) => String::new(),
    }
}

fn reason(name: &str, facts: &Facts) -> String {
    let state = &facts.state;
    let aside = match state.parked.len() {
        0 => None,
        aside => Some(format!("{aside} put aside")),
    };
    let untrusted = (!facts.trusted).then(|| format!("not trusted: loop trust {name}"));
    let why = state.why.as_deref().map(show::one_line);
    let parts: Vec<_> = untrusted.into_iter().chain(aside).chain(why).collect();
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;
    use loop_core::state::{Running, State, Status};
    use loop_core::{Score, Step};

    fn row(name: &str, change: impl FnOnce(&mut Facts)) -> Row {
        let mut facts = Facts {
            state: State::new(),
            running: None,
            max_iterations: Some(10),
            next_fire: None,
            trusted: true,
        };
        change(&mut facts);
        Row {
            name: name.to_owned(),
            read: Ok(facts),
        }
    }

    // rows: C-10, U-30
    #[test]
    fn lines_are_aligned_whatever_stands_in_them() {
        let now = Timestamp::from_unix_millis(10_000_000);
        let earlier = |seconds: i64| Timestamp::from_unix_millis(10_000_000 - seconds * 1000);
        let rows = [
            row("a", |_| {}),
            row("日本", |facts| {
                let state = &mut facts.state;
                state.current_task = Some("t1".to_owned());
                state.current_phase = Some("implement".to_owned());
                let progress = state.progress.entry("t1".to_owned()).or_default();
                progress.iteration = 2;
                progress.scores = [0.0, 1.0]
                    .map(|score| Score::try_from(score).unwrap())
                    .to_vec();
                state.status = Status::HumanIntervention;
                state.why = Some("two\nlines \u{1b}[31m".to_owned());
                state.updated_at = Some(earlier(90));
                state.spent.used.unpriced_calls = 1;
            }),
            row("running", |facts| {
                facts.running = Some(Running {
                    step: Step::Implement,
                    since: earlier(5),
                    pid: 1,
                });
                facts.next_fire = Some(earlier(-60));
                facts.max_iterations = None;
            }),
            Row {
                name: "bad".to_owned(),
                read: Err(Failure::usage("loop.json:1:2: wrong")),
            },
        ];
        assert_eq!(
            lines(&rows, now, true),
            [
                "a        active   no task          0/10         score -      cost nothing yet",
                "日本     waiting  t1 in implement  2/10         score -  ▁█  cost unknown      since 1m30s                        two lines",
                "running  running  no task          0/unlimited  score -      cost nothing yet  implement since 5s  next in 1m00s",
                "bad      broken   loop.json:1:2: wrong",
            ]
        );
        assert!(
            lines(&rows, now, false)
                .iter()
                .all(|line| !line.contains('█'))
        );
        assert!(lines(&[], now, true).is_empty());
    }
}
