#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# CMakeLists.txt says which version this is; each other place that has to name it names the same one. A line for each that
# does not; exit 1.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^project(chokepoint VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
[ -n "$version" ] || { echo "CMakeLists.txt: no version"; exit 1; }
bad=0

# named FILE PATTERN: all that \1 matches in the file are the version, and there is one.
named() {
    local found
    found=$(sed -nE "s/.*$2.*/\\1/p" "$1" | sort -u)
    [ "$found" = "$version" ] || { echo "$1: names ${found:-no version}, this is $version"; bad=1; }
}
# first FILE PATTERN: the same of the first line that matches, where older versions follow.
first() {
    local found
    found=$(sed -nE "0,/$2/s/.*$2.*/\\1/p" "$1")
    [ "$found" = "$version" ] || { echo "$1: begins with ${found:-no version}, this is $version"; bad=1; }
}
first CHANGELOG.md '^## ([0-9.]+)'
first packaging/debian/changelog '^chokepoint \(([0-9.]+)\)'
named packaging/spack/package.py 'version\("([0-9.]+)"'
named packaging/spack/package.py 'chokepoint-([0-9.]+)\.tar'
named packaging/conda-forge/meta.yaml 'set version = "([0-9.]+)"'
named man/chokepoint-doctor.1 'agent ([0-9.]+), started'
named tests/golden/export-perfetto.json '"program":"chokepoint ([0-9.]+)"'
exit $bad
