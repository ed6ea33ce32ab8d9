//! `loop gate`: what the acceptance gate is, and whether it can be relied on.

use crate::args::GateCommand;
use crate::context::Context;
use crate::failure::Failure;
use crate::show;
use crate::signals;
use loop_core::exit;
use loop_core::gate::{GateReport, lint_argv};
use loop_core::state::State;
use loop_runner::causes::with_causes;
use loop_runner::changes::worktree_of;
use loop_runner::gate::{
    Answer, Armed, EntryKind, Fingerprint, GateContext, GateError, Mismatch, SideDoor, Subject,
    attack as attack_gate, check_receipts, prove as prove_gate, recorded, side_doors, unmatched,
};
use loop_runner::holder::Wish;
use loop_runner::setup::Setup;
use loop_runner::store::read_state;
use loop_runner::trust;
use serde_json::json;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Runs one of the commands.
pub(crate) fn run(context: &Context, command: &GateCommand) -> Result<u8, Failure> {
    match command {
        GateCommand::Hash { name, json } => hash(context, name.as_deref(), *json),
        GateCommand::Check {
            name,
            receipts,
            json,
        } => check(context, name, *receipts, *json),
        GateCommand::Prove { name, json } => prove(context, name, *json),
        GateCommand::Attack { name, json } => attack(context, name, *json),
        GateCommand::Freeze { name, task, note } => {
            super::freeze::run(context, name, task.as_deref(), note.clone())
        }
    }
}

/// A loop with a gate, and what a command about it is about.
struct Gated {
    setup: Setup,
    state: State,
    subject: Subject,
    stop: AtomicBool,
}

impl Gated {
    fn read(context: &Context, name: &str) -> Result<Self, Failure> {
        let setup = context.setup(name)?;
        if setup.config.gate().is_none() {
            return Err(Failure::usage(format!(
                "{name} has no gate; set gate.command in {}",
                setup.config_path().display()
            )));
        }
        let state = read_state(&setup.dir)?.state;
        Ok(Self {
            subject: Subject::of(&setup, &state, None).map_err(failure)?,
            setup,
            state,
            stop: AtomicBool::new(false),
        })
    }

    /// Returns the gate that was frozen; `None` when there is none. One that cannot
    /// be read any more is not taken for none.
    fn armed(&self) -> Result<Option<Armed>, Failure> {
        let armed = self.subject.frozen.as_ref().map(recorded).transpose();
        armed.map_err(failure)
    }

    fn context(&self) -> Result<GateContext<'_>, Failure> {
        let gate = self.setup.config.gate();
        let gate = gate.ok_or_else(|| Failure::usage("the loop has no gate"))?;
        Ok(self.subject.context(&self.setup, gate, &self.stop))
    }
}

/// Prints the fingerprint, as `sha256sum` prints its own.
fn hash(context: &Context, name: Option<&str>, json: bool) -> Result<u8, Failure> {
    let name = match name {
        Some(name) => name.to_owned(),
        None => the_only_one(context)?,
    };
    let gated = Gated::read(context, &name)?;
    let armed = gated.armed()?;
    // What a plan freezes besides is known once it is armed.
    let planned = armed.iter().flat_map(|armed| &armed.extra);
    let planned: Vec<_> = planned.map(String::as_str).collect();
    let taken = Fingerprint::of(&gated.context()?, &planned).map_err(failure)?;
    if json {
        show::json(&json!({"v": 1, "loop": name, "fingerprint": taken}))?;
        return Ok(exit::DONE);
    }
    let overlay = taken.overlay().iter();
    let overlay = overlay.map(|(path, entry)| (format!("gate.overlay: {path}"), entry));
    let files = taken
        .files()
        .iter()
        .map(|(path, entry)| (path.clone(), entry));
    for (path, entry) in files.chain(overlay) {
        let digest = match entry.kind {
            EntryKind::File | EntryKind::Link | EntryKind::Unread => entry.sha256.as_str(),
            EntryKind::Folder => "(a folder)",
            EntryKind::Absent => "(not there)",
            EntryKind::Special => "(no regular file)",
        };
        show::line(format!("{digest:<64}  {path}"));
    }
    show::line(format!("{}  {name}", taken.sha256));
    Ok(exit::DONE)
}

