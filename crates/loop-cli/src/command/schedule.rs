//! `loop schedule`: timers that tick a loop.

mod show;

use crate::args::{ScheduleCommand, TimerArgs};
use crate::context::Context;
use crate::failure::Failure;
use crate::show::{json, line, quoted, warning};
use loop_core::config::LoopName;
use loop_core::exit;
use loop_runner::causes::with_causes;
use loop_runner::schedule::{
    self, Backend, Host, InstallError, Piece, Place, Timer, is_enabled, unit_name,
};
use loop_runner::setup::SetupError;
use serde_json::{Value, json};
use std::env;
use std::path::{Path, PathBuf};

/// Does what is asked about a timer.
pub(crate) fn run(context: &Context, command: &ScheduleCommand) -> Result<u8, Failure> {
    match command {
        ScheduleCommand::Install(args) => install(context, args),
        ScheduleCommand::Show { name, json } => show::run(context, name, *json),
        ScheduleCommand::Remove(args) => remove(context, args),
    }
}

/// Writes a timer.
fn install(context: &Context, args: &TimerArgs) -> Result<u8, Failure> {
    context.person_only("install a timer")?;
    let setup = context.setup(&args.name)?;
    let binary = this_program()?;
    let timer = Timer::of(&setup, &binary)?;
    let host = Host::look(&context.around.environment);
    let there = in_place(&timer.unit, &host);
    let backend = match (args.backend, &there[..]) {
        (Some(backend), _) => backend,
        // What is installed is kept where it is.
        (None, [only]) => *only,
        (None, _) => host.preferred(),
    };
    let pieces = schedule::plan(backend, &timer, &host)?;
    let changed = pieces.iter().any(Piece::changes);
    let was_enabled = is_enabled(backend, &timer.unit, &host) == Some(true);
    if !args.dry_run {
        schedule::apply(&pieces)?;
    }
    let warnings = warnings(&binary, backend, &there, &host);
    for text in &warnings {
        warning(text);
    }
    // A timer that is enabled and unchanged needs nothing more.
    let commands = if changed || !was_enabled || backend != Backend::Systemd {
        schedule::to_start(backend, &timer.unit, &host)
    } else {
        Vec::new()
    };
    let elsewhere = schedule::cron_line(&timer).filter(|_| backend != Backend::Cron);
    let next_fire = timer.next_fire(backend);
    if args.json {
        json(&json!({
            "v": 1, "loop": args.name, "unit": timer.unit, "backend": backend.as_str(),
            "dry_run": args.dry_run, "changed": changed,
            "files": pieces.iter().map(json_piece).collect::<Vec<_>>(),
            "commands": commands, "cron_line": elsewhere, "next_fire": next_fire,
            "warnings": warnings,
        }))?;
        return Ok(exit::DONE);
    }
    for piece in &pieces {
        tell(piece, args.dry_run);
    }
    if backend == Backend::Cron && changed && !args.dry_run {
        line("cron starts it from now on, if it runs on this machine");
    }
    for command in &commands {
        line(format!("  run: {command}"));
    }
    if let Some(cron) = elsewhere {
        line(format!("  or in a crontab: {cron}"));
    }
    if let Some(time) = next_fire {
        line(format!("next: {}", timer.zone.clock(time)));
    }
    Ok(exit::DONE)
}

/// Takes a timer away. The loop's configuration may be broken or gone.
fn remove(context: &Context, args: &TimerArgs) -> Result<u8, Failure> {
    context.person_only("remove a timer")?;
    let project = context.around.project.root();
    if args.name.parse::<LoopName>().is_err() {
        return Err(Failure::from(SetupError::NoSuchLoop {
            name: args.name.clone(),
            project: project.to_owned(),
        }));
    }
    let unit = unit_name(project, &args.name);
    let host = Host::look(&context.around.environment);
    let mut removed = Vec::new();
    let mut commands = Vec::new();
    for backend in Backend::ALL {
        if args.backend.is_some_and(|named| named != backend) {
            continue;
        }
        let pieces = match schedule::removal(backend, &unit, &host) {
            // Who never had a crontab may not be allowed one.
            Err(InstallError::Crontab(error)) if args.backend.is_none() => {
                warning(&format!(
                    "the crontab was not looked at: {}",
                    with_causes(&error)
                ));
                continue;
            }
            pieces => pieces?,
        };
        if pieces.is_empty() {
            continue;
        }
        if !args.dry_run {
            schedule::apply(&pieces)?;
        }
        commands.extend(schedule::to_stop(backend, &unit));
        removed.extend(pieces);
    }
    if args.json {
        json(&json!({
            "v": 1, "loop": args.name, "unit": unit, "dry_run": args.dry_run,
            "changed": !removed.is_empty(),
            "files": removed.iter().map(json_piece).collect::<Vec<_>>(),
            "commands": commands,
        }))?;
        return Ok(exit::DONE);
    }
    if removed.is_empty() {
        line(format!("{} has no timer", args.name));
    }
    for piece in &removed {
        tell(piece, args.dry_run);
    }
    for command in &commands {
        line(format!("  run: {command}"));
    }
    Ok(exit::DONE)
}

