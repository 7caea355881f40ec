# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# need_pairs PAIRS: ends the script that sources this with a line and exit status 2 if PAIRS is no positive number: without
# pairs there is no figure.
need_pairs() {
    [[ $1 =~ ^[1-9][0-9]{0,2}$ ]] && return
    echo "${0##*/}: how many pairs, 1 to 999? '$1' is no such number" >&2
    exit 2
}
