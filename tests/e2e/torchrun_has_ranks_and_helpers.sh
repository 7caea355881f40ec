#!/bin/bash
# SPDX-License-Identifier: MIT
# A training by torchrun, on one host and on two that a script starts: each rank is one process, whose data loader
# inherits its number and is no rank; torchrun belongs to the job and is no rank.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
python=/usr/bin/python3 # Debian's packages are of Debian's Python
"$python" -c 'import torch; torch.distributed.ProcessGroupGloo' 2>/dev/null || { echo "SKIPPED: no PyTorch with gloo"; exit 77; }
need_testbed 2
train="$CHOKEPOINT_SOURCE/tests/faults/train.py 150"
# Python 3.11 refuses its default of 0 for --redirects and --tee.
torchrun="$python -B -m torch.distributed.run --redirects 2 --tee 2 --log_dir $work/torch"
master=$(inside sh -c 'hostname -I' | tr -d ' ')
[ -n "$master" ] || fail "vm1 has no address"

# Rows HOST RANK PID PARENT of the Python processes in the last run's job; RANK "-": none.
processes() {
    sql "SELECT DISTINCT host, ifnull(rank, '-'), pid, parent FROM process_rate
         WHERE run = (SELECT max(run) FROM run) AND job = 1 AND process LIKE 'python3 %' AND parent IS NOT NULL" | tr '|' ' '
}
# Each rank is one process on its host, a child of a launcher without a number, and has a child without one.
check() { # RANK HOST...
    processes >"$work/processes"
    local rank=0 host pid parent
    for host in "$@"; do
        [ "$(awk -v r=$rank '$2 == r' "$work/processes" | wc -l)" -eq 1 ] || fail "rank $rank is not one process: $(cat "$work/processes")"
        read -r pid parent < <(awk -v r=$rank -v h="$host" '$1 == h && $2 == r { print $3, $4 }' "$work/processes")
        [ -n "$pid" ] || fail "rank $rank is not on $host: $(cat "$work/processes")"
        awk -v p="$parent" '$3 == p && $2 == "-"' "$work/processes" | grep -q . || fail "rank $rank: torchrun is a rank, or not of the job"
        awk -v p="$pid" '$4 == p && $2 == "-"' "$work/processes" | grep -q . || fail "rank $rank: no loader among its helpers"
        rank=$((rank + 1))
    done
    awk -v n=$rank '$2 != "-" && $2 >= n' "$work/processes" | grep -q . && fail "more ranks than processes"
    sql "SELECT count(DISTINCT rank || ' ' || pid) FROM rank_rate WHERE run = (SELECT max(run) FROM run)" | grep -qx "$rank" ||
        fail "table rank has others"
}

# shellcheck disable=SC2086 # words
run_inside --process-rate 5 -- $torchrun --nproc_per_node 2 --master_addr "$master" --master_port 7461 $train
[ $status -eq 0 ] || fail "one host: $status"
grep -q '^loop ' "$work/out" || fail "one host: the training says nothing"
check vm1 vm1

cat >start-all.sh <<END
#!/bin/sh
node() { echo "$torchrun --nnodes 2 --node_rank \$1 --nproc_per_node 1 --master_addr $master --master_port 7462 $train"; }
\$CHOKEPOINT_RSH vm2 "CHOKEPOINT_RUN=\$CHOKEPOINT_RUN exec \$(node 1)" &
\$(node 0) || exit
wait \$!
END
chmod +x start-all.sh
run_inside --process-rate 5 --hosts vm1,vm2 -- ./start-all.sh
[ $status -eq 0 ] || fail "two hosts: $status"
grep -q '^loop ' "$work/out" || fail "two hosts: the training says nothing"
check vm1 vm2
