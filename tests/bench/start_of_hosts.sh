#!/bin/bash
# SPDX-License-Identifier: MIT
# start_of_hosts.sh [HOSTS [ROUNDS [ssh|mpirun|mpiexec|srun]]]: the time before the command of `run --hosts`, with installed agents and
# with delivered agents, beside the time that its launcher needs to reach all hosts at once and do nothing. Hosts are emulated
# and share this machine's cores, unlike machines of a cluster: so the same is measured with one other host first, and CPU
# time is printed, too (user and system, of launchers, agents, collector and run, to its end). Medians of rounds in turns,
# in ms. mpirun, mpiexec, srun: the same before a command that OpenMPI's mpirun, MPICH's mpiexec or srun in an allocation starts on
# all hosts, with one launcher for all agents (Hydra: always an ssh a host) and with one for each, beside the command's
# launcher alone, and alone again (A/A). Then `ranks` is the time at which the last rank begins, CPU is that of all hosts to the
# end, and each figure has its least and its most.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/bench/median.sh" || exit 1
most=${1:-5}
rounds=${2:-5}
[ "$most" -ge 2 ] || fail "two hosts at least: this one and another"
if [ "${3:-ssh}" = srun ]; then
    . "${CHOKEPOINT_SOURCE:?}/tests/e2e/slurm_lib.sh" || exit 1
    need_slurm "$most"
else
    need_testbed "$most"
fi
for way in installed sent; do
    cat >rsh.$way <<END
#!/bin/bash
while [[ \$1 == -* ]]; do [[ \$1 != -o ]] || shift; shift; done
host=\$1
shift
exec "$chokepoint" testbed --name "$name" exec "\$host" -- unshare -m sh -c \
    '[ $way = installed ] || mount -t tmpfs none "\$0"; exec sh -c "\$1"' "$CHOKEPOINT_BIN" "\$*"
END
    chmod +x rsh.$way
