//! The checks that need no judge: the baseline, what changed, the acceptance gate.

use super::Driver;
use crate::store::HeldError;
use loop_core::StepAnswer;
use loop_core::answer::Scoped;
use loop_core::step::{Check, Workplace};

impl Driver<'_> {
    pub(super) fn baseline(&mut self, _place: &Workplace) -> Result<(), HeldError> {
        self.held.answer(StepAnswer::Baseline(None), 0)
    }

    pub(super) fn scope(&mut self, _check: &Check) -> Result<(), HeldError> {
        self.held.answer(StepAnswer::Scope(Scoped::default()), 0)
    }

    pub(super) fn arm(&mut self, _check: &Check) -> Result<(), HeldError> {
        todo!()
    }

    pub(super) fn gate(&mut self, _check: &Check) -> Result<(), HeldError> {
        todo!()
    }

    pub(super) fn set_aside(&mut self, _check: &Check) -> Result<(), HeldError> {
        todo!()
    }
}
