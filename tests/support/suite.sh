#!/bin/sh
# Runs one part of the tests, `suite.sh NAME COMMAND...`, and appends what it printed and how long it took to
# MLXROCM_TEST_LOG, whole: several parts run at once.
name=$1
shift
from=$(date +%s)
said=$(mktemp)
"$@" >"$said" 2>&1 </dev/null || echo "PART FAILED: $name" >>"$said"
took=$(($(date +%s) - from))
# The second line: what the command and its children took of CPUs.
times >"$said.times"
cpu=$(awk -F'[ms ]+' 'NR == 2 { printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }' "$said.times")
{
    flock 9
    {
        printf '\n     Running %s\n' "$name"
        cat "$said"
        echo "PART $name: $took s, of CPUs $cpu s"
    } | tee -a "$MLXROCM_TEST_LOG"
} 9>"$MLXROCM_TEST_LOG.lock"
rm -f "$said" "$said.times"
