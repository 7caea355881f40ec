/* SPDX-License-Identifier: MIT */
/*
 * Scans kernel text and checks names: bounded scanners over [p, end), no copies, no locale. A
 * scanner moves *p only when it succeeds.
 */
#ifndef CHOKEPOINT_COMMON_TEXT_H
#define CHOKEPOINT_COMMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of a text; not NUL-terminated. */
struct span {
    const char *data;
    size_t size;
};

struct span text_span(const char *text);
bool span_equal(struct span span, const char *text);
bool span_starts(struct span span, const char *prefix);

/* The next line without its newline; false at the end of the text. */
bool text_line(const char **p, const char *end, struct span *ret_line);

/* The next word between blanks and tabs; false when only blanks are left before `end`. */
bool text_word(const char **p, const char *end, struct span *ret_word);

/* Decimal digits after optional blanks. False if there is none or it exceeds UINT64_MAX. */
bool text_u64(const char **p, const char *end, uint64_t *ret_value);

/* As text_u64, with an optional minus sign. */
bool text_i64(const char **p, const char *end, int64_t *ret_value);

/* Decodes the first of size > 0 bytes: size and code of the character. Code 0 if the character must
 * not be shown: malformed UTF-8, a control, an invisible character, or one that changes the
 * direction of writing. All formats and messages use this rule. */
size_t text_char(const char *text, size_t size, uint32_t *ret_code);

/* Whether all of it is UTF-8 that may be shown. */
bool text_is_printable_utf8(const char *text, size_t size);

/* Copies at most capacity-1 bytes and a NUL; characters that must not be shown become '?', and no
 * character is cut in half. Returns the length of the copy. */
size_t text_sanitize(char *to, size_t capacity, const char *from, size_t size);

/* Numbers of command lines, as whole strings: "10", "0.5"; -EINVAL or -ERANGE otherwise. */
int text_parse_u64(const char *text, uint64_t *ret_value);
int text_parse_double(const char *text, double *ret_value);

/* Parses "1.8gbit", "200mbit", "5kbit" or plain bit/s to bits per second; "64m", "2g", "4k" to
 * bytes (binary multiples). -EINVAL otherwise. */
int text_parse_bit_rate(const char *text, uint64_t *ret_bits_per_s);
int text_parse_bytes(const char *text, uint64_t *ret_bytes);

/* Writes a word for a shell's command line, quoted if needed. False: it does not fit, and `to` is
 * cut short. */
bool text_shell_word(char *to, size_t size, const char *text);

#endif
