/* SPDX-License-Identifier: MIT */
/*
 * The origin of a directory's images in a few words, which chokepoint-data stores beside them:
 * "textures drawn, seed 1", "cifar10 fetched". A training prints it with its results, and uses it
 * as the name of an operator in its marks, so that a report can show it.
 */
#ifndef CHOKEPOINT_WORKLOADS_DATA_ORIGIN_H
#define CHOKEPOINT_WORKLOADS_DATA_ORIGIN_H

#include "workloads/data/bytes.h"

#define ORIGIN_FILE "origin.txt"
#define ORIGIN_SIZE 40 /* size of a mark's name */

/* Returns 0, or negative with ret_error filled and without a file. */
int origin_write(const char *directory, const char *text, struct data_error *ret_error);

/* The first line of the file, printable; "images of unknown origin" without a file. */
void origin_read(const char *directory, char ret_text[ORIGIN_SIZE]);

#endif
