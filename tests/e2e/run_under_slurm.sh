#!/bin/bash
# SPDX-License-Identifier: MIT
# `chokepoint run srun ...` under a real Slurm on emulated hosts: outside an allocation it gets one, and inside one it has an
# agent on each node. Ranks are Slurm's, MPI calls of both libraries are recorded exactly, the exit status is srun's. A step that
# dies, a cancelled job and a node that goes down leave a report and no agent.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/slurm_lib.sh" || exit 1
need_slurm 3
export EXPECT=$work/expect

# A task prints where it is, and waits until the test has seen what it needs.
mkfifo go
cat >task <<EOF
#!/bin/sh
echo "\$(hostname) \$SLURM_PROCID" >>$work/tasks
echo "\${CHOKEPOINT_RUN:-\$SLURM_CHOKEPOINT_RUN}" >>$work/ids
[ -z "\$1" ] || exit \$1
read x <$work/go
exit 0
EOF
chmod +x task
ranks_of() { sql "SELECT count(*) FROM (SELECT DISTINCT h.name, p.rank FROM process p JOIN frame USING (frame) JOIN stream USING (stream)
    JOIN host h USING (host) WHERE h.run = $1 AND p.rank IS NOT NULL)"; }
has_ranks() { [ "$(ranks_of "$1" 2>/dev/null)" = "$2" ]; }
no_agents() { no_traces_of "$(sort -u ids)"; }
# start COMMAND... : in the background; await_ranks RUN N : waits until N tasks run and are
# recorded.
start() {
    rm -f tasks ids
    inside "$chokepoint" run $slow_start --db "$db" "$@" >out 2>err &
    pid=$!
}
release() { : >go; }
finish() { wait "$pid"; status=$?; }

# Outside an allocation.
start srun -N3 -n6 --ntasks-per-node=2 ./task
until_true has_ranks 1 6
release
finish
[ $status -eq 0 ] || fail "srun outside an allocation exits with $status"
[ "$(hosts_recorded 1)" = 3 ] || fail "$(hosts_recorded 1) of 3 hosts were recorded"
[ "$(sort tasks | xargs)" = "vm1 0 vm1 1 vm2 2 vm2 3 vm3 4 vm3 5" ] || fail "tasks: $(sort tasks | xargs)"
said '^chokepoint: run 1, task: ' '^chokepoint: task, .* on 3 hosts' || fail "no verdict" # the first alternative is for a short run
inside "$chokepoint" list --db "$db" | grep -q 'Slurm job [0-9]* of partition all: vm\[1-3\]' || fail "the job is not named"
until_true no_agents

run_inside --no-report srun -N2 ./task 7
[ $status -eq 7 ] || fail "a step that exits with 7 gives $status"

# MPI by Slurm's own process managers.
mpi() { # LIBRARY PMI PROGRAM
    inside srun --mpi=list 2>&1 | grep -q "$2" && [ -x "$3" ] || { echo "left out: $1 by $2"; return; }
    rm -f "$EXPECT".*
    run_inside --no-report srun --mpi="$2" -N2 -n2 "$3"
    [ $status -eq 0 ] || fail "$1 by $2 exits with $status"
    sql "SELECT r.rank, substr(i.name, instr(i.name, 'MPI_')), sum(m.calls), sum(m.sent_bytes), sum(m.received_bytes)
         FROM mpi_function m JOIN instance i USING (instance) JOIN host h USING (host)
         JOIN (SELECT DISTINCT instance, rank FROM mpi_function) r USING (instance)
         WHERE h.run = (SELECT max(run) FROM run) GROUP BY h.name, i.name" | tr '|' ' ' | sort >got
    cat "$EXPECT".[01] | sed -n 's/^total //p' | sort | diff - got || fail "$1: totals (<: what the program knows)"
    [ "$(wc -l <got)" = 8 ] || fail "$1: $(cat got)"
}
mpi openmpi pmix "$CHOKEPOINT_BIN/calls_simple"
mpi mpich pmi2 "$CHOKEPOINT_BIN/mpich/calls_simple"

