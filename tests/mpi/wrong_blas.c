/* SPDX-License-Identifier: MIT */
/* OpenBLAS's cblas_sgemm() with an error in one element off the diagonal, so that no trace shows
 * it: preloaded into chokepoint-matmul, which must find it.
 */
#include <cblas.h>
#include <dlfcn.h>

void cblas_sgemm(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, blasint m, blasint n,
                 blasint k, float alpha, const float *a, blasint lda, const float *b, blasint ldb,
                 float beta, float *c, blasint ldc) {
    __typeof__(cblas_sgemm) *real;
    *(void **)&real = dlsym(RTLD_NEXT, "cblas_sgemm");
    real(layout, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    c[42 * ldc + 17] += 1;
}
