#!/bin/bash
# SPDX-License-Identifier: MIT
# The MPI shim gets into ranks and nothing else: programs of another C library, static ones and those that a command
# starts run as they would alone, also under mpirun; a program linked with MPI is a rank by itself; one built with
# AddressSanitizer needs no option to start behind it.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
shim=$CHOKEPOINT_BIN/libchokepoint-mpi.so
[ -e "$shim" ] || { echo "skipped: no MPI"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset LD_PRELOAD ASAN_OPTIONS
other=$CHOKEPOINT_BIN/other-loader-program

# With a preloaded library it ends as a program of musl does.
"$other"; [ $? -eq 42 ] || fail "alone: $?"
LD_PRELOAD=$shim "$other"; [ $? -eq 127 ] || fail "the loader takes what is preloaded: $?"
run --no-report -q "$other"; [ $status -eq 42 ] || fail "exit status $status"
run --no-report -q sh -c "$other; echo \"\$? [\$LD_PRELOAD] [\$ASAN_OPTIONS]\""
[ "$(cat out)" = '42 [] []' ] || fail "under a shell: $(cat out)"

# mpirun does not bring it in either, and a note says why.
run --no-report mpirun --oversubscribe -np 1 env A=1 "$other"
[ $status -eq 42 ] || fail "under mpirun: exit status $status"
said 'MPI calls are not recorded: .*another dynamic loader' || fail "no reason"

# With real musl, if it is installed.
if command -v musl-gcc >/dev/null; then
    echo 'int main(void) { return 43; }' >musl.c
    musl-gcc musl.c -o musl && run --no-report -q ./musl
    [ $status -eq 43 ] || fail "a program of musl: exit status $status"
    LD_PRELOAD=$shim ./musl 2>/dev/null
    [ $? -ne 43 ] || fail "musl takes what is preloaded"
fi

# A rank without mpirun.
run --no-report -q "$CHOKEPOINT_BIN/calls_alone"
[ $status -eq 0 ] || fail "an MPI program alone: exit status $status"
last=$(sql 'SELECT max(run) FROM run')
[ "$(sql "SELECT count(*) FROM mpi_function m JOIN instance USING (instance) JOIN host h USING (host) WHERE h.run = $last")" -gt 0 ] ||
    fail "nothing recorded of a rank without mpirun"

# Without the option that the shim sets, the sanitizer refuses to start behind another library.
echo 'int main(void) { return 44; }' >asan.c
if cc -fsanitize=address asan.c -o asan 2>/dev/null && ./asan; [ $? -eq 44 ]; then
    LD_PRELOAD=$CHOKEPOINT_BIN/other_tool_next.so ./asan 2>/dev/null
    [ $? -ne 44 ] || echo "this sanitizer starts behind any library"
    LD_PRELOAD=$shim ./asan || [ $? -eq 44 ] || fail "a program with a sanitizer does not start"
fi
exit 0
