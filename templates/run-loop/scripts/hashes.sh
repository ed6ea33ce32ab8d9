#!/usr/bin/env bash
# Prints the SHA-256 of the two files that a run freezes, as sha256sum does:
# first the gate, then the task. Compare them with the header of STATE.md.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." >/dev/null

if command -v sha256sum >/dev/null 2>&1; then
    sha256() { sha256sum "$1"; }
elif command -v shasum >/dev/null 2>&1; then
    sha256() { shasum -a 256 "$1"; }
else
    echo "scripts/hashes.sh: neither sha256sum nor shasum is here" >&2
    exit 1
fi

for file in scripts/verify.sh TASK.md; do
    sha256 "$file"
done
