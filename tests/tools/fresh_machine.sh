#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# fresh_machine.sh [--suite bookworm|noble] [--mirror URL] [--root DIR] COMMAND... Proves a README command on a
# machine that has nothing: makes a minimal root file system with debootstrap, clones HEAD into it, and runs
# COMMAND (default: ./check) there, in separate mount and process namespaces. Needs root. The mirror is the one
# that this machine's apt uses. With --root the root file system is kept and used again.
set -euo pipefail

die() { echo "fresh_machine: $1" >&2; exit "${2:-1}"; }

suite=bookworm mirror='' root='' keep=no
while [ $# -gt 0 ]; do
    case "$1" in
        --suite) suite=${2:?}; shift 2 ;;
        --mirror) mirror=${2:?}; shift 2 ;;
        --root) root=${2:?} keep=yes; shift 2 ;;
        -h|--help) sed -n '3,6s/^# //p' "$0"; exit 0 ;;
        -*) die "unknown option $1" 2 ;;
        *) break ;;
    esac
done
[ $# -gt 0 ] || set -- ./check
[ "$(id -u)" = 0 ] || die "needs root" 2
command -v debootstrap >/dev/null || die "needs debootstrap: apt-get install debootstrap" 2
if [ -z "$mirror" ]; then
    mirror=$(apt-get indextargets --format '$(SITE)' "Created-By: Packages" | grep -v security | sort -u | head -1)
    [ -n "$mirror" ] || die "apt knows no mirror; give --mirror" 2
fi

source_dir=$(cd "$(dirname "$0")/../.." && pwd)
[ -n "$root" ] || root=$(mktemp -d "${TMPDIR:-/var/tmp}/chokepoint-fresh.XXXXXX")
cleanup() { [ $keep = yes ] || rm -rf --one-file-system "$root"; }
trap cleanup EXIT

if [ ! -e "$root/etc/debian_version" ]; then
    echo "== $suite from $mirror into $root"
    # Ubuntu's suites share one script, and Debian 12's debootstrap does not know the newest by name.
    script=()
    [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=(/usr/share/debootstrap/scripts/gutsy)
    debootstrap --variant=minbase "$suite" "$root" "$mirror" "${script[@]}" >"$root.log" 2>&1 || { tail -5 "$root.log"; die "debootstrap failed"; }
    rm -f "$root.log"
    # The way in which this machine reaches its mirror (a proxy, names) also serves the guest.
    cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
    if [ "$suite" = bookworm ]; then
        rm -f "$root/etc/apt/sources.list"
        cp -r /etc/apt/sources.list.d/*.sources "$root/etc/apt/sources.list.d/" 2>/dev/null || echo "deb $mirror $suite main" >"$root/etc/apt/sources.list"
    else
        echo "deb $mirror $suite main universe" >"$root/etc/apt/sources.list"
    fi
fi
for file in resolv.conf hosts; do cp -L "/etc/$file" "$root/etc/$file"; done
rm -rf "$root/root/chokepoint"
git clone -q "$source_dir" "$root/root/chokepoint"

# Everything started inside ends with the process namespace.
export root
unshare --mount --propagation private --pid --fork --kill-child bash -euc '
    mount --bind "$root" "$root" # so that "/" is a mount point there, as on a real machine
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/run"
    mount -t tmpfs tmpfs "$root/tmp"
    exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" \
        LANG=C.UTF-8 bash -c "cd /root/chokepoint && exec \"\$@\"" fresh "$@"
' outer "$@"
