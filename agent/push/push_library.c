/* SPDX-License-Identifier: MIT */
#include "agent/push/push_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "common/error.h"

#define SYMBOL(name)                                                                               \
    { "curl_" #name, offsetof(struct push_library, name) }

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    SYMBOL(global_init),     SYMBOL(global_cleanup),   SYMBOL(easy_init),
    SYMBOL(easy_cleanup),    SYMBOL(easy_setopt),      SYMBOL(easy_getinfo),
    SYMBOL(easy_strerror),   SYMBOL(multi_init),       SYMBOL(multi_cleanup),
    SYMBOL(multi_setopt),    SYMBOL(multi_add_handle), SYMBOL(multi_remove_handle),
    SYMBOL(multi_perform),   SYMBOL(multi_poll),       SYMBOL(multi_wakeup),
    SYMBOL(multi_info_read),
};

/* libcurl's own state belongs to the process, too. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct push_library loaded;
static const struct push_library *library;

static void load(void) {
    void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
        void *symbol = handle ? dlsym(handle, symbols[i].name) : NULL;
        if (!symbol)
            return;
        memcpy((char *)&loaded + symbols[i].offset, &symbol, sizeof symbol);
    }
    library = &loaded;
}

const struct push_library *push_library(void) {
    pthread_once(&once, load);
    return library;
}
