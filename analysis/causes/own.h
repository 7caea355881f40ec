/* SPDX-License-Identifier: MIT */
/*
 * A cause includes this after the lists of its own numbers and remarks.
 *   OWN_NUMBERS: NUMBER(name, value, unit, where it comes from or what it means)
 *   OWN_REMARKS: REMARK(code, sentence, SLOTS(numbers with their units), SLOTS(names))
 * It makes number_NAME for number_of(), remark_CODE for remarks_add(), and the lists own_numbers
 * and own_remarks for the descriptor.
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

#ifdef OWN_REMARKS
#define SLOTS REMARK_COUNT
enum {
#define REMARK(code, sentence, numbers, names, ...)                                                \
    REMARK_##code##_NUMBERS = numbers, REMARK_##code##_NAMES = names,
    OWN_REMARKS
#undef REMARK
};
#undef SLOTS

#define SLOTS REMARK_SLOTS
#define REMARK(x, sentence_, numbers_, names_, ...)                                                \
    static const struct remark_kind remark_##x = {.code = REMARK_OF_CAUSE,                         \
                                                  .name = #x,                                      \
                                                  .sentence = sentence_,                           \
                                                  .n_numbers = REMARK_##x##_NUMBERS,               \
                                                  .n_names = REMARK_##x##_NAMES,                   \
                                                  .numbers = numbers_,                             \
                                                  .names = names_,                                 \
                                                  __VA_ARGS__};
OWN_REMARKS
#undef REMARK
#undef SLOTS

#define REMARK(code, ...) &remark_##code,
static const struct remark_kind *const own_remarks[] = {OWN_REMARKS NULL};
#undef REMARK
#endif
