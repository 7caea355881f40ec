#!/bin/bash
# SPDX-License-Identifier: MIT
# Ctrl-C at a terminal, SIGTERM, and kill -9: the run is kept and marked, and no process or file of
# it is left.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

id() { cat "$work/id"; }
started() { [ -s "$work/id" ]; }

# Ctrl-C typed at a terminal: the command handles it, and decides the exit status. (bash waits for
# it and continues; dash, the sh of a minimal Debian, would end with the signal.)
mkfifo keys
SHELL=/bin/bash env --default-signal=INT script -qec "'$chokepoint' run --db '$db' ./forever; echo status \$? >status" /dev/null <keys >out 2>&1 &
# A shell runs traps between commands, so a signal just before a command is handled after it; `wait` returns at
# once.
printf '#!/bin/sh\n%s\n' 'trap "kill \$!; exit 9" INT; echo $CHOKEPOINT_RUN >id.new; mv id.new id; sleep 60 & wait $!' >forever
chmod +x forever
exec 8>keys
until_true started
printf '\003' >&8
until_true test -s status
exec 8>&-
wait
[ "$(cat status)" = "status 9" ] || fail "$(cat status)"
[ "$(state_of 1)" = interrupted ] || fail "run 1 is $(state_of 1)"
[ "$(sql 'SELECT count(*) > 0 FROM frame')" = 1 ] || fail "nothing was recorded"
no_traces_of "$(id)" || fail "Ctrl-C left $(traces_of "$(id)")"

# A command without a trap dies of it.
rm -f id status
printf '#!/bin/sh\n%s\n' 'echo $CHOKEPOINT_RUN >id.new; mv id.new id; exec sleep 60' >forever
env --default-signal=INT setsid "$chokepoint" run $slow_start --db "$db" ./forever >out 2>err &
pid=$!
until_true started
kill -INT -- -$pid
wait $pid
[ $? -eq 130 ] || fail "exit status is not 130"
[ "$(state_of 2)" = interrupted ] || fail "run 2 is $(state_of 2)"
no_traces_of "$(id)" || fail "SIGINT left $(traces_of "$(id)")"

# A signal to `run` alone, from within its group or from outside, is passed on; if the group gets
# it, the command gets it once.
cat >count.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile sig_atomic_t n;
static void note(int number) { n++; }
int main(void) {
    sigset_t set, old;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, &old);
    for (int i = 1; i < 16; i++)
        signal(i, note);
    FILE *id = fopen("id.new", "w");
    fprintf(id, "%s\n", getenv("CHOKEPOINT_RUN"));
    fclose(id);
    rename("id.new", "id");
    alarm(60);
    sigdelset(&old, SIGALRM);
    sigsuspend(&old);
    sigprocmask(SIG_SETMASK, &old, NULL);
    for (int i = 0; i < 5; i++)
        usleep(100000); /* a second one would come now */
    return 10 + n;
}
C
cc -o count count.c 2>/dev/null || cc=none
run_number=2
once() { # HOW THE SIGNAL IS SENT; needs the function send, which gets the id of `run`
    [ -x ./count ] || return 0
    rm -f id
    run_number=$((run_number + 1))
    env --default-signal=INT,QUIT,HUP,TERM $starter "$chokepoint" run $slow_start --no-report --db "$db" ./count >out 2>err &
    pid=$!
    until_true started
    send
    wait $pid
    status=$?
    [ $status -eq 11 ] || fail "$1: the command got $((status - 10)) signals"
    [ "$(state_of $run_number)" = interrupted ] || fail "$1: run $run_number is $(state_of $run_number)"
    no_traces_of "$(id)" || fail "$1 left $(traces_of "$(id)")"
}
starter=
send() { kill -TERM $pid; }
once "SIGTERM to us, from our own group"
starter=setsid
send() { kill -INT $pid; }
once "SIGINT to us, from without"
send() { kill -HUP -- -$pid; }
once "SIGHUP to the group"
send() { kill -TERM $pid; kill -TERM -- -$pid; }
once "SIGTERM as timeout sends it"

# kill -9 of `run`: collector and agents end by themselves, the command goes on, and the next run
# works. Samples that cannot be delivered any more are kept in place.
rm -f id
setsid "$chokepoint" run $slow_start --db "$db" ./forever >out 2>err &
pid=$!
until_true started
children=$(pgrep -P $pid)
kill -9 $pid
wait $pid 2>/dev/null
group=$pid
ours_gone() { for p in $children; do grep -qsa chokepoint "/proc/$p/cmdline" && return 1; done; true; }
until_true ours_gone
pgrep -g $group >/dev/null || fail "the command was ended"
kill -TERM -- -$group
rm -rf $(directories_of "$(id)")
until_true no_traces_of "$(id)"
last=$(sql "SELECT max(run) FROM run")
[ "$(state_of $last)" = running ] || fail "run $last is $(state_of $last)"
"$chokepoint" list --db "$db" >out && grep -q "^ *$last .*unfinished" out || fail "list: $(cat out)"
run true
[ $status -eq 0 ] && [ "$(state_of $((last + 1)))" = done ] || fail "the next run: $(cat err)"

# If an agent is stopped when the command ends, `run` says that it waits for it; Ctrl-C leaves the
# agent's samples where they are.
rm -f id
mkfifo go
env --default-signal=INT setsid "$chokepoint" run $slow_start --db "$db" sh -c 'echo $CHOKEPOINT_RUN >id.new; mv id.new id; read x <go' >out 2>err &
pid=$!
until_true started
sampled() { [ "$(sql "SELECT count(*) > 5 FROM frame JOIN stream USING (stream) JOIN host USING (host) WHERE run = (SELECT max(run) FROM run)")" = 1 ]; }
until_true sampled
agents=$(agents_of "$(id)")
[ -n "$agents" ] || fail "no agent"
kill -STOP $agents
echo >go
until_true said "waiting for the last samples of $(hostname); Ctrl-C leaves them"
kill -INT $pid
wait $pid
status=$?
[ $status -eq 0 ] || fail "the command ended well before, and the status is $status"
said "the last samples of $(hostname) are missing" || fail "it does not say what is missing"
rm -rf $(directories_of "$(id)")
until_true no_traces_of "$(id)"
