#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_packages.sh [--once] [--root DIR] Makes the Debian packages of HEAD (packaging/deb.sh), twice unless --once, and
# compares the bytes; runs lintian; and installs, uses and removes them on a machine that has nothing (fresh_machine.sh).
# Needs root.
set -euo pipefail
die() { echo "check_packages: $1" >&2; exit 1; }
once=no root=''
while [ $# -gt 0 ]; do
    case "$1" in
        --once) once=yes; shift ;;
        --root) root=${2:?}; shift 2 ;;
        *) sed -n '3,5s/^# //p' "$0" >&2; exit 2 ;;
    esac
done
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/var/tmp}/chokepoint-packages.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
[ -n "$root" ] || root=$work/root

commit=$(git -C "$source_dir" rev-parse HEAD) # whatever is committed meanwhile
"$source_dir/packaging/deb.sh" "$work/one" "$commit"
if [ $once = no ]; then
    # In another place (without blanks, for which dpkg has no flags), at another time, in another order, and without a cache.
    (mkdir -p "$work/a-longer-path" && umask 027 && CCACHE_DISABLE=1 TZ=Asia/Tokyo LC_ALL=C TMPDIR="$work/a-longer-path" \
        DEB_BUILD_OPTIONS=parallel=1 "$source_dir/packaging/deb.sh" "$work/two" "$commit")
    for package in "$work"/one/*.deb; do
        cmp "$package" "$work/two/${package##*/}" || die "${package##*/} is not the same when built again"
    done
    echo "two builds give the same bytes"
fi
for package in "$work"/one/*.deb; do dpkg-deb --extract "$package" "$work/unpacked"; done
"$source_dir/tests/tools/check_hardening.py" --installed "$work/unpacked"
# Each source inside a package is named in that package's copyright file.
for package in "$work"/one/chokepoint_*.deb; do
    built=$(dpkg-deb --field "$package" Built-Using; dpkg-deb --field "$package" Static-Built-Using)
    for part in glibc:glibc gcc-:libgcc elfutils:libelf libbpf:libbpf zlib:zlib dygraphs:dygraphs; do
        case "$built" in *"${part%:*}"*"(= "*) ;; *) die "Built-Using lacks ${part%:*}: $built" ;; esac
        grep -q "${part#*:}" "$work/unpacked/usr/share/doc/chokepoint/copyright" || die "the copyright file lacks ${part#*:}"
    done
done
lintian --fail-on error,warning "$work"/one/*.deb || die "lintian complains"
echo "lintian is content"

"$source_dir/tests/tools/fresh_machine.sh" --root "$root" true
rm -rf "$root/root/debs"
mkdir "$root/root/debs"
cp "$work"/one/*.deb "$root/root/debs/"
"$source_dir/tests/tools/fresh_machine.sh" --root "$root" tests/tools/installed.sh /root/debs
