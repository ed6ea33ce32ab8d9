#!/bin/sh
# Stands in for an agent. Notes how it was called, does what the test put into
# $REC/<role>.sh, says what is in $REC/<role>.out.<n> or $REC/<role>.out, and
# exits with $REC/<role>.rc. Creating a file with -C decides who is the n-th.
role=$AUTOMATON_ROLE
set -C
call=1
until true 2>/dev/null >"$REC/taken/$call"; do call=$((call + 1)); done
n=1
until true 2>/dev/null >"$REC/taken/$role.$n"; do n=$((n + 1)); done
set +C
printf '%s\0' "$role" "$AUTOMATON_TICK" "$(pwd -P)" "$0" "$@" >"$REC/taken/$call.new"
mv "$REC/taken/$call.new" "$REC/calls/$call"
if [ -e "$REC/$role.sh" ]; then
    (. "$REC/$role.sh")
    status=$?
    [ "$status" = 0 ] || exit "$status"
fi
if [ -e "$REC/$role.out.$n" ]; then
    cat "$REC/$role.out.$n"
elif [ -e "$REC/$role.out" ]; then
    cat "$REC/$role.out"
fi
rc=0
[ ! -e "$REC/$role.rc" ] || read -r rc <"$REC/$role.rc"
exit "$rc"