/// Returns the schedulers that have the timer; one that cannot be asked has none.
fn in_place(unit: &str, host: &Host) -> Vec<Backend> {
    let has = |backend: &Backend| {
        schedule::removal(*backend, unit, host).is_ok_and(|pieces| !pieces.is_empty())
    };
    Backend::ALL.into_iter().filter(has).collect()
}

/// Returns the program that a timer starts: this one, wherever it was found.
fn this_program() -> Result<PathBuf, Failure> {
    let path = env::current_exe()
        .map_err(|error| Failure::failed(format!("cannot tell where this program is: {error}")))?;
    if path.is_file() {
        return Ok(path);
    }
    Err(Failure::failed(format!(
        "this program's file is gone: {}; install it again",
        path.display()
    )))
}

/// Returns what may keep the timer from doing what it should.
fn warnings(binary: &Path, backend: Backend, there: &[Backend], host: &Host) -> Vec<String> {
    let mut warnings = Vec::new();
    let shown = binary.display();
    if is_build(binary) {
        warnings.push(format!(
            "{shown} is in a build's folder, and changes with the next build; install it with: \
             cargo install"
        ));
    } else if binary.starts_with(env::temp_dir()) || binary.starts_with("/tmp") {
        warnings.push(format!(
            "{shown} is in a temporary folder, and will be gone"
        ));
    }
    for other in there.iter().filter(|other| **other != backend) {
        warnings.push(format!(
            "{other} has a timer for this loop, too; take it away with --backend {other}"
        ));
    }
    if backend == Backend::Systemd && !host.user_manager {
        warnings.push(
            "no user manager of systemd runs here; the timer fires nothing until one does"
                .to_owned(),
        );
    }
    warnings
}

/// Whether the program lies where cargo builds it.
fn is_build(binary: &Path) -> bool {
    let folder = binary.parent();
    let profile = folder.and_then(Path::file_name);
    let builds = folder.is_some_and(|folder| folder.join(".fingerprint").is_dir());
    builds || profile.is_some_and(|name| name == "debug" || name == "release")
}

/// Says what becomes of a piece, and how it differs from what was there.
fn tell(piece: &Piece, dry_run: bool) {
    let place = place(&piece.place);
    let (before, after) = (text(piece.before.as_deref()), text(piece.after.as_deref()));
    let done = match (&piece.before, &piece.after, dry_run) {
        _ if !piece.changes() => "unchanged",
        (_, None, true) => "would remove",
        (_, None, false) => "removed",
        (_, Some(_), true) => "would write",
        (_, Some(_), false) => "wrote",
    };
    line(format!("{done} {place}"));
    if piece.changes() && piece.before.is_some() && piece.after.is_some() {
        for change in difference(&before, &after) {
            line(format!("  {change}"));
        }
    } else if dry_run && piece.after.is_some() {
        for text in after.lines() {
            line(format!("  {text}"));
        }
    }
}

/// Returns the lines that go and those that come.
fn difference(before: &str, after: &str) -> Vec<String> {
    let missing = |text: &str, other: &str, sign: char| {
        let missing = text
            .lines()
            .filter(|line| !other.lines().any(|known| known == *line));
        missing
            .map(|line| format!("{sign} {line}"))
            .collect::<Vec<_>>()
    };
    let mut changes = missing(before, after, '-');
    changes.extend(missing(after, before, '+'));
    changes
}

fn place(place: &Place) -> String {
    match place {
        Place::File(path) | Place::Link(path) => quoted(&path.to_string_lossy()),
        Place::Crontab { unit, .. } => format!("the block {unit} in the crontab"),
    }
}

fn text(bytes: Option<&[u8]>) -> String {
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}

fn json_piece(piece: &Piece) -> Value {
    let path = match &piece.place {
        Place::File(path) | Place::Link(path) => Some(path),
        Place::Crontab { .. } => None,
    };
    json!({
        "path": path,
        "changed": piece.changes(),
        "before": piece.before.as_deref().map(|bytes| text(Some(bytes))),
        "after": piece.after.as_deref().map(|bytes| text(Some(bytes))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_known_by_its_folder() {
        for (path, build) in [
            ("/src/loop/target/debug/loop", true),
            ("/big/cache/release/loop", true),
            ("/home/ada/.cargo/bin/loop", false),
            ("/usr/local/bin/loop", false),
        ] {
            assert_eq!(is_build(Path::new(path)), build, "{path}");
        }
    }

    #[test]
    fn a_difference_has_the_lines_that_are_others() {
        let changes = difference("a\nb\nc\n", "a\nB\nc\nd\n");
        assert_eq!(changes, ["- b", "+ B", "+ d"]);
    }
}
