/* SPDX-License-Identifier: MIT */
/*
 * The input of a sweep: parameters with their values, and a command in which {name} stands for the
 * value. As in hyperfine(1), -L NAME A,B,C gives values one by one (a comma within one is written
 * \,), and -P NAME MIN MAX gives numbers in steps. A parameter called "mode:ranks" is two
 * placeholders that change together, and its values have as many parts: "single:1,sync:4".
 */
#ifndef CHOKEPOINT_CLI_SWEEP_PARAMETERS_H
#define CHOKEPOINT_CLI_SWEEP_PARAMETERS_H

#include <stddef.h>

#include "collector/store_sweep.h"

#define SWEEP_CELLS_MAX 10000

struct sweep_parameter {
    char *name;
    char **values; /* the values for the command */
    size_t n_values;
};

struct sweep_parameters {
    struct sweep_parameter items[SWEEP_PARAMETERS_MAX];
    size_t n;
};

#define PARAMETERS_WHY 400

/* Each adds a parameter. -EINVAL (-ENOMEM) with one line in why[PARAMETERS_WHY]; it may contain
 * unchecked text from outside. */
int parameters_add_list(struct sweep_parameters *to, const char *name, const char *values,
                        char *why);
int parameters_add_scan(struct sweep_parameters *to, const char *name, const char *from,
                        const char *until, const char *step, char *why);
void parameters_release(struct sweep_parameters *parameters);

/* Checks that every {placeholder} of the command is a parameter, and every parameter is used; a {}
 * with anything but a name in it belongs to the command. -EINVAL with why. */
int parameters_check(const struct sweep_parameters *parameters, char *const *command, char *why);

/* Product of the numbers of values; 0 if there are more than SWEEP_CELLS_MAX. */
size_t parameters_cells(const struct sweep_parameters *parameters);
/* The value index of each parameter in cell i: the last parameter changes fastest. */
void parameters_cell(const struct sweep_parameters *parameters, size_t cell,
                     size_t ret_value[SWEEP_PARAMETERS_MAX]);

/* The words with the values of a cell, NULL-terminated; the caller owns them
 * (parameters_free_words); NULL without memory. */
char **parameters_expand(const struct sweep_parameters *parameters, const size_t *value,
                         char *const *command);
void parameters_free_words(char **words); /* takes NULL */

/* Writes "mode=sync/batch=100" into text. */
void parameters_describe(const struct sweep_parameters *parameters, const size_t *value,
                         const char *separator, char *text, size_t size);

#endif
