#!/usr/bin/env bash
# Fuzzes the rendering of prompts for a minute, or for as many seconds as are given.
#
#   scripts/fuzz-prompts.sh [seconds]
#
# Needs a nightly compiler and cargo-fuzz (cargo install cargo-fuzz). What the fuzzer
# finds worth keeping goes to a temporary folder, so the seeds stay as they are; an
# input that fails is kept under crates/loop-prompts/fuzz/artifacts/.
set -euo pipefail

seconds="${1:-60}"
crate="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/crates/loop-prompts"
found="$(mktemp -d)"
trap 'rm -rf "$found"' EXIT

cd "$crate"
cargo +nightly fuzz run render "$found" fuzz/corpus/render -- \
    -max_total_time="$seconds" -max_len=4096 -timeout=10
