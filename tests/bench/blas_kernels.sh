# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# force_kernels BIN: exports OPENBLAS_CORETYPE, the kernels of OpenBLAS that are fastest on this processor. Left alone, it takes
# kernels of 2004 (SSE3) on a processor that it does not know, which flatters whoever is compared with it. Each kind that the
# processor can run makes three products of 1024 x 1024, and the least CPU time decides. A choice of the user stands.
force_kernels() {
    [ -z "${OPENBLAS_CORETYPE:-}" ] || return 0
    local kernels
    for kernels in Prescott Nehalem Sandybridge Haswell Zen SkylakeX Cooperlake Sapphirerapids Neoversen1; do
        for _ in 1 2 3; do
            OPENBLAS_CORETYPE=$kernels "$1/bench_matmul_gemm" 1024 2>/dev/null || break # it lacks an instruction
        done
    done | sort -k 2n | awk 'NR == 1 { print $3 }' >"${TMPDIR:-/tmp}/kernels.$$"
    read -r OPENBLAS_CORETYPE <"${TMPDIR:-/tmp}/kernels.$$" || OPENBLAS_CORETYPE=
    rm -f "${TMPDIR:-/tmp}/kernels.$$"
    export OPENBLAS_CORETYPE
}
