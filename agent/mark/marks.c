/* SPDX-License-Identifier: MIT */
/*
 * libchokepoint-marks.so: the calls of chokepoint.h as functions, for languages that cannot include
 * it (Python through ctypes, Julia, ...). The header defines them inline, so they are renamed while
 * it is included, and exported functions take the names.
 */
#define chokepoint_phase inline_phase
#define chokepoint_iteration_begin inline_iteration_begin
#define chokepoint_iteration inline_iteration
#define chokepoint_operator inline_operator
#define chokepoint_value inline_value
#define chokepoint_listening inline_listening
#define chokepoint_now_ns inline_now_ns

#include "agent/mark/chokepoint.h"

#undef chokepoint_phase
#undef chokepoint_iteration_begin
#undef chokepoint_iteration
#undef chokepoint_operator
#undef chokepoint_value
#undef chokepoint_listening
#undef chokepoint_now_ns

#define EXPORT __attribute__((visibility("default")))

EXPORT void chokepoint_phase(const char *name);
EXPORT void chokepoint_iteration_begin(void);
EXPORT void chokepoint_iteration(int64_t number);
EXPORT void chokepoint_operator(const char *name, int64_t output_size_bytes, int64_t start_ns,
                                int64_t duration_ns);
EXPORT void chokepoint_value(const char *name, double value);
EXPORT int chokepoint_listening(void);
EXPORT int64_t chokepoint_now_ns(void);

void chokepoint_phase(const char *name) {
    inline_phase(name);
}

void chokepoint_iteration_begin(void) {
    inline_iteration_begin();
}

void chokepoint_iteration(int64_t number) {
    inline_iteration(number);
}

void chokepoint_operator(const char *name, int64_t output_size_bytes, int64_t start_ns,
                         int64_t duration_ns) {
    inline_operator(name, output_size_bytes, start_ns, duration_ns);
}

void chokepoint_value(const char *name, double value) {
    inline_value(name, value);
}

int chokepoint_listening(void) {
    return inline_listening();
}

int64_t chokepoint_now_ns(void) {
    return inline_now_ns();
}
