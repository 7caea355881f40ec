/* SPDX-License-Identifier: MIT */
/* An empty library with the name of a GPU library. */
extern int no_gpu;
int no_gpu = 1;
