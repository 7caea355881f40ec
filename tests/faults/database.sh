#!/bin/bash
# SPDX-License-Identifier: MIT
# PostgreSQL as a program of the matrix (services.py), with the accounts of its own benchmark, pgbench.
#     database.sh make FOLDER                          a database with 5 branches; once a run, before it
#     database.sh serve FOLDER PORT NAP_MS HELD/FREE   until a client stops it. NAP_MS: each update of a teller sleeps so long.
#                                                      HELD/FREE: a session holds a table for so many ms, then leaves it for so many.
#     database.sh ask ADDRESS PORT CLIENTS N           N transactions of each client; prints "loop SECONDS"; stops the server
set -eu
programs=(/usr/lib/postgresql/*/bin)
PATH=${programs[-1]}:$PATH
export PGUSER=postgres PGDATABASE=postgres LC_ALL=C
as_postgres=(setpriv --reuid postgres --regid postgres --clear-groups)
server=(postgres -D "$2/base" -c unix_socket_directories="$2" -c shared_buffers=64MB -c autovacuum=off)
until_ready() { until pg_isready -q "$@"; do sleep .02; done; }
# sql HOST PORT TEXT
sql() { psql -qX -h "$1" -p "$2" -v ON_ERROR_STOP=1 -c "$3"; }

case $1 in
make)
    chown postgres "$2"
    "${as_postgres[@]}" initdb -D "$2/base" -A trust -N >/dev/null
    echo "host all all all trust" >>"$2/base/pg_hba.conf"
    "${as_postgres[@]}" "${server[@]}" -c listen_addresses= >/dev/null 2>&1 &
    until_ready -h "$2"
    "${as_postgres[@]}" pgbench -q -i -s 5 -h "$2" >/dev/null 2>&1
    kill -INT $!
    wait $!
    ;;
serve)
    "${as_postgres[@]}" "${server[@]}" -p "$3" -c listen_addresses='*' >/dev/null 2>&1 &
    until_ready -h "$2" -p "$3"
    if [ "$4" != 0 ]; then
        sql "$2" "$3" "CREATE FUNCTION nap() RETURNS trigger LANGUAGE plpgsql AS
            \$\$ BEGIN PERFORM pg_sleep($4 / 1000.0); RETURN NEW; END \$\$;
            CREATE TRIGGER nap BEFORE UPDATE ON pgbench_tellers FOR EACH ROW EXECUTE FUNCTION nap()"
    fi
    if [ "$5" != 0/1 ]; then
        printf '%s\n' "BEGIN;" "LOCK TABLE pgbench_tellers IN ACCESS EXCLUSIVE MODE;" "SELECT pg_sleep(${5%/*} / 1000.0);" "COMMIT;" \
            "\\sleep ${5#*/} ms" >"$2/hold.sql"
        pgbench -n -h "$2" -p "$3" -f "$2/hold.sql" -T 600 >/dev/null 2>&1 &
    fi
    sql "$2" "$3" "CREATE TABLE ready()"
    wait
    ;;
ask)
    # The first answer does not suffice: the plants are in place once a table says so.
    until sql "$2" "$3" "SELECT FROM ready" >/dev/null 2>&1; do sleep .02; done
    began=$EPOCHREALTIME
    pgbench -n -h "$2" -p "$3" -c "$4" -t "$5" 2>&1 | grep '^tps'
    ended=$EPOCHREALTIME
    awk "BEGIN { printf \"loop %.3f\\n\", $ended - $began }"
    sql "$2" "$3" "COPY (SELECT 1) TO PROGRAM 'kill -INT \$(head -n 1 postmaster.pid)'"
    ;;
esac
