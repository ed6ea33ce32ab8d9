//! The receipt of a verified result (shapes §11).

use super::Driver;
use crate::gate::{Receipt, ReceiptGate, ReceiptHarness, write_receipt};
use crate::hash::sha256_hex;
use crate::kept;
use crate::lint::called_roles;
use crate::store::HeldError;
use loop_core::StepAnswer;
use loop_core::step::Verified;
use std::fs;

impl Driver<'_> {
    /// Writes down what was verified. The result stands without it.
    pub(super) fn receipt(&mut self, verified: &Verified) -> Result<(), HeldError> {
        let setup = self.setup;
        let harness = called_roles(setup).into_iter().map(|role| {
            let unknown = ReceiptHarness {
                profile: None,
                version: None,
            };
            (role.as_str().to_owned(), unknown)
        });
        let receipt = Receipt {
            v: 1,
            loop_name: setup.name.clone(),
            task: verified.task.clone(),
            tick: verified.tick,
            base_commit: verified.worktree.as_ref().map(|made| made.base.clone()),
            tree_before: verified.tree_before.clone(),
            tree: verified.tree.clone(),
            delivered_tree: None,
            gate: verified.gate.as_ref().map(|(frozen, report)| ReceiptGate {
                exit: report.exit,
                fingerprint: frozen.fingerprint.clone(),
                tests: report.tests,
            }),
            verdict: verified.verdict.clone(),
            prompts: self.prompts.clone(),
            harness: harness.collect(),
            config: sha256_hex(setup.text().as_bytes()),
            previous: None,
            at: setup.clock.now(),
        };
        let receipts = setup.dir.outputs().join("receipts");
        let path = receipts.join(format!("{}-{}.json", verified.task, verified.tick));
        // No record names it yet: an earlier process died before it could, or an
        // agent, which knows the name, has put something there.
        let _absent = fs::remove_file(&path);
        let written = match write_receipt(setup, &receipt) {
            Ok(_) => kept::name(&path).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = &written {
            self.warn(&[format!("there is no receipt of this result: {error}")]);
        }
        self.held.answer(StepAnswer::Receipt(written.ok()), 0)
    }
}