fn the_only_one(context: &Context) -> Result<String, Failure> {
    let names = context.around.project.loops();
    let names = names.map_err(|error| Failure::of(&error))?;
    let is_gated = |name: &String| {
        let setup = Setup::read(&context.around, name);
        setup.is_ok_and(|setup| setup.config.gate().is_some())
    };
    let gated: Vec<_> = names.into_iter().filter(is_gated).collect();
    match &gated[..] {
        [name] => Ok(name.clone()),
        [] => Err(Failure::usage("no loop of this project has a gate")),
        _ => Err(Failure::usage(format!(
            "more than one loop has a gate; name one of {}",
            gated.join(", ")
        ))),
    }
}

/// Says whether the gate is what was frozen, and what is left open.
fn check(context: &Context, name: &str, receipts: bool, json: bool) -> Result<u8, Failure> {
    let gated = Gated::read(context, name)?;
    let at = gated.context()?;
    let armed = gated.armed()?;
    let changed = match &armed {
        Some(armed) => armed.compare(&at).map_err(failure)?,
        None => Vec::new(),
    };
    let doors = side_doors(&at).map_err(failure)?;
    let unmatched = unmatched(&at).map_err(failure)?;
    let lost = lost_exit_codes(&at);
    let faults = match receipts {
        true => receipt_faults(&gated)?,
        false => Vec::new(),
    };
    let code = match changed.is_empty() && faults.is_empty() {
        true => exit::DONE,
        false => exit::TAMPERED,
    };
    if json {
        show::json(&json!({
            "v": 1, "loop": name, "frozen": armed.as_ref().map(|armed| &armed.fingerprint.sha256),
            "changed": changed, "side_doors": doors, "unmatched": unmatched, "lint": lost, "receipts": faults, "exit": code,
        }))?;
        return Ok(code);
    }
    tell_frozen(name, armed.as_ref(), &changed);
    for line in &lost {
        show::warning(line);
    }
    for pattern in &unmatched {
        show::warning(&format!("gate.frozen: {pattern} covers no file now"));
    }
    tell_doors(&doors);
    for fault in &faults {
        show::line(format!("receipt {fault}"));
    }
    if receipts && faults.is_empty() {
        show::line("the receipts are as they were written");
    }
    Ok(code)
}

fn tell_frozen(name: &str, armed: Option<&Armed>, changed: &[Mismatch]) {
    match armed {
        None => show::line(format!(
            "{name}: the gate is not frozen yet; the first tick of a task does it"
        )),
        Some(armed) if changed.is_empty() => show::line(format!(
            "{name}: the gate is what was frozen ({})",
            &armed.fingerprint.sha256[..16]
        )),
        Some(_) => {
            show::line(format!("{name}: the gate is not what was frozen"));
            for mismatch in changed {
                show::line(format!("  {mismatch}"));
            }
        }
    }
}

fn tell_doors(doors: &[SideDoor]) {
    if doors.is_empty() {
        return;
    }
    show::line("these decide what a test run means, and are not frozen; add them to gate.frozen:");
    for door in doors {
        show::line(format!("  {:<32} {}", door.path, door.why));
    }
}

/// Finds where the gate's own command or script loses an exit code.
fn lost_exit_codes(at: &GateContext<'_>) -> Vec<String> {
    let command = lint_argv(at.gate.command.as_slice()).into_iter();
    let command = command.map(|found| format!("gate.command: line {}: {}", found.line, found.what));
    let script = loop_runner::gate::lint_script_of(at).into_iter();
    let script = script.flat_map(|(path, found)| {
        let lines = found.into_iter();
        lines.map(move |found| format!("{path}:{}: {}", found.line, found.what))
    });
    command.chain(script).collect()
}

fn receipt_faults(gated: &Gated) -> Result<Vec<String>, Failure> {
    // The record has the digest of each receipt: the folder alone proves nothing.
    let written = gated.state.receipts.iter().filter_map(|receipt| {
        let name = Path::new(&receipt.path).file_name()?.to_str()?;
        Some((name.to_owned(), receipt.sha256.clone()))
    });
    let recorded = written.collect();
    let found = check_receipts(&gated.setup, &recorded, &mut |receipt| {
        let worktree = worktree_of(&gated.setup, &gated.state, Some(&receipt.task)).ok()?;
        let at = GateContext {
            worktree: Some(&worktree),
            ..gated.context().ok()?
        };
        at.tree_hash()
    });
    let found = found.map_err(failure)?;
    let texts = found
        .into_iter()
        .map(|fault| format!("{} {}", fault.receipt, fault.what));
    Ok(texts.collect())
}

