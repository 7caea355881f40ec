# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# slurmdbd with MariaDB for the Slurm of a test, to be sourced after slurm_lib.sh and before need_slurm. Both run on vm1, their
# files lie in $slurm, and MariaDB has no network.
for program in slurmdbd mariadbd mariadb-install-db sacctmgr; do
    command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
slurm_accounting=slurmdbd
slurm_more+="AccountingStorageHost=vm1
AccountingStoragePass=$slurm/munge.socket
"

answers_sql() { inside mariadb --socket="$slurm/sql.socket" -e 'SELECT 1' >/dev/null 2>&1; }
answers_accounts() { inside sacctmgr -n -P list cluster format=cluster 2>/dev/null; }
has_cluster() { [ "$(answers_accounts)" = testbed ]; }
start_accounts() {
    local address
    address=$(inside cat /etc/hosts | awk '$2 == "vm1" { print $1 }')
    mariadb-install-db --no-defaults --user=root --auth-root-authentication-method=normal --skip-test-db --skip-name-resolve \
        --datadir="$slurm/sql" >"$slurm/sql.install" 2>&1 || fail "no database: $(tail "$slurm/sql.install")"
    inside mariadbd --no-defaults --user=root --datadir="$slurm/sql" --socket="$slurm/sql.socket" --skip-networking \
        --pid-file="$slurm/sql.pid" --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=0 \
        >"$slurm/sql.log" 2>&1 &
    until_true answers_sql
    (umask 077 && cat >"$slurm/slurmdbd.conf") <<EOF
AuthType=auth/munge
AuthInfo=socket=$slurm/munge.socket
DbdHost=vm1
DbdAddr=$address
SlurmUser=root
PidFile=$slurm/slurmdbd.pid
LogFile=$slurm/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm_accounts
EOF
    inside env SLURM_CONF="$slurm/slurmdbd.conf" MYSQL_UNIX_PORT="$slurm/sql.socket" slurmdbd ||
        fail "no slurmdbd: $(tail "$slurm/slurmdbd.log")"
    until_true answers_accounts
}
