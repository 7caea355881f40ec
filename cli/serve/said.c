/* SPDX-License-Identifier: MIT */
#include "cli/serve/said.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"

#define TEXT_MAX 1024

void said_last_line(int fd, const char *otherwise, char *to, size_t size) {
    static const char command[] = "chokepoint ";
    char text[TEXT_MAX];
    off_t end = lseek(fd, 0, SEEK_END);
    ssize_t n = pread(fd, text, sizeof text, end > TEXT_MAX ? end - TEXT_MAX : 0);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    if (n <= 0) {
        snprintf(to, size, "%s", otherwise);
        return;
    }
    const char *newline = memrchr(text, '\n', (size_t)n);
    const char *line = newline ? newline + 1 : text;
    size_t left = (size_t)(text + n - line);
    const char *colon = memmem(line, left, ": ", 2);
    if (colon && left > sizeof command && memcmp(line, command, sizeof command - 1) == 0) {
        left -= (size_t)(colon + 2 - line);
        line = colon + 2;
    }
    text_sanitize(to, size, line, left);
}
