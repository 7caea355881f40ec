/* SPDX-License-Identifier: MIT */
/* Own scanners, because sscanf and strtoull need NUL-terminated, locale-dependent text. */
#include "common/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct span text_span(const char *text) {
    return (struct span){text, strlen(text)};
}

bool span_equal(struct span span, const char *text) {
    return strlen(text) == span.size && memcmp(span.data, text, span.size) == 0;
}

bool span_starts(struct span span, const char *prefix) {
    size_t n = strlen(prefix);
    return n <= span.size && memcmp(span.data, prefix, n) == 0;
}

bool text_line(const char **p, const char *end, struct span *ret_line) {
    if (*p >= end)
        return false;
    const char *newline = memchr(*p, '\n', (size_t)(end - *p));
    const char *stop = newline ? newline : end;
    *ret_line = (struct span){*p, (size_t)(stop - *p)};
    *p = newline ? newline + 1 : end;
    return true;
}

static const char *skip_blanks(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

bool text_word(const char **p, const char *end, struct span *ret_word) {
    const char *start = skip_blanks(*p, end);
    const char *stop = start;
    while (stop < end && *stop != ' ' && *stop != '\t' && *stop != '\n')
        stop++;
    if (stop == start)
        return false;
    *ret_word = (struct span){start, (size_t)(stop - start)};
    *p = stop;
    return true;
}

bool text_u64(const char **p, const char *end, uint64_t *ret_value) {
    const char *q = skip_blanks(*p, end);
    const char *start = q;
    uint64_t value = 0;
    for (; q < end && *q >= '0' && *q <= '9'; q++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*q - '0'), &value))
            return false;
    if (q == start)
        return false;
    *ret_value = value;
    *p = q;
    return true;
}

bool text_i64(const char **p, const char *end, int64_t *ret_value) {
    const char *q = skip_blanks(*p, end);
    bool negative = q < end && *q == '-';
    uint64_t value;
    if (negative)
        q++;
    if (q < end && (*q == ' ' || *q == '\t'))
        return false;
    if (!text_u64(&q, end, &value) || value > (uint64_t)INT64_MAX)
        return false;
    *ret_value = negative ? -(int64_t)value : (int64_t)value;
    *p = q;
    return true;
}

/* Length of the well-formed UTF-8 character at s, 0 if there is none. */
static size_t utf8_char(const unsigned char *s, size_t size) {
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n > size)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xed && s[1] >= 0xa0;
    bool beyond = s[0] == 0xf4 && s[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : n;
}

/* Control characters, and characters that are invisible or change the direction of text: Unicode's
 * Default_Ignorable_Code_Point, the separators of lines and paragraphs, and U+FFF9 to U+FFFB. */
static const uint32_t unseen[][2] = {
    {0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},      {0x34f, 0x34f},   {0x61c, 0x61c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f},  {0x200b, 0x200f}, {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164},   {0xfe00, 0xfe0f},  {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
    {0xfff0, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

static bool is_unseen(uint32_t code) {
    for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++)
        if (code >= unseen[i][0] && code <= unseen[i][1])
            return true;
    return false;
}

size_t text_char(const char *text, size_t size, uint32_t *ret_code) {
    const unsigned char *s = (const unsigned char *)text;
    size_t n = utf8_char(s, size);
    uint32_t code = n < 2 ? s[0] : s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++)
        code = code << 6 | (s[i] & 0x3fu);
    *ret_code = n && !is_unseen(code) ? code : 0;
    return n ? n : 1;
}

/* A number of bytes from the start that are printable ASCII. It tests eight at a time, since nearly
 * all names are ASCII; further ones may follow. */
static size_t plain_size(const char *text, size_t size) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t bytes;
    size_t n = 0;
    for (; size - n >= sizeof bytes; n += sizeof bytes) {
        memcpy(&bytes, text + n, sizeof bytes);
        uint64_t below_blank = (bytes - 0x20 * ones) & ~bytes, from_delete = bytes | (bytes + ones);
        if ((below_blank | from_delete) & 0x80 * ones)
            return n;
    }
    while (n < size && text[n] >= 0x20 && text[n] < 0x7f)
        n++;
    return n;
}

bool text_is_printable_utf8(const char *text, size_t size) {
    uint32_t code;
    for (size_t i = plain_size(text, size); i < size;) {
        i += text_char(text + i, size - i, &code);
        if (!code)
            return false;
    }
    return true;
}

size_t text_sanitize(char *to, size_t capacity, const char *from, size_t size) {
    size_t length = plain_size(from, size < capacity ? size : capacity ? capacity - 1 : 0);
    if (length)
        memcpy(to, from, length);
    for (size_t i = length; i < size;) {
        uint32_t code;
        size_t n = text_char(from + i, size - i, &code), own = code ? n : 1;
        if (length + own >= capacity)
            break;
        memcpy(to + length, code ? from + i : "?", own);
        length += own;
        i += n;
    }
    if (capacity)
        to[length] = '\0';
    return length;
}

int text_parse_u64(const char *text, uint64_t *ret_value) {
    const char *p = text, *end = text + strlen(text);
    uint64_t value;
    if (p == end || *p < '0' || *p > '9')
        return -EINVAL;
    if (!text_u64(&p, end, &value))
        return -ERANGE;
    if (p != end)
        return -EINVAL;
    *ret_value = value;
    return 0;
}

int text_parse_double(const char *text, double *ret_value) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value))
        return -EINVAL;
    *ret_value = value;
    return 0;
}

struct suffix {
    const char *text;
    double factor;
};

static int parse_suffixed(const char *text, const struct suffix *suffixes, size_t n,
                          uint64_t *ret_value) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || text[0] == '-' || !isfinite(value))
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (strcasecmp(end, suffixes[i].text) != 0)
            continue;
        if (value * suffixes[i].factor >= 9e18)
            return -ERANGE;
        *ret_value = (uint64_t)(value * suffixes[i].factor + 0.5);
        return 0;
    }
    return -EINVAL;
}

int text_parse_bit_rate(const char *text, uint64_t *ret_bits_per_s) {
    static const struct suffix suffixes[] = {
        {"", 1}, {"bit", 1}, {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};
    return parse_suffixed(text, suffixes, sizeof suffixes / sizeof *suffixes, ret_bits_per_s);
}

int text_parse_bytes(const char *text, uint64_t *ret_bytes) {
    static const struct suffix suffixes[] = {
        {"", 1}, {"b", 1}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1099511627776.0}};
    return parse_suffixed(text, suffixes, sizeof suffixes / sizeof *suffixes, ret_bytes);
}

/* ---- for a shell ---- */

#define SHELL_PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:@%,="

static bool put_piece(char *to, size_t size, size_t *used, const char *piece) {
    size_t n = strlen(piece);
    if (*used + n >= size)
        return false;
    memcpy(to + *used, piece, n + 1);
    *used += n;
    return true;
}

bool text_shell_word(char *to, size_t size, const char *text) {
    size_t used = 0;
    if (text[0] && !text[strspn(text, SHELL_PLAIN)])
        return put_piece(to, size, &used, text);
    bool fits = put_piece(to, size, &used, "'");
    for (; *text && fits; text++)
        fits = put_piece(to, size, &used, *text == '\'' ? "'\\''" : (char[2]){*text, '\0'});
    return fits && put_piece(to, size, &used, "'");
}
