#!/bin/bash
# SPDX-License-Identifier: MIT
# chokepoint-data fetch against a server on loopback: an interrupted download resumes, or starts again if the server
# cannot resume; a wrong checksum leaves nothing; a correct file is not fetched again; an archive is unpacked; every
# error is one line.
set -u
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
data=$CHOKEPOINT_BIN/chokepoint-data
[ -x "$data" ] || { echo "skipped: chokepoint-data is not built"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }

mkdir "$work/site" "$work/out"
head -c 300000 /dev/urandom >"$work/site/file"
sum=$(sha256sum <"$work/site/file" | cut -d ' ' -f 1)
mkfifo "$work/port"
python3 "$CHOKEPOINT_SOURCE/tests/tools/http_server.py" "$work/site" "$work/log" >"$work/port" &
server=$!
read -r port <"$work/port" || fail "the server did not start"
url=http://127.0.0.1:$port
unset http_proxy https_proxy HTTPS_PROXY all_proxy ALL_PROXY

fetch() { "$data" fetch "$1" --out "$work/out" --quiet "${@:2}" >"$work/said" 2>&1; }
# refused PATTERN WORDS...: status 1, one line
refused() {
    local pattern=$1
    shift
    fetch "$@" && fail "$*: exits with 0"
    [ "$(wc -l <"$work/said")" -eq 1 ] && grep -q "^chokepoint-data: .*$pattern" "$work/said" ||
        fail "$*: expected $pattern, found $(cat "$work/said")"
}
last() { tail -n 1 "$work/log"; }

# Interrupted twice, then the rest: the ranges follow each other, and the file is correct.
refused '.' "$url/cut/100000/file" --sha256 "$sum"
[ "$(stat -c %s "$work/out/file.part")" -eq 100000 ] && [ ! -e "$work/out/file" ] || fail "what came is not kept"
refused '.' "$url/cut/50000/file" --sha256 "$sum"
[ "$(last)" = "/cut/50000/file 100000" ] || fail "goes on elsewhere: $(last)"
fetch "$url/file" --sha256 "$sum" || fail "the rest: $(cat "$work/said")"
[ "$(last)" = "/file 150000" ] || fail "goes on elsewhere: $(last)"
cmp "$work/site/file" "$work/out/file" || fail "the parts are not the whole"
[ ! -e "$work/out/file.part" ] || fail "a part is left"
n=$(wc -l <"$work/log")
fetch "$url/file" --sha256 "$sum" || fail "again"
[ "$(wc -l <"$work/log")" -eq "$n" ] || fail "fetched again though it was there"

# A server without ranges sends the whole file again.
rm "$work/out/file"
refused '.' "$url/cut/1000/file"
fetch "$url/norange/file" --sha256 "$sum" || fail "no ranges: $(cat "$work/said")"
cmp "$work/site/file" "$work/out/file" || fail "no ranges: not the whole"

# The whole file had arrived under its temporary name; and a part of another file is not kept.
mv "$work/out/file" "$work/out/file.part"
fetch "$url/file" --sha256 "$sum" || fail "a whole part: $(cat "$work/said")"
cmp "$work/site/file" "$work/out/file" || fail "a whole part"
rm "$work/out/file"
head -c 5000 /dev/zero >"$work/out/file.part"
refused "wrong checksum: expected SHA-256 $sum, found [0-9a-f]*; nothing is kept" "$url/file" --sha256 "$sum"
[ -z "$(ls "$work/out")" ] || fail "a wrong file leaves $(ls "$work/out")"
fetch "$url/file" --sha256 "$sum" || fail "after a wrong one"
cmp "$work/site/file" "$work/out/file" || fail "after a wrong one"
head -c 400000 /dev/zero >"$work/out/longer.part" # longer than the server's file
cp "$work/site/file" "$work/site/longer"
fetch "$url/longer" || fail "a part that is too long: $(cat "$work/said")"
cmp "$work/site/longer" "$work/out/longer" || fail "a part that is too long"

refused 'returned error: 404' "$url/absent"
[ ! -e "$work/out/absent.part" ] || fail "an absent file leaves a part"
refused 'ends in no name' "$url/"
refused '.' "gopher://127.0.0.1:$port/file2"
refused 'cannot make the directory: Not a directory' "$url/file" --out "$work/site/file/below"

# The known collections have known checksums, which these files do not match.
"$data" generate digits --out "$work/site" --train 100 --test 50 --quiet >/dev/null || fail "generate"
gzip "$work"/site/*-ubyte
refused 'wrong checksum: expected SHA-256 440fcabf' mnist --from "$url"

# An archive is unpacked beside itself, and read.
"$data" generate textures --out "$work/cifar-10-batches-bin" --train 50 --test 10 --quiet >/dev/null || fail "generate"
tar -C "$work" -czf "$work/site/cifar.tar.gz" cifar-10-batches-bin
fetch "$url/cifar.tar.gz" || fail "archive: $(cat "$work/said")"
"$data" check "$work/out" | grep -q '^training: 50 images of 32 x 32 x 3' || fail "archive: $(ls "$work/out")"

# Without --out: the cache directory.
XDG_CACHE_HOME=$work/cache "$data" fetch "$url/file" --sha256 "$sum" --quiet >"$work/said" || fail "cache"
[ "$(cat "$work/said")" = "$work/cache/chokepoint/files/file" ] || fail "cache: $(cat "$work/said")"

kill "$server"
wait "$server" 2>/dev/null
server=
refused 'Failed to connect\|Could.* connect' "$url/file2"
exit 0
