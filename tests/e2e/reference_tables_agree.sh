#!/bin/bash
# SPDX-License-Identifier: MIT
# Tables of one sweep agree: those of docs/reference.md, and those of a sweep made here. First, each rule of the check
# notices a wrong figure.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

check=$CHOKEPOINT_SOURCE/tests/tools/check_reference.py

cat >right.md <<'END'
## R0: planted

**By mode**

| mode | run time (s) | iteration (s) | updates a second (1/s) | accuracy (%) | network write (MB/s) |
|---|--:|--:|--:|--:|--:|
| sync | 10.00 | 0.5000 | 2.00 | 70.00 | 30.00 |
| *reference* | *99* |  |  |  |  |
| async | 11.50 | 0.2500 | 4.00 | 71.00 | 40.00 |

**Averages of each host**

|  | sync vm1 | sync vm2 |
|---|--:|--:|
| avg_nw_rec (MB/s) | 20.00 | 10.00 |
| avg_nw_send (MB/s) | 10.00 | 20.00 |

**The job as a whole (sums over hosts; CPU 100 % is one core)**

|  | CPU (%) | network read (MB/s) | network write (MB/s) |
|---|--:|--:|--:|
| sync | 50.00 | 30.00 | 30.01 |

**Roles**

|  | accuracy (%) | time (s) | sent (MB) | network write (MB/s) |
|---|--:|--:|--:|--:|
| sync: server, rank 0 on vm1 | 70.00 | 4.00 | 100.00 | 25.00 |
| sync: worker, rank 1 on vm2 | 70.00 | 4.00 | 200.00 | 50.00 |

**Means over repeats**

|  | runs | run time (s) | accuracy (%) |
|---|--:|--:|--:|
| sync | 1 | 10.00 | 70.00 |

**Operators: mean time (ms) and size of the output**

| operator | sync | async |
|---|--:|--:|
| send | 300.00, 1.00 MB | - |

**sync: Timeline of iteration 3 of rank 0, the one of median length (500 ms)**

| rank, host: operator | from (ms) | to (ms) | busy (ms) | 0 to 500 ms |
|---|--:|--:|--:|--:|
| 0 vm1: send | 0.00 | 300.00 | 300.00 | `####..` |
| 0 vm1: apply | 300.00 | 500.00 | 199.00 | `....##` |

**By arithmetic: what the bytes of an iteration need**

|  | link | MB an iteration | MB/s | so it takes (s) | with the way back (s) | an iteration comes every (s) | share (%) | with the way back (%) |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
| sync | vm1 sends | 40.00 | 100.00 | 0.4000 | 0.4500 | 0.5000 | 80.00 | 90.00 |

**Pace, and accuracy at equal time of training**

|  | updates a second (1/s) |
|---|--:|
| sync | 2.00 |

**Accuracy on its way: after how many updates**

| test | sync |
|---|--:|
| 1 | 10.00 % at 0 (0.1 s) |
| 2 | 70.00 % at 20 (10 s) |

**async against sync, 7 and 7 runs: medians; in brackets p after Holm**

|  | sync | async | is it real | difference (95 %) |
|---|--:|--:|--:|--:|
| duration (s) | 10.00 | 11.50 | yes, higher (0.003) | +1.50 (+1.40 to +1.60) |
END
"$check" right.md >out 2>err || fail "tables that agree are refused: $(cat err)"
"$check" --all-hosts right.md >out 2>err || fail "all hosts of tables that agree are refused: $(cat err)"

# wrong 's/FROM/TO/' WORDS [OPTION]: with that change the check fails and prints WORDS.
wrong() {
    sed "$1" right.md >wrong.md
    ! cmp -s right.md wrong.md || fail "$1 changes nothing"
    ! "$check" ${3:-} wrong.md >out 2>err || fail "not noticed: $1"
    grep -q "$2" err || fail "$1: it does not say '$2': $(cat err)"
}
wrong 's/| 40.00 | 100.00 | 0.4000/| 40.00 | 100.00 | 0.4010/' 'arithmetic: 40 MB at 100 MB/s'
wrong 's/| 80.00 | 90.00 |/| 81.00 | 90.00 |/' 'arithmetic: 0.4 of 0.5 s'
wrong 's/| 80.00 | 90.00 |/| 80.00 | 91.00 |/' 'arithmetic: 0.45 of 0.5 s'
wrong 's/| avg_nw_rec (MB\/s) | 20.00/| avg_nw_rec (MB\/s) | 20.10/' 'add up to 30.1'
wrong 's/| avg_nw_rec (MB\/s) | 20.00/| avg_nw_rec (MB\/s) | 19.90/' 'add up to 29.9' --all-hosts
wrong 's/| 200.00 | 50.00 |/| 210.00 | 50.00 |/' 'roles: sent'
wrong 's/| sync | 1 | 10.00/| sync | 1 | 10.10/' 'means: run time'
wrong 's/send | 300.00, 1.00 MB/send | 600.00, 1.00 MB/' 'operators: send takes'
wrong 's/| 300.00 | 500.00 | 199.00/| 298.00 | 500.00 | 201.50/' 'timeline: operators of 0 vm1'
wrong 's/| 300.00 | 500.00 | 199.00/| 400.00 | 500.00 | 199.00/' 'timeline: 0 vm1: apply'
wrong 's/(500 ms)\*\*/(700 ms)**/' 'timeline: iteration of 700'
wrong 's/^| sync | 2.00 |/| sync | 2.10 |/' 'pace: updates'
wrong 's/70.00 % at 20/69.00 % at 20/' 'way: ends with 69'
wrong 's/+1.50 (/+1.60 (/' 'differences: duration'
wrong 's/| duration (s) | 10.00 | 11.50/| duration (s) | 10.10 | 11.60/' 'beside 10'
! "$check" /dev/null >out 2>err || fail "a page without tables agrees"

"$check" "$CHOKEPOINT_SOURCE/docs/reference.md" >out 2>err || fail "docs/reference.md: $(cat err)"
cat out

# A sweep made here.
sgd=$CHOKEPOINT_BIN/chokepoint-sgd
[ -x "$sgd" ] || { echo "skipped: no MPI"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0
"$sgd" generate --features 100000 --examples 20000 --files 3 --test-examples 500 --seed 1 --out data >out 2>err ||
    fail "no data"
"$chokepoint" sweep --db "$db" $slow_start -n own -L mode sync,async -r 2 --no-report mpirun --oversubscribe -np 3 "$sgd" \
    --data data --features 100000 --quiet --mode '{mode}' --transfer sparse --batch 1000 --iterations 1000000 \
    --time-limit 2 --test-every 50 >out 2>err || fail "the sweep"
"$chokepoint" sweep report own --db "$db" --format md --measure time,iteration,updates,examples,staleness,accuracy,send \
    --table grid,means,hosts,job,roles,operators,timeline,arithmetic,pace,curves,differences >own.md 2>err || fail "its tables"
"$check" --all-hosts own.md >out 2>err || fail "tables of a sweep: $(cat err)"
cat out
exit 0
