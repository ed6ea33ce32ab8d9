//! What a person's request does to a loop.

use super::{Decision, Machine, Stage};
use crate::control::{Control, Denied, Granted, Request};
use crate::outcome::{Halt, Interruption, Skip};
use crate::phase::HUMAN_INTERVENTION;
use crate::state::{Awaited, Frozen, OwedMove, State, Status};
use crate::step::Advance;
use crate::time::Timestamp;

impl Machine {
    /// Takes in a request; `seq` is the sequence number that its `control`
    /// record takes. Granted or denied, its id is remembered.
    ///
    /// # Errors
    ///
    /// [`Denied`] with one line that says why, and what to do instead.
    pub fn control(
        &mut self,
        seq: u64,
        at: Timestamp,
        control: &Control,
    ) -> Result<Granted, Denied> {
        self.now = at;
        self.state.remember_control(&control.id);
        self.state.updated_at = Some(at);
        let what = match &control.request {
            Request::Pause => self.pause(),
            Request::Resume => self.resume(),
            Request::Stop => self.stop(),
            Request::Approve { task } => self.approve(seq, &control.by, task.as_deref())?,
            Request::Restart { task, phase } => self.restart(task, phase.as_deref())?,
            Request::Freeze { task, frozen } => self.freeze(task, frozen, &control.by)?,
            Request::SetTask { task, phase } => self.set_task(task, phase.as_deref()),
            Request::Transition { tick, task, to } => {
                self.orchestrate_asks(*tick, task, to.as_deref())?
            }
        };
        Ok(Granted { what })
    }

    /// Whether a request was taken in before.
    #[must_use]
    pub fn knows(&self, id: &str) -> bool {
        self.state.recent_controls.iter().any(|known| known == id)
    }

    fn pause(&mut self) -> String {
        let before = std::mem::replace(&mut self.state.paused, true);
        self.call_off();
        match (before, self.state.in_progress) {
            (true, _) => "it was paused already".to_owned(),
            (false, Some(tick)) => format!("paused; tick {tick} finishes first"),
            (false, None) => "paused".to_owned(),
        }
    }

    fn resume(&mut self) -> String {
        if !std::mem::replace(&mut self.state.paused, false) {
            return "it was not paused".to_owned();
        }
        match self.state.reason {
            Some(halt) => format!("resumed; it still waits for a person ({halt}): loop approve"),
            None => "resumed".to_owned(),
        }
    }

    fn stop(&mut self) -> String {
        self.state.paused = true;
        self.call_off();
        match &mut self.tick {
            Some(tick) => {
                tick.stopping.get_or_insert(Interruption::Stop);
                format!("stopping tick {}, and paused", tick.number)
            }
            None => "paused; nothing was running".to_owned(),
        }
    }

    /// A look for work is no tick yet: a paused loop gives it up.
    fn call_off(&mut self) {
        if matches!(self.stage, Stage::FindWork | Stage::Open(_)) {
            self.skip(Skip::Paused);
        }
    }

    /// What approving clears depends on why the loop waits (decision D-7).
    fn approve(&mut self, seq: u64, by: &str, task: Option<&str>) -> Result<String, Denied> {
        if let Some(task) = task
            && let Some(halt) = self.state.parked.get(task).copied()
        {
            return self.take_back(seq, by, task, halt);
        }
        if let Some(tick) = &self.tick {
            return Err(Denied::because(format!(
                "tick {} is running; nothing waits for approval yet",
                tick.number
            )));
        }
        let Some(halt) = self.state.reason else {
            return Err(Denied::because(self.waits_for_nothing(task)));
        };
        if let Some(task) = task
            && self.state.halted_task.as_deref() != Some(task)
        {
            return Err(Denied::because(format!(
                "the loop does not wait about {task}, and has not put it aside"
            )));
        }
        if let Some(task) = self.state.halted_task.take() {
            self.approve_task(&task, halt);
        }
        self.look_again_after(halt);
        self.state.status = Status::Active;
        self.state.reason = None;
        self.state.why = None;
        match self.state.awaiting.take() {
            Some(awaited) => Ok(self.owe_move(seq, by, awaited)),
            None => Ok(format!("approved; the loop goes on after {halt}")),
        }
    }

    /// A person has seen what stood around the loop, and what nobody could tell.
    fn look_again_after(&mut self, halt: Halt) {
        match halt {
            Halt::Environment => self.state.cooling.clear(),
            Halt::MaxCost | Halt::MaxTokens => self.state.unknown_bill = None,
            _ => {}
        }
    }

    /// Says why there is nothing to approve, and what can be done instead.
    fn waits_for_nothing(&self, task: Option<&str>) -> String {
        let aside: Vec<_> = self.state.parked.keys().map(String::as_str).collect();
        match (task, self.state.paused) {
            (Some(task), _) => format!("{task} is not put aside, and the loop waits for nothing"),
            (None, _) if !aside.is_empty() => format!(
                "it waits for nothing; to take one of its tasks back, name it: {}",
                aside.join(", ")
            ),
            (None, true) => "it waits for nothing but the end of its pause: loop resume".to_owned(),
            (None, false) => "it waits for nothing".to_owned(),
        }
    }