done
median() { awk "$median_of"'{ v[NR] = $1 } END { print median(v, NR) }' "$1"; }
ms_since() { echo $(((${2:-$(date +%s%N)} - $1) / 1000000)); }
# costs FILE COMMAND... : CPU time of the command and of all it waited for, in ms.
costs() {
    local file=$1 TIMEFORMAT='%U %S'
    shift
    { time "$@" 2>err; } 2>cpu
    awk '{ printf "%.0f\n", 1000 * ($1 + $2) }' cpu >>"$file"
}
reach_all() {
    local i
    for ((i = 2; i <= hosts; i++)); do inside "$work/rsh.installed" vm$i true & done
    wait
}
alone() {
    local begun
    begun=$(date +%s%N)
    costs alone.cpu reach_all
    ms_since "$begun" >>alone.ms
}
# The command itself reports its start, so that the end of the run does not count.
before_command() { # WAY
    local begun
    begun=$(date +%s%N)
    costs "$1.cpu" inside env CHOKEPOINT_RSH="$work/rsh.$1" "$chokepoint" run --no-report --db "$db" --hosts "$names" \
        sh -c 'date +%s%N >began'
    [ -s began ] || fail "the command did not start"
    ms_since "$begun" "$(cat began)" >>"$1.ms"
    rm began
}
measure() { # HOSTS
    local way round
    hosts=$1 names=$(seq -s, -f vm%g 1 "$1")
    rm -f ./*.ms ./*.cpu
    for ((round = 0; round < rounds; round++)); do
        alone
        for way in installed sent; do before_command $way; done
    done
    echo "$hosts hosts, $rounds rounds: launcher alone $(median alone.ms) ms, installed $(median installed.ms) ms, sent $(median sent.ms) ms;" \
        "CPU: launcher $(median alone.cpu) ms, installed $(median installed.cpu) ms, sent $(median sent.cpu) ms"
}

# ---- behind a launcher of MPI programs ----

spread() { sort -n "$1" | awk "$median_of"'{ v[NR] = $1 } END { low = v[1]; high = v[NR]; printf "%d (%d to %d)", median(v, NR), low, high }'; }
# CPU time of all hosts of the testbed so far, in ms: of cgroup version 1, or 2.
hosts_cpu() {
    awk 'FILENAME ~ /usage$/ { print int($1 / 1e6); exit } $1 == "usage_usec" { print int($2 / 1e3); exit }' \
        $(ls -d /sys/fs/cgroup/cpuacct/"$name-testbed"/cpuacct.usage /sys/fs/cgroup{,/*}/"$name-testbed"/cpu.stat 2>/dev/null)
}
# choose_launcher LAUNCHER HOSTS: $launcher becomes the words before the ranks' program, and $surroundings
# the variables of an allocation.
choose_launcher() {
    case $1 in
    mpirun)
        seq -f 'vm%g slots=1' "$2" >hostfile
        launcher=(mpirun --hostfile "$work/hostfile" -N 1 -np "$2")
        ;;
    mpiexec)
        seq -f 'vm%g:1' "$2" >hostfile
        launcher=(mpiexec.hydra -f "$work/hostfile" -ppn 1 -n "$2")
        ;;
    srun)
        inside salloc --quiet --no-shell --exclusive -J "start$2" -N "$2" -n "$2" || fail "no allocation"
        job=$(inside squeue --noheader --name "start$2" --format %A)
        surroundings=(SLURM_JOB_ID="$job" SLURM_JOB_NODELIST="vm[1-$2]")
        launcher=(srun -N "$2" -n "$2" --ntasks-per-node=1)
        ;;
    *) fail "no such launcher: $1" ;;
    esac
}
one_start() { # WAY, then what comes before the launcher
    local way=$1 begun cpu
    shift
    rm -f began
    cpu=$(hosts_cpu)
    begun=$(date +%s%N)
    inside env "${surroundings[@]}" "$@" "${launcher[@]}" sh -c "date +%s%N >>'$work/began'" >/dev/null 2>err || fail "$way"
    ms_since "$begun" >>"$way.whole"
    echo $(($(hosts_cpu) - cpu)) >>"$way.cpu"
    [ "$(wc -l <began)" -eq "$hosts" ] || fail "$(wc -l <began) ranks"
    ms_since "$begun" "$(sort -n began | tail -n 1)" >>"$way.ranks"
    [ $# -eq 0 ] || ms_since "$begun" "$(sql 'SELECT started_wall_ns FROM run ORDER BY run DESC LIMIT 1')" >>"$way.before"
}
measure_launcher() { # LAUNCHER HOSTS
    local round way recorded=("$chokepoint" run -q --no-report --db "$db") launcher surroundings=() job=
    hosts=$2
    choose_launcher "$1" "$2"
    rm -f ./*.whole ./*.cpu ./*.ranks ./*.before
    for ((round = 0; round < rounds; round++)); do
        one_start alone
        one_start together "${recorded[@]}"
        one_start apart "${recorded[@]}" --separate-launchers
        one_start again
    done
    echo "$hosts hosts, $rounds rounds, ms: $1 alone $(spread alone.whole), again $(spread again.whole); its ranks $(spread alone.ranks);" \
        "CPU $(spread alone.cpu), again $(spread again.cpu)"
    for way in together apart; do
        echo "$way: before $(spread $way.before), $(awk -v a="$(median alone.whole)" -v b="$(median $way.before)" 'BEGIN { printf "%.2f", b / a }')" \
            "of $1; ranks $(spread $way.ranks); CPU $(spread $way.cpu)"
    done
    [ -z "$job" ] || inside scancel "$job"
}
if [ "${3:-ssh}" = ssh ]; then
    measure 2
    [ "$most" -eq 2 ] || measure "$most"
else
    measure_launcher "$3" 2
    [ "$most" -eq 2 ] || measure_launcher "$3" "$most"
fi
