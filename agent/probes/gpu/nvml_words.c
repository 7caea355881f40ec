/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "agent/probes/gpu/nvml.h"
#include "common/error.h"

const char *nvml_call_name(enum nvml_call call) {
    static const char *const names[] = {
#define CALL(ID, name, older, parameters) name,
#include "agent/probes/gpu/nvml_calls.def"
#undef CALL
    };
    return names[call];
}

const char *nvml_answer_words(int answer) {
    static const char *const words[] = {"good",
                                        "not initialized",
                                        "invalid argument",
                                        "not supported",
                                        "no permission",
                                        "already initialized",
                                        "not found",
                                        "too little room",
                                        "no external power",
                                        "driver not loaded",
                                        "timeout",
                                        "interrupt trouble",
                                        "library not found",
                                        "this driver has no such function",
                                        "inforom is corrupt",
                                        "the GPU is lost",
                                        "the GPU must be reset",
                                        "the operating system refused",
                                        "library and driver differ in version",
                                        "in use",
                                        "no memory",
                                        "no data"};
    static _Thread_local char other[32];
    if (answer == NVML_NEVER_ASKED)
        return "not asked";
    if (answer >= 0 && (size_t)answer < ARRAY_SIZE(words))
        return words[answer];
    snprintf(other, sizeof other, "answer %d", answer);
    return other;
}
