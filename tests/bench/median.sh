# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2034 # for who sources this
# median_of: a function for awk programs, to be put before them: awk "$median_of"'...'. median(v, n) returns the median of
# v[1] to v[n], and sorts v.
median_of='
function median(v, n,    i, j, x) {
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && v[j - 1] > v[j]; j--) { x = v[j]; v[j] = v[j - 1]; v[j - 1] = x }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
'
