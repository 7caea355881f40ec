/* SPDX-License-Identifier: MIT */
/* Parameters of a sweep: lines "LNAME<tab>VALUES", "PNAME<tab>FROM<tab>UNTIL<tab>STEP", and others,
 * which are words of the command.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sweep/parameters.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define WORDS_MAX 32

static void add(struct sweep_parameters *to, char *line) {
    char why[PARAMETERS_WHY] = "", *field[4];
    char kind = *line++;
    for (size_t i = 0; i < 4; i++)
        field[i] = line ? strsep(&line, "\t") : NULL;
    int r = kind == 'L'
                ? parameters_add_list(to, field[0], field[1] ? field[1] : "", why)
                : parameters_add_scan(to, field[0], field[1] ? field[1] : "",
                                      field[2] ? field[2] : "", field[3] ? field[3] : "1", why);
    if (r > 0 || (r < 0 && !why[0]))
        abort();
}

/* Expands the first and the last cell. */
static void expand(const struct sweep_parameters *parameters, char *const *command) {
    size_t cells = parameters_cells(parameters), value[SWEEP_PARAMETERS_MAX];
    char text[200];
    if (cells > SWEEP_CELLS_MAX)
        abort();
    for (size_t cell = 0; cell<cells; cell += cells> 1 ? cells - 1 : 1) {
        parameters_cell(parameters, cell, value);
        for (size_t i = 0; i < parameters->n; i++)
            if (value[i] >= parameters->items[i].n_values)
                abort();
        parameters_describe(parameters, value, "/", text, sizeof text);
        parameters_free_words(parameters_expand(parameters, value, command));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    struct sweep_parameters parameters = {.n = 0};
    char why[PARAMETERS_WHY] = "", *words[WORDS_MAX + 1], *line;
    char *text = strndup((const char *)data, n), *rest = text;
    size_t n_words = 0;
    while ((line = strsep(&rest, "\n")))
        if (*line == 'L' || *line == 'P')
            add(&parameters, line);
        else if (n_words < WORDS_MAX)
            words[n_words++] = line;
    words[n_words] = NULL;
    if (n_words && parameters_check(&parameters, words, why) == 0)
        expand(&parameters, words);
    parameters_release(&parameters);
    free(text);
    return 0;
}
