# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2034 # for who sources this
# median_of: a function for awk programs, to be put before them: awk "$median_of"'...'. median(v, n) returns the median of
# v[1] to v[n], and sorts v. alike(v, n), before that, is the A/A row of values taken in turns: the median of the first, third and
# so on over that of the others, 0 without two values. It shows by how much a figure can be off from nothing.
median_of='
function median(v, n,    i, j, x) {
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && v[j - 1] > v[j]; j--) { x = v[j]; v[j] = v[j - 1]; v[j - 1] = x }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
function alike(v, n,    i, odd, even, k) {
    for (i = 1; i + 1 <= n; i += 2) { odd[++k] = v[i]; even[k] = v[i + 1] }
    return k ? median(odd, k) / median(even, k) : 0
}
'
