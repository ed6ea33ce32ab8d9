//! What was verified, on paper: one receipt for each result, each with the
//! digest of the one before, so that none can be changed or taken out unnoticed.

use super::{At, GateError};
use crate::git::plain_file;
use crate::hash::sha256_hex;
use crate::setup::Setup;
use loop_core::time::Timestamp;
use loop_core::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The longest receipt that is read, in bytes.
const MAX_RECEIPT: u64 = 1 << 20;

/// One verified result (shapes §11).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// Version of the shape: 1.
    pub v: u32,
    /// The loop.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// The task.
    pub task: String,
    /// The tick.
    pub tick: u64,
    /// The commit that the work began from.
    pub base_commit: Option<String>,
    /// The tree's hash before the attempt.
    pub tree_before: Option<String>,
    /// The tree's hash that was verified.
    pub tree: Option<String>,
    /// The tree that was delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_tree: Option<String>,
    /// What the gate said.
    pub gate: Option<ReceiptGate>,
    /// What the judge said.
    pub verdict: Option<Verdict>,
    /// SHA-256 of each role's prompt.
    pub prompts: BTreeMap<String, String>,
    /// Each role's harness.
    pub harness: BTreeMap<String, ReceiptHarness>,
    /// SHA-256 of `loop.json`.
    pub config: String,
    /// SHA-256 of the receipt before; null for the first.
    pub previous: Option<String>,
    /// When it was written.
    pub at: Timestamp,
}

/// What the gate said, on a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptGate {
    /// The exit code.
    pub exit: i32,
    /// The fingerprint's value.
    pub fingerprint: String,
    /// How many tests ran; null when nobody can tell.
    pub tests: Option<u64>,
}

/// A role's harness, on a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptHarness {
    /// The harness profile.
    pub profile: Option<String>,
    /// The version that the harness told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// One thing about the receipts that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReceiptFault {
    /// The receipt's file name.
    pub receipt: String,
    /// What is wrong, in a few words.
    pub what: String,
}

/// Writes a receipt, chained to the latest one there is; what its `previous`
/// says is replaced. Returns the file's name and its SHA-256, for the record.
///
/// # Errors
///
/// [`GateError`] when there is a receipt of this name already, or files cannot
/// be read or written.
pub fn write_receipt(setup: &Setup, receipt: &Receipt) -> Result<(String, String), GateError> {
    let folder = folder(setup);
    let latest = read_all(&folder)?.pop();
    let receipt = Receipt {
        previous: latest.map(|latest| sha256_hex(&latest.content)),
        ..receipt.clone()
    };
    let name = format!("{}-{}.json", receipt.task, receipt.tick);
    let path = folder.join(&name);
    let content = serde_json::to_vec(&receipt)
        .map_err(io::Error::from)
        .at("write", &path)?;
    let write = || -> io::Result<()> {
        fs::create_dir_all(&folder)?;
        let mut draft = tempfile::NamedTempFile::new_in(&folder)?;
        draft.write_all(&content)?;
        draft.as_file().sync_all()?;
        draft.persist_noclobber(&path)?;
        Ok(())
    };
    write().at("write", &path)?;
    Ok((name, sha256_hex(&content)))
}

/// Lists what is not as it was: receipts that were changed or taken out, by the
/// chain and by the digests in the loop's record, and verified trees that are
/// others now.
///
/// `recorded` are the digests by file name. `tree_of` returns the hash of a
/// task's tree as it is now; it is asked once for the latest receipt of a task,
/// and `None` is no objection, as a worktree may be gone.
///
/// # Errors
///
/// [`GateError`] when the folder cannot be read.
pub fn check_receipts(
    setup: &Setup,
    recorded: &BTreeMap<String, String>,
    tree_of: &mut dyn FnMut(&Receipt) -> Option<String>,
) -> Result<Vec<ReceiptFault>, GateError> {
    let found = read_all(&folder(setup))?;
    let mut faults = Vec::new();
    let mut fault = |receipt: &str, what: &str| {
        faults.push(ReceiptFault {
            receipt: receipt.to_owned(),
            what: what.to_owned(),
        });
    };
    for name in recorded.keys() {
        if !found.iter().any(|file| &file.name == name) {
            fault(name, "is gone");
        }
    }
    let mut previous: Option<String> = None;
    let mut latest = BTreeMap::new();
    for file in &found {
        let sha256 = sha256_hex(&file.content);
        if recorded
            .get(&file.name)
            .is_some_and(|known| *known != sha256)
        {
            fault(&file.name, "was changed");
        }
        match &file.receipt {
            None => fault(&file.name, "cannot be read"),
            Some(receipt) => {
                if receipt.previous != previous {
                    fault(&file.name, "does not follow the receipt before it");
                }
                latest.insert(receipt.task.clone(), (file.name.clone(), receipt.clone()));
            }
        }
        previous = Some(sha256);
    }
    for (name, receipt) in latest.into_values() {
        let verified = receipt.delivered_tree.as_ref().or(receipt.tree.as_ref());
        let now = tree_of(&receipt);
        if now.is_some() && verified.is_some() && now.as_ref() != verified {
            fault(&name, "the tree is not the one that was verified any more");
        }
    }
    Ok(faults)
}

/// A receipt's file.
struct Found {
    name: String,
    content: Vec<u8>,
    receipt: Option<Receipt>,
}

/// Reads all receipts, in the order of their ticks.
fn read_all(folder: &Path) -> Result<Vec<Found>, GateError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).at("list", folder),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.at("list", folder)?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if !name.ends_with(".json") {
            continue;
        }
        let path = entry.path();
        let content = plain_file::read(&path, MAX_RECEIPT).at("read", &path)?;
        let content = content.unwrap_or_default();
        let receipt = serde_json::from_slice(&content).ok();
        found.push(Found {
            name,
            content,
            receipt,
        });
    }
    found.sort_by_key(|file| (tick_of(&file.name), file.name.clone()));
    Ok(found)
}

/// The tick in `<task>-<tick>.json`.
fn tick_of(name: &str) -> u64 {
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let tick = stem
        .rsplit_once('-')
        .and_then(|(_, tick)| tick.parse().ok());
    tick.unwrap_or(u64::MAX)
}

fn folder(setup: &Setup) -> PathBuf {
    setup.dir.outputs().join("receipts")
}
