#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# packaging/deb.sh DIRECTORY [COMMIT]: makes the Debian packages of COMMIT, by default HEAD, in DIRECTORY. Needs the packages that
# packaging/debian/control lists under Build-Depends. Two runs are meant to give the
# same bytes, wherever they are built: tests/tools/check_packages.sh holds them against each other.
set -euo pipefail
[ $# = 1 ] || [ $# = 2 ] || { echo "usage: packaging/deb.sh DIRECTORY [COMMIT]" >&2; exit 2; }
source_dir=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
to=$(cd "$1" && pwd)
build=$(mktemp -d "${TMPDIR:-/var/tmp}/chokepoint-deb.XXXXXX")
trap 'rm -rf "$build"' EXIT
mkdir "$build/chokepoint"
git -C "$source_dir" archive "${2:-HEAD}" | tar -x -C "$build/chokepoint"
mv "$build/chokepoint/packaging/debian" "$build/chokepoint/debian"
cd "$build/chokepoint"
DEB_BUILD_OPTIONS="noautodbgsym${DEB_BUILD_OPTIONS:+ $DEB_BUILD_OPTIONS}" dpkg-buildpackage --no-sign --build=binary >"$to/build.log" 2>&1 ||
    { tail -n 20 "$to/build.log" >&2; exit 1; }
cp "$build"/*.deb "$to/"
