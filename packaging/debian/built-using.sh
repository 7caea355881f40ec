#!/bin/sh
# SPDX-License-Identifier: MIT
# built-using.sh BUILD [agent]: substitution variables that name the sources, with versions, of what the package chokepoint
# contains of other packages: the libraries inside the agent that is sent to hosts, and the script of pages; of the package
# chokepoint-agent: what wait clocks need, inside the agent that is installed. They are asked
# of dpkg for the very files that this build took. Licences that ask for the source (glibc, gcc, elfutils, libbpf) go to Built-Using.
set -eu
build=$1
taken() { sed -n "s/^$1:FILEPATH=\\(\\/.*\\)/\\1/p" "$build/CMakeCache.txt"; }
source_of() { # FILE: "SOURCE (= VERSION)"; files of /lib and of /usr/lib are the same
    real=$(realpath "$1")
    package=$( { dpkg-query -S "$real" || dpkg-query -S "${real#/usr}" || dpkg-query -S "$1"; } 2>/dev/null | head -n 1 | sed 's/: .*//')
    [ -n "$package" ] || { echo "built-using: no package has $1" >&2; exit 1; }
    dpkg-query -W -f '${source:Package} (= ${source:Version})\n' "$package"
}
list() { for file in "$@"; do source_of "$file"; done | LC_ALL=C sort -u | paste -sd, | sed 's/,/, /g'; }

clocks="$(taken STATIC_LIBBPF) $(taken STATIC_LIBELF)" clocks_others=$(taken STATIC_LIBZ)
# libelf calls zstd on Ubuntu 24.04
! nm -u "$(taken STATIC_LIBELF)" 2>/dev/null | grep ZSTD_ >/dev/null || clocks_others="$clocks_others $(taken STATIC_LIBZSTD)"
copyleft='' others=$(taken DYGRAPHS_SCRIPT)
if [ "${2:-}" = agent ]; then
    copyleft=$clocks others=$clocks_others
elif ls "$build"/bin/agents/*/chokepoint-agent >/dev/null 2>&1; then
    compiler=$(taken CMAKE_C_COMPILER)
    copyleft="$("$compiler" -print-file-name=libc.a) $("$compiler" -print-file-name=libgcc.a) $clocks"
    others="$others $clocks_others"
fi
# shellcheck disable=SC2086 # words of their own: no path of these has blanks
echo "chokepoint:Built-Using=$(list $copyleft)"
# shellcheck disable=SC2086
echo "chokepoint:Static-Built-Using=$(list $others)"
