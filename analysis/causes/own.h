/* SPDX-License-Identifier: MIT */
/*
 * Included by a cause behind its OWN_NUMBERS, a list of NUMBER(name, value, unit, where it comes
 * from or what it means): makes number_NAME of each, and own_numbers of all.
 */
#ifdef OWN_NUMBERS
#define NUMBER(name, value, unit, reason)                                                          \
    static const struct number number_##name = {#name, value, unit, reason, NULL};
OWN_NUMBERS
#undef NUMBER

#define NUMBER(name, value, unit, reason) &number_##name,
static const struct number *const own_numbers[] = {OWN_NUMBERS NULL};
#undef NUMBER
#endif
