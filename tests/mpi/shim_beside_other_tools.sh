#!/bin/bash
# SPDX-License-Identifier: MIT
# Another tool that is preloaded before or behind the shim, by PMPI or by the next function in line, and a
# program with its own profiling layer: they see the same as without the shim, and the shim sees each call once.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/shim_lib.sh" || exit 1
seen="other tool: rank 0 sends 20 reductions 20
other tool: rank 1 sends 0 reductions 20"
run() { # NAME PRELOAD PROGRAM...
    echo "-- $1"
    preload=$2
    shift 2
    rm -f "$EXPECT".*
    watched 2 "$@" >"$work/out" || fail "the program ended with $?"
    [ "$(sort "$work/out")" = "$seen" ] || fail "the other tool saw $(cat "$work/out")"
    totals_agree
    events_agree
}
for tool in pmpi next; do
    run "$tool before the shim" "$programs/other_tool_$tool.so:$shim" "$programs/calls_simple"
    run "$tool behind the shim" "$shim:$programs/other_tool_$tool.so" "$programs/calls_simple"
done
run "a layer in the program" "$shim" "$programs/calls_own_layer"

# MPI in a plug-in with a local scope.
echo "-- a plug-in"
preload=$shim
rm -f "$EXPECT".*
watched 2 "$programs/plugin_host" "$programs/calls_plugin.so" || fail "the plug-in ended with $?"
totals_agree

# In a process without MPI it does nothing, and disturbs nothing.
[ "$(LD_PRELOAD=$shim CHOKEPOINT_MARKS=$work/marks /bin/sh -c 'echo $((6 * 7))')" = 42 ] || fail "in a shell"
LD_PRELOAD=$shim ldd /bin/true | grep -q libmpi && fail "the shim drags in MPI"
exit 0
