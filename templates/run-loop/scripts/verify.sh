#!/usr/bin/env bash
# The gate: the task is done when this script exits with 0, and not before.
# It is run as `bash scripts/verify.sh` in the project, without input.
#
# FROZEN once a run is armed: this file and TASK.md are fingerprinted, and every
# pass compares them. A change ends the run, whoever made it and for whatever
# reason. Never edit what judges you; if a check is wrong, say so and stop.
#
# Until it is written it fails, so that a gate that nobody wrote lets nothing
# through. Whoever writes it replaces the whole file, with the next line:
# loop:unwritten
set -euo pipefail

echo "scripts/verify.sh: nobody has written this gate yet" >&2
exit 1
