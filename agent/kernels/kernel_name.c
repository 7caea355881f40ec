/* SPDX-License-Identifier: MIT */
/* Names of C++ kernels as people write them, without templates' arguments and parameters. */
#include "agent/kernels/kernel_name.h"

#include <stdbool.h>
#include <string.h>

struct output {
    char *to;
    size_t size, n;
};

static void put(struct output *out, const char *text, size_t n) {
    for (size_t i = 0; i < n && out->n + 1 < out->size; i++)
        out->to[out->n++] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    out->to[out->n] = '\0';
}

/* "16rmsnorm_backward...": the number says how long the name is. False: none is there, or it is
 * cut. */
static bool next_part(const char **p, const char **ret_part, size_t *ret_n) {
    size_t n = 0;
    const char *at = *p;
    while (*at >= '0' && *at <= '9' && n < 10000)
        n = 10 * n + (size_t)(*at++ - '0');
    if (at == *p || n == 0 || strnlen(at, n) < n)
        return false;
    *ret_part = at;
    *ret_n = n;
    *p = at + n;
    return true;
}

/* Arguments of a template: names that follow belong to them. Their end is found by counting, as far
 * as letters tell; where it is not, the name ends here. */
static bool skip_arguments(const char **p) {
    int depth = 0;
    const char *at = *p, *part;
    size_t n;
    while (*at) {
        if (*at >= '0' && *at <= '9') {
            if (!next_part(&at, &part, &n))
                return false;
            continue;
        }
        if (*at == 'L') /* a constant: "Li5E", "Lb1E" */
            while (*at && *at != 'E' && *at != '_')
                at++;
        else if (*at == 'I' || *at == 'N' || *at == 'J' || *at == 'X' || *at == 'F')
            depth++;
        else if (*at == 'E')
            depth--;
        if (*at)
            at++;
        if (depth == 0) {
            *p = at;
            return true;
        }
    }
    return false;
}

void kernel_name_write(const char *mangled, char *to, size_t size) {
    struct output out = {to, size, 0};
    const char *p = mangled, *part;
    size_t n;
    to[0] = '\0';
    if (strncmp(p, "_Z", 2) != 0) {
        put(&out, p, strlen(p));
        return;
    }
    p += 2;
    p += *p == 'N';
    p += strspn(p, "rVKL"); /* qualifiers, and names of one file alone */
    while (next_part(&p, &part, &n)) {
        bool of_a_file = n > 10 && strncmp(part, "_GLOBAL__N", 10) == 0;
        if (!of_a_file && out.n)
            put(&out, "::", 2);
        if (!of_a_file)
            put(&out, part, n);
        if (*p == 'I' && !skip_arguments(&p))
            break;
    }
    if (!out.n)
        put(&out, mangled, strlen(mangled));
}
