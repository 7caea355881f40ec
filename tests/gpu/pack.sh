#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pack.sh BUILD/bin OUT: gathers chokepoint, its agent and the libraries that they need into OUT/bin and OUT/lib, and
# check.sh with its work into OUT/tests/gpu, for a machine with the same or a newer C library and nothing else. The
# programs find their libraries by a path of their own, so that nothing else on that machine meets them.
set -euo pipefail
[ $# = 2 ] || { sed -n '3,5s/^# //p' "$0"; exit 2; }
command -v patchelf >/dev/null || { echo "pack.sh needs patchelf"; exit 1; }
from=$1 to=${2:?}
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "${to:?}/bin" "${to:?}/lib" "${to:?}/tests/gpu"
mkdir -p "$to/bin" "$to/lib" "$to/tests/gpu"
for program in chokepoint chokepoint-agent; do
    strip -o "$to/bin/$program" "$from/$program"
    chmod 755 "$to/bin/$program"
    # shellcheck disable=SC2016 # the loader expands it
    patchelf --force-rpath --set-rpath '$ORIGIN/../lib' "$to/bin/$program"
done
# Those that the agent loads at run time: pushing, wait clocks.
loaded=()
for name in libcurl.so.4 libbpf.so.1; do
    path=$(ldconfig -p | awk -v name="$name" '$1 == name && /x86-64|AArch64/ && !found++ { print $NF }')
    if [ -n "$path" ]; then loaded+=("$path"); else echo "$name is not here: left out"; fi
done
# Never the C library, which belongs to the kernel and the loader of the machine.
{
    ldd "$from/chokepoint" "$from/chokepoint-agent" ${loaded[@]+"${loaded[@]}"} | awk '$2 == "=>" && $3 ~ "^/" { print $3 }'
    printf '%s\n' ${loaded[@]+"${loaded[@]}"}
} | sort -u | grep -Ev '/(libc|libm|libdl|libpthread|librt|libresolv)\.so|/ld-linux' | while read -r library; do
    cp -L "$library" "$to/lib/"
done
strip "$to"/lib/*.so*
cp "$here"/check.sh "$here"/check_phases.py "$here"/labelled_work.py "$here"/pretended_work.py "$to/tests/gpu/"
size=$(du -sm "$to/bin" "$to/lib" "$to/tests" | awk '{ sum += $1 } END { print sum }')
echo "$to: $size MB"
[ "$size" -le 30 ] || { echo "more than 30 MB"; exit 1; }
