/* SPDX-License-Identifier: MIT */
/* A libcudart of our own that tells where CUDA of a program lies, and nothing else. */
__attribute__((visibility("default"))) int cudaPlayed(void);
int cudaPlayed(void) {
    return 1;
}