# A batch script with several steps, which passes on no environment; its own rank 0 is not a rank.
n=$(sql "SELECT max(run) FROM run")
rm -f ids tasks
cat >job.sh <<EOF
#!/bin/sh
#SBATCH -N2 -n2 --export=NONE -o $work/batch.out
PATH=$PATH
"$chokepoint" run $slow_start --no-report --db "$db" -n first srun -n2 ./task 0 || exit 1
"$chokepoint" run $slow_start --no-report --db "$db" -n second srun -N1 -n1 -w vm2 ./task 0 || exit 2
"$chokepoint" run $slow_start --no-report --db "$db" -n third sh -c 'srun ./task 0; exit 5'
EOF
inside sbatch --wait --quiet job.sh
status=$?
[ $status -eq 5 ] || fail "the batch script exits with $status: $(cat batch.out)"
recorded=$(sql "SELECT r.name, count(*) FROM run r JOIN host USING (run) WHERE r.run > $n GROUP BY r.run" | xargs)
[ "$recorded" = "first|2 second|1 third|2" ] || fail "recorded: $recorded; $(cat batch.out)"
[ "$(grep -cx '[0-9a-f]\{16\}' ids)" = 5 ] || fail "tasks do not know their run: $(cat ids)"

# A heterogeneous job: a step in both components is recorded on the nodes of both.
rm -f ids tasks
inside salloc --quiet -n1 -w vm1 : -N2 -n2 -w 'vm[2-3]' "$chokepoint" run $slow_start --no-report --db "$db" \
    srun --het-group=0,1 ./task 0 >out 2>err
status=$?
[ $status -eq 0 ] || fail "a heterogeneous job exits with $status"
[ "$(sort tasks | xargs)" = "vm1 0 vm2 1 vm3 2" ] || fail "tasks of both components: $(sort tasks | xargs)"
[ "$(hosts_recorded $((n + 4)))" = 3 ] || fail "$(hosts_recorded $((n + 4))) of 3 hosts of both components were recorded"
inside "$chokepoint" list --db "$db" | grep -q 'Slurm job [0-9]* of partition all: vm1; vm\[2-3\]\|Slurm job [0-9]*: vm1; vm\[2-3\]' ||
    fail "the components are not named"
until_true no_agents

# A cancelled job.
run=$((n + 5))
start srun -N2 -n2 ./task
until_true has_ranks $run 2
inside scancel "$(inside squeue -h -o %A)"
finish
[ $status -ne 0 ] || fail "a cancelled job exits with 0"
[ "$(state_of $run)" = failed ] || [ "$(state_of $run)" = interrupted ] || fail "a cancelled job is $(state_of $run)"
[ "$(hosts_recorded $run)" = 2 ] && said "run $run" || fail "no report of a cancelled job"
until_true no_agents

# A node that goes down with all that runs on it.
run=$((run + 1))
start srun -N3 -n3 ./task
until_true has_ranks $run 3
# shellcheck disable=SC2046
kill -KILL $(processes_of vm3)
inside scontrol update nodename=vm3 state=down reason=test
finish
[ $status -ne 0 ] || fail "a job that lost a node exits with 0"
[ "$(hosts_recorded $run)" = 3 ] && said "run $run" || fail "no report of a job that lost a node"
# Slurm may have ended the agent's step before the command, or not yet.
said 'the last samples of vm3 are missing' 'the agent on vm3 ended before the command' || fail "the node that went down is not named"
no_processes() { ! traces_of "$(sort -u ids)" | grep -q ^/proc; }
until_true no_processes
# shellcheck disable=SC2046
rm -rf $(directories_of "$(sort -u ids)")

# Every fault is reported.
run_inside --no-report srun --nonesuch=3 true
[ $status -eq 2 ] && said 'nonesuch' || fail "an unknown option: $status"
run_inside --no-report sbatch --wrap true
said 'this host alone is recorded: the job of sbatch' || fail "nothing is said of sbatch"
run_inside --no-report srun --export=NONE -n1 /bin/true
said 'MPI calls are not recorded: --export=NONE' || fail "nothing is said of --export"
