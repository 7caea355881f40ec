#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# installed.sh DIRECTORY: on an expendable machine, installs the packages in DIRECTORY, the agent alone first, uses them,
# removes them, and looks for leftovers. check_packages.sh runs it on a fresh machine.
set -euo pipefail
fail() { echo "FAILED: $*" >&2; exit 1; }
export DEBIAN_FRONTEND=noninteractive
cd "${1:?}"
apt-get update -qq
install() { apt-get install -y -qq --no-install-recommends "$@" >/root/apt.log 2>&1 || { tail -5 /root/apt.log; fail "cannot install $*"; }; }

install ./chokepoint-agent_*.deb
chokepoint-agent --version >/dev/null || fail "no agent"
! command -v chokepoint >/dev/null || fail "the agent's package has the command"
for package in libopenmpi3 libsqlite3-0 libopenblas0 gnuplot-nox; do
    ! dpkg -s $package >/dev/null 2>&1 || fail "the agent needs $package"
done
echo "agent alone: $(du -ks /usr/bin/chokepoint-agent | cut -f1) KiB, $(grep -c '^Setting up' /root/apt.log) packages"

install ./chokepoint_*.deb
cd /tmp
chokepoint run --db /tmp/installed.db -- sh -c 'exit 3' 2>/tmp/err && fail "the status of the command is lost"
[ $? = 3 ] || fail "run: $(cat /tmp/err)"
chokepoint list --db /tmp/installed.db | grep -q 'exit 3' || fail "nothing was recorded: $(cat /tmp/err)"
for file in bash-completion/completions/chokepoint zsh/vendor-completions/_chokepoint fish/vendor_completions.d/chokepoint.fish; do
    [ -s "/usr/share/$file" ] || fail "no completion $file"
done
bash -n /usr/share/bash-completion/completions/chokepoint
[ -e "/usr/lib/$(dpkg --print-architecture | sed 's/amd64/x86_64/; s/arm64/aarch64/')-linux-gnu/chokepoint/libchokepoint-mpi.so" ] || fail "no library for ranks"
echo "command and agent: recorded a run"

dpkg -L chokepoint chokepoint-agent | sort -u >/root/files
apt-get purge -y -qq chokepoint chokepoint-agent >/root/apt.log 2>&1 || fail "cannot be removed: $(tail -3 /root/apt.log)"
while read -r file; do
    [ -d "$file" ] || [ ! -e "$file" ] || fail "left: $file"
done </root/files
! find / -xdev -name '*chokepoint*' -not -path '/root/*' -not -path '/tmp/*' | grep . || fail "these are left"
# A later run must find nothing of their dependencies.
apt-get autoremove --purge -y -qq >/root/apt.log 2>&1 || fail "cannot remove what they needed: $(tail -3 /root/apt.log)"
echo "removed without a trace"