/// Runs the gate without and with the work, both in clean checkouts.
fn prove(context: &Context, name: &str, json: bool) -> Result<u8, Failure> {
    context.person_only("run a gate")?;
    let gated = Gated::read(context, name)?;
    check_trust(&gated)?;
    let at = gated.context()?;
    let armed = armed(&gated, &at)?;
    let mut poll = poll()?;
    let proof = prove_gate(&at, &armed, "gate-prove", &mut poll).map_err(failure)?;
    let code = match proof.proven {
        true => exit::DONE,
        false => exit::GATE,
    };
    if json {
        show::json(&json!({"v": 1, "loop": name, "proof": proof, "exit": code}))?;
        return Ok(code);
    }
    show::line(format!("{name}: {}", proof.why));
    tell_report("without the work", &proof.base);
    tell_report("with the work", &proof.result);
    Ok(code)
}

fn tell_report(what: &str, report: &GateReport) {
    show::line(format!("  {what}: {} ({})", report.why, report.level));
    for flag in &report.flags {
        show::line(format!("    {flag}"));
    }
}

/// Plants cheats in throw-away checkouts, and says which the gate would accept.
fn attack(context: &Context, name: &str, json: bool) -> Result<u8, Failure> {
    context.person_only("run a gate")?;
    let gated = Gated::read(context, name)?;
    check_trust(&gated)?;
    let at = gated.context()?;
    let armed = armed(&gated, &at)?;
    let mut poll = poll()?;
    let attack = attack_gate(&at, &armed, "gate-attack", &mut poll).map_err(failure)?;
    let code = match attack.untried {
        Some(_) => exit::GATE,
        None => exit::DONE,
    };
    let (tried, accepted) = (attack.attempts.len(), attack.accepted());
    if json {
        show::json(&json!({
            "v": 1, "loop": name, "level": attack.level, "base": attack.base,
            "untried": attack.untried, "attempts": attack.attempts, "accepted": accepted,
            "exit": code,
        }))?;
        return Ok(code);
    }
    if let Some(why) = &attack.untried {
        show::line(format!("{name}: {why}; no cheat was tried"));
        return Ok(code);
    }
    for attempt in &attack.attempts {
        let answer = match attempt.answer {
            Answer::Refused => "refused",
            Answer::Red => "red",
            Answer::Accepted => "ACCEPTED",
        };
        show::line(format!("{answer:<10} {}: {}", attempt.cheat, attempt.why));
    }
    show::line(format!(
        "{name}: the gate would accept {accepted} of {tried} cheats ({})",
        attack.level
    ));
    Ok(code)
}

/// A gate is a program of the configuration, and so are its set-up and the agent's
/// work that it runs.
fn check_trust(gated: &Gated) -> Result<(), Failure> {
    trust::check(&gated.setup).map_err(|untrusted| {
        let name = &gated.setup.name;
        Failure::with(
            exit::PERSON,
            format!(
                "{}; agree to it: loop trust {name}",
                with_causes(&untrusted)
            ),
        )
    })
}

/// Returns the frozen gate, or the gate as it is when nothing is frozen yet.
fn armed(gated: &Gated, at: &GateContext<'_>) -> Result<Armed, Failure> {
    match gated.armed()? {
        Some(armed) => {
            let changed = armed.compare(at).map_err(failure)?;
            match changed.is_empty() {
                true => Ok(armed),
                false => Err(failure(GateError::Tampered(changed))),
            }
        }
        None => Armed::take(at, &[]).map_err(failure),
    }
}

/// Returns what ends the gate when a person asks for it.
fn poll() -> Result<impl FnMut() -> Wish, Failure> {
    let interrupt = signals::interrupt().map_err(|error| Failure::of(&error))?;
    Ok(move || match interrupt.asked() {
        0 => Wish::GoOn,
        1 => Wish::End,
        _ => Wish::Kill,
    })
}

fn failure(error: GateError) -> Failure {
    let code = match error {
        GateError::Stopped => exit::INTERRUPTED,
        GateError::Tampered(_) | GateError::Replaced(_) | GateError::NotKept { .. } => {
            exit::TAMPERED
        }
        GateError::Pattern { .. }
        | GateError::Overlay { .. }
        | GateError::Nothing { .. }
        | GateError::LeadsOut { .. } => exit::USAGE,
        _ => exit::FAILED,
    };
    Failure::with(code, with_causes(&error))
}