    /// Clears of a task what an approval after `halt` clears.
    pub(super) fn approve_task(&mut self, task: &str, halt: Halt) {
        let Some(progress) = self.state.progress.get_mut(task) else {
            return;
        };
        if halt.is_about_work() {
            progress.start_over();
            progress.hint.clear();
        }
        match halt {
            Halt::ApprovalRequired => progress.hint.clear(),
            Halt::VerifierBroken => progress.verify_failures = 0,
            // What was kept of it may be what was tampered with; it is taken anew.
            Halt::Tampered => progress.baseline = None,
            _ => {}
        }
    }

    /// Makes an approved move owed, and says so.
    pub(super) fn owe_move(&mut self, seq: u64, by: &str, awaited: Awaited) -> String {
        let what = format!("approved; {} goes on to `{}`", awaited.task, awaited.to);
        self.state.owed = Some(OwedMove {
            owed_by: seq,
            advance: Advance {
                task: awaited.task,
                from: awaited.from,
                to: awaited.to,
                tick: None,
                by: Some(by.to_owned()),
            },
            item: awaited.item,
        });
        what
    }

    /// A person has looked at the gate; what it is made of now is what counts.
    fn freeze(&mut self, task: &str, frozen: &Frozen, by: &str) -> Result<String, Denied> {
        if let Some(tick) = &self.tick {
            return Err(Denied::because(format!(
                "tick {} is running; freeze the gate when it has ended",
                tick.number
            )));
        }
        let progress = self.state.progress.get_mut(task);
        let Some(gate) = progress.and_then(|progress| progress.gate.as_mut()) else {
            return Err(Denied::because(format!(
                "no gate is armed for {task}; its next tick does it"
            )));
        };
        gate.frozen = frozen.clone();
        gate.frozen_by = Some(by.to_owned());
        let waits = self.state.reason == Some(Halt::Tampered);
        let next = if waits { "; now: loop approve" } else { "" };
        Ok(format!("the gate of {task} is frozen as it is{next}"))
    }

    /// Sums and history stay; nothing else that is known of the task does.
    fn restart(&mut self, task: &str, phase: Option<&str>) -> Result<String, Denied> {
        if let Some(tick) = &self.tick {
            return Err(Denied::because(format!(
                "tick {} is running; stop it first, or wait for its end",
                tick.number
            )));
        }
        self.state.progress.remove(task);
        self.state.parked.remove(task);
        self.state.finished.retain(|done| done.task != task);
        self.state.status = Status::Active;
        self.state.paused = false;
        self.state.reason = None;
        self.state.why = None;
        self.state.halted_task = None;
        self.state.awaiting = None;
        self.state.owed = None;
        self.state.environment = None;
        self.state.cooling.clear();
        self.state.unknown_bill = None;
        self.state.set_task(task, phase);
        Ok(format!("the loop starts over with {task}"))
    }

    fn set_task(&mut self, task: &str, phase: Option<&str>) -> String {
        match &mut self.tick {
            Some(tick) => {
                tick.next_task = Some((task.to_owned(), phase.map(str::to_owned)));
                format!("the task is {task} from the next tick on")
            }
            None => {
                self.state.set_task(task, phase);
                if matches!(self.stage, Stage::Open(Some(_))) {
                    // What was found is another task; it is not opened yet.
                    self.stage = Stage::FindWork;
                }
                format!("the task is {task}")
            }
        }
    }

    /// Orchestrate may ask once a tick, and only for what was decided, or for a
    /// person (decision D-6).
    fn orchestrate_asks(
        &mut self,
        number: u64,
        name: &str,
        to: Option<&str>,
    ) -> Result<String, Denied> {
        let asking = matches!(self.stage, Stage::Orchestrate);
        let Some(tick) = self
            .tick
            .as_mut()
            .filter(|tick| asking && tick.number == number)
        else {
            return Err(Denied::because(
                "only orchestrate may move a task, and only while its tick asks it",
            ));
        };
        if tick.requested {
            return Err(Denied::because(
                "orchestrate has used its one request of this tick",
            ));
        }
        let task = tick.task.as_ref().map_or("", |task| task.name.as_str());
        if task != name {
            return Err(Denied::because(format!(
                "this tick is about {task}, not about {name}"
            )));
        }
        let next = match &tick.decision {
            Some(Decision::Advance { to, .. }) => Some(to.clone()),
            _ => None,
        };
        match (to, next) {
            (Some(HUMAN_INTERVENTION), next) => {
                tick.requested = true;
                tick.hand_over = next.is_some();
                Ok(format!("{name} goes to a person"))
            }
            (None, Some(next)) => {
                tick.requested = true;
                Ok(format!("{name} goes on to `{next}`"))
            }
            (Some(to), Some(next)) if to == next => {
                tick.requested = true;
                Ok(format!("{name} goes on to `{next}`"))
            }
            (_, Some(next)) => Err(Denied::because(format!(
                "the judgement allows `{next}` or `{HUMAN_INTERVENTION}`, nothing else"
            ))),
            (_, None) => Err(Denied::because(format!(
                "the judgement allows `{HUMAN_INTERVENTION}` only"
            ))),
        }
    }
}

impl State {
    /// Gives the loop its task, which starts with empty counts and no hint.
    pub(crate) fn set_task(&mut self, task: &str, phase: Option<&str>) {
        self.current_task = Some(task.to_owned());
        self.current_phase = phase.map(str::to_owned);
        if let Some(progress) = self.progress.get_mut(task) {
            progress.start_over();
            progress.hint.clear();
            progress.unjudged = None;
            progress.baseline = None;
            progress.gate = None;
            progress.judges_own.clear();
        }
        if self.status == Status::Complete {
            self.status = Status::Active;
        }
    }
}
