/* SPDX-License-Identifier: MIT */
/* Names of rows as another user's database may have them: a byte that chooses the form, then text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tables/keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(struct span span, const char *text, size_t size) {
    if (span.size && (span.data < text || span.data + span.size > text + size))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char again[INSTANCE_MAX + 1];
    if (!size)
        return 0;
    enum key_form form = KEY_CORE + data[0] % (KEY_GPU_PROCESS - KEY_CORE + 1);
    char *text = malloc(size);
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    struct table_key key = key_read(form, text);
    if (key.form != KEY_UNKNOWN && (key_write(&key, again) != strlen(text) || strcmp(again, text)))
        abort();
    if (key.form == KEY_PROCESS || key.form == KEY_PAIR) {
        look_at(key.process.program, text, size);
        look_at(key.waker.program, text, size);
    } else if (key.form == KEY_GPU_PROCESS) {
        look_at(key.gpu, text, size);
        look_at(key.process.program, text, size);
    } else if (key.form == KEY_FLOW || key.form == KEY_QUEUE) {
        look_at(key.interface, text, size);
    } else if (key.form == KEY_OPERATION) {
        look_at(key.export, text, size);
    } else if (key.form == KEY_RANK) {
        look_at(key.function, text, size);
    }
    free(text);
    return 0;
}
