#!/bin/sh
# Changes loop-core in one small place after another, and sees that a test turns
# red each time. Takes an hour or more, so CI leaves it out. The configuration's
# reader is left out too; it has its own tables.
#
#     cargo install --locked cargo-mutants
#     scripts/mutants.sh                                    # everything
#     scripts/mutants.sh --file 'crates/loop-core/src/machine/*'
#
# What survived is listed in mutants.out/missed.txt.
set -eu
cd "$(dirname "$0")/.."

# Fewer random histories: the tables find most of it, in a fraction of the time.
PROPTEST_CASES="${PROPTEST_CASES:-32}" exec cargo mutants \
    --package loop-core \
    --exclude 'crates/loop-core/src/config*' \
    --exclude 'crates/loop-core/src/config/**' \
    --jobs 1 \
    --timeout 60 \
    "$@" \
    -- --lib --tests
