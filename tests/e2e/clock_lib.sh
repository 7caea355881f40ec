# SPDX-License-Identifier: MIT
# Hosts with planted clocks; source this after run_lib.sh. Needs $library (clock_drift.c). clock_plants
# HOST:SHIFT_S:PPM... : agents there see a monotonic clock shifted by whole seconds (a time namespace) that gains
# PPM from $origin on. Sets $plants and a CHOKEPOINT_RSH in $work/rsh; vm1 is reached directly: 0 and 0.
unshare --time --monotonic 5 true 2>/dev/null || { echo "SKIPPED: no time namespaces here"; exit 77; }
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
[ -e "$library" ] || { echo "SKIPPED: no $library"; exit 77; }
clock_plants() {
    local rsh plant host shift ppm
    plants="$*"
    origin=$(python3 -c 'import time; print(time.monotonic_ns())')
    rsh=$(inside printenv CHOKEPOINT_RSH)
    {
        printf '#!/bin/bash\nscript=${!#}\ncase " $* " in\n'
        for plant; do
            IFS=: read -r host shift ppm <<<"$plant"
            printf '*" %s "*) script="export LD_PRELOAD=%s CLOCK_DRIFT_PPM=%s CLOCK_DRIFT_ORIGIN_NS=%s ASAN_OPTIONS=verify_asan_link_order=0; exec unshare --time --monotonic %s ${script#exec }" ;;\n' \
                "$host" "$library" "$ppm" "$origin" "$shift"
        done
        printf 'esac\nexec %s "${@:1:$#-1}" "$script"\n' "$rsh"
    } >"$work/rsh"
    chmod +x "$work/rsh"
}
# run_planted HOSTS COMMAND...
run_planted() {
    local hosts=$1
    shift
    inside env CHOKEPOINT_RSH="$work/rsh" "$chokepoint" run $slow_start --db "$db" --hosts "$hosts" "$@" >"$work/out" 2>"$work/err"
}
judge_clocks() { python3 "$CHOKEPOINT_SOURCE/tests/tools/clock_judge.py" "$1" "$origin" vm1:0:0 $plants; }
