//! Whole ticks as tables: what the steps answer, and what a tick has to make of
//! it. The expectations are the decisions' words, row by row.

#![allow(clippy::unwrap_used)] // a test may panic

mod approve;
mod bills;
mod bounded;
mod brakes;
mod caps;
mod controls;
mod environment;
mod fallbacks;
mod fence;
mod gate;
mod held;
mod items;
mod orchestrate;
mod park;
mod payers;
mod phases;
mod places;
mod plan;
mod preflight;
mod replay;
mod scope;
mod script;
mod world;

use loop_core::Score;
use loop_core::brakes::Brakes;
use loop_core::phase::Phases;
use loop_core::rules::{CallRules, HarnessRules, Rules};

/// The rules of a loop that says nothing of its own: the documented defaults,
/// and no orchestrator.
fn rules() -> Rules {
    let call = CallRules {
        harnesses: vec![HarnessRules {
            timeout_ms: 1_800_000,
            cost_per_call: None,
            ..HarnessRules::default()
        }],
        context_window: None,
    };
    Rules {
        single: true,
        worktree: None,
        park: false,
        scope: false,
        receipts: false,
        watch: true,
        gate: None,
        judge: true,
        plan: None,
        phases: Phases::default(),
        brakes: Brakes {
            max_iterations: Some(10),
            score_plateau_window: 3,
            score_plateau_delta: 0.0,
            min_score: Score::try_from(0.7).unwrap(),
            max_harness_failures: 3,
            no_progress_window: 3,
            max_wall_ms: Some(28_800_000),
            max_ticks_per_day: None,
            max_cost: None,
            max_tokens: None,
        },
        closed_until: None,
        implement: call.clone(),
        verify: call,
        orchestrate: None,
    }
}

/// The same with an orchestrator.
fn orchestrated() -> Rules {
    Rules {
        orchestrate: Some(rules().implement),
        ..rules()
    }
}

/// The default rules with other limits.
fn limited(change: impl FnOnce(&mut Brakes)) -> Rules {
    let mut rules = rules();
    change(&mut rules.brakes);
    rules
}
