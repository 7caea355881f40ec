/* SPDX-License-Identifier: MIT */
/* A library with the name of one of GPUs and nothing in it. */
extern int no_gpu;
int no_gpu = 1;
