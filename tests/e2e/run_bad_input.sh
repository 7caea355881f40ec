#!/bin/bash
# SPDX-License-Identifier: MIT
# Any error before the command starts gives one line that says what to do, and exit status 2, and
# nothing was started or written.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

refused() { # TEXT of the line, then the words after `chokepoint run`
    local text=$1
    shift
    "$chokepoint" run "$@" >out 2>err
    status=$?
    [ $status -eq 2 ] || fail "$* exits with $status: $(cat err)"
    [ "$(wc -l <err)" -eq 1 ] && said "$text" || fail "$*: not one line with '$text': $(cat err)"
    [ ! -s out ] && [ ! -e started ] || fail "$*: the command was started"
}
command=(touch started)
refused "unknown option '--frobnicate'" --frobnicate "${command[@]}"
refused "unknown option '-z'" -z "${command[@]}"
refused "value is missing after '--rate'" --rate
refused "--rate '-1'; give a number from 0.1 to 1000" --rate -1 "${command[@]}"
refused "--rate 'fast'" --rate fast "${command[@]}"
refused "--call-spool-limit '5'" --call-spool-limit 5 "${command[@]}"
refused "command is missing"
refused "command is missing" --
refused "hostfile ./none: No such file" --hosts ./none "${command[@]}"
: >empty
printf '# nobody\r\n\r\n' >comments
{ printf '\1'; head -c 4096 /dev/urandom; } >binary # the first line is neither empty by chance nor a comment
printf 'vm1\n--help\n' >option
refused "names no host" --hosts empty "${command[@]}"
refused "names no host" --hosts ./comments "${command[@]}"
refused "line 1: .* is no host name" --hosts binary "${command[@]}"
refused "line 2: '--help' is no host name" --hosts option "${command[@]}"
refused "is no host name" --hosts 'a,-oProxyCommand=x' "${command[@]}"
refused "hostfile none: No such file" mpirun --hostfile none "${command[@]}"
refused "hostfile empty: it names no host" mpirun -np 2 -machinefile empty "${command[@]}"
[ ! -e chokepoint.db ] || fail "a database was made"

# The database: none is made or changed by mistake.
refused "no/such/place" --db no/such/place/x.db "${command[@]}"
refused "" --db . "${command[@]}"
echo "something else" >foreign
refused "foreign" --db foreign "${command[@]}"
[ "$(cat foreign)" = "something else" ] || fail "a foreign file was changed"
sqlite3 other.db 'CREATE TABLE a (b)'
refused "other.db" --db other.db "${command[@]}"
"$chokepoint" run -q --db old.db true || fail "no database to age"
sqlite3 old.db 'PRAGMA user_version = 99' >/dev/null
cp old.db copy
refused "version" --db old.db "${command[@]}"
cmp -s old.db copy || fail "a database of another version was changed"

"$chokepoint" list --db none.db >out 2>err
[ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] || fail "list without a database: $(cat err)"
[ ! -e none.db ] || fail "list made a database"
