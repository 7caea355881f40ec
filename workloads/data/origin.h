/* SPDX-License-Identifier: MIT */
/*
 * Where the images of a directory are from, in a few words that chokepoint-data leaves beside them:
 * "textures drawn, seed 1", "cifar10 fetched". A training says it with its results, and as the name
 * of an operator in its marks, so that a report can say it.
 */
#ifndef CHOKEPOINT_WORKLOADS_DATA_ORIGIN_H
#define CHOKEPOINT_WORKLOADS_DATA_ORIGIN_H

#include "workloads/data/bytes.h"

#define ORIGIN_FILE "origin.txt"
#define ORIGIN_SIZE 40 /* a mark's name */

/* Returns 0 or negative with ret_error filled, and no file then. */
int origin_write(const char *directory, const char *text, struct data_error *ret_error);

/* Its first line, printable; "images of unknown origin" if nobody left one. */
void origin_read(const char *directory, char ret_text[ORIGIN_SIZE]);

#endif
