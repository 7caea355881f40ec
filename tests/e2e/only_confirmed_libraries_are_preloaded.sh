#!/bin/bash
# SPDX-License-Identifier: MIT
# Nothing is preloaded on a host that has not confirmed which library it has: not if the user's home cannot hold one,
# not if no agent answers, not if another user placed one. Such a host has no MPI calls in the recording, and a note
# says so; its ranks run unchanged, and those of other hosts are recorded.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
need_testbed 2
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/deliver_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/mpi_lib.sh" || exit 1
printf 'vm%d\n' 1 2 >hostfile
cp "$CHOKEPOINT_BIN/calls_simple" program
cat >rank <<END
#!/bin/sh
echo "\$(hostname) \$LD_PRELOAD" >>$work/preloaded
exec $work/program
END
chmod +x rank
export EXPECT=$work/expect
with_mpi() { # OPTIONS of run
    rm -f preloaded "$EXPECT".*
    inside env OMPI_MCA_plm_rsh_agent="$rsh" CHOKEPOINT_RSH="$rsh" "$chokepoint" run $slow_start --db "$db" --no-report "$@" \
        mpirun --hostfile hostfile -x EXPECT --wdir "$work" --bind-to none -N 1 -np 2 ./rank >out 2>err
    status=$?
}
library() { echo "$CHOKEPOINT_BIN/libchokepoint-mpi.so"; }
none_on_vm2() { # WHY: words of the note
    [ $status -eq 0 ] || fail "$1: exit status $status"
    printf 'vm%s\n' "1 $(library)" '2 ' | diff - <(sort preloaded) || fail "$1: what is preloaded"
    ! grep -q ld.so out err || fail "$1: the loader complains: $(cat out err)"
    said "MPI calls of ranks on vm2 are not recorded: .*$1" || fail "it does not say: $1"
    [ "$(sql "SELECT count(*) FROM run_note WHERE run = (SELECT max(run) FROM run) AND text LIKE 'MPI calls of ranks on vm2%'")" = 1 ] ||
        fail "$1: not kept with the run"
    totals | grep -q . || fail "$1: no calls of vm1"
}

# A home where no program may run, a full one, none, and one that others may write to.
hide "mount -t tmpfs -o noexec,mode=700 none $HOME"
with_mpi
none_on_vm2 'its file system lets no program run (noexec)'
hide "mount -t tmpfs -o size=4k,mode=700 none $HOME"
with_mpi
none_on_vm2 'No space left on device'
hide "mount -t tmpfs -o mode=777 none $HOME"
with_mpi
none_on_vm2 'others than you and root may write there'
hide "mount -t tmpfs -o mode=700 none $HOME; mkdir -m 777 $HOME/.cache"
with_mpi
none_on_vm2 'others than you and root may write there'

# No agent answers there, but mpirun gets through.
printf '#!/bin/sh\n[ $1 != vm2 ] || [ -z "$CHOKEPOINT_AGENT" ]\n' >before
chmod +x before
hide :
with_mpi --allow-missing
none_on_vm2 'it has not said which library it has'
rm before

# Another user has put an agent and a library where ours would be; running them would leave a mark.
if [ "$(id -u)" -eq 0 ]; then
    mkdir theirs
    printf '#!/bin/sh\n: >%s/hijacked\necho chokepoint-agent %s\n' "$work" "$("$CHOKEPOINT_BIN/chokepoint-agent" --version | cut -d' ' -f2)" >theirs/chokepoint-agent
    cp "$(library)" theirs/
    chmod -R 755 theirs
    chown -R 65534 theirs
    hide "mkdir -p $CHOKEPOINT_BIN; cp -a $work/theirs/* $CHOKEPOINT_BIN; chown 65534 $CHOKEPOINT_BIN"
    with_mpi
    [ $status -eq 0 ] && [ ! -e hijacked ] || fail "the agent of another user was run"
    sent=$(ls "$HOME"/.cache/chokepoint/????????????????/libchokepoint-mpi.so)
    printf 'vm%s\n' "1 $sent" "2 $sent" | diff - <(sort preloaded) || fail "the library of another user"
    # Ours, in a directory that others may write to.
    hide "mkdir -p $CHOKEPOINT_BIN; cp $work/theirs/* $CHOKEPOINT_BIN; chown 0:0 $CHOKEPOINT_BIN/*; chmod 777 $CHOKEPOINT_BIN"
    with_mpi
    [ $status -eq 0 ] && [ ! -e hijacked ] || fail "an agent was run that others may replace"
fi

# A daemon that outlives the run still starts programs: the library stays in place.
hide :
printf '#!/bin/sh\necho "$(hostname) $LD_PRELOAD" >>%s/preloaded\n[ $(hostname) = vm1 ] || { setsid sh -c "read x <%s/go; /bin/true; echo done" </dev/null >%s/daemon 2>&1 & }\nexec %s/program\n' "$work" "$work" "$work" "$work" >rank
mkfifo go
with_mpi
[ $status -eq 0 ] || fail "exit status $status"
echo >go
until_true test -s daemon
[ "$(cat daemon)" = done ] || fail "a daemon after the run: $(cat daemon)"
