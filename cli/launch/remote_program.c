/* SPDX-License-Identifier: MIT */
#include "cli/launch/remote_program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/options.h"
#include "common/error.h"
#include "common/own_program.h"

/* It lies beside this program (a build), or where `make install` puts it. */
static bool find_sender(char path[PATH_MAX]) {
    static const char *const places[] = {"", CHOKEPOINT_LIBEXEC_FROM_BIN "/"};
    char own[PATH_MAX];
    const char *slash = own_program_path(own) < 0 ? NULL : strrchr(own, '/');
    for (size_t i = 0; slash && i < ARRAY_SIZE(places); i++) {
        int n = snprintf(path, PATH_MAX, "%.*s/%schokepoint-remote-write", (int)(slash - own), own,
                         places[i]);
        if (n > 0 && n < PATH_MAX && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

int remote_words_check(const char *verb, const struct remote_words *words) {
    char path[PATH_MAX];
    if (!words->url && (words->token_file || words->login_file || words->authorities))
        return verb_refuse(verb, "--remote-write is missing", NULL,
                           "it has the address for the token, the login or the authorities");
    if (words->token_file && words->login_file)
        return verb_refuse(verb, "--remote-write-token with --remote-write-login", NULL,
                           "an engine wants one of them");
    if (words->url && !find_sender(path))
        return verb_refuse(verb, "this build cannot send to engines", NULL,
                           "build it with libcurl, protobuf-c and snappy (packages "
                           "libcurl4-openssl-dev, libprotobuf-c-dev, protobuf-c-compiler, "
                           "libsnappy-dev)");
    return 0;
}

int remote_call_fill(struct remote_call *call, const char *verb, const struct remote_words *words,
                     const char *database, int64_t run, bool follows) {
    const char *const pairs[][2] = {{"--db", database},
                                    {"--run", call->number},
                                    {"--verb", verb},
                                    {"--remote-write", words->url},
                                    {"--remote-write-token", words->token_file},
                                    {"--remote-write-login", words->login_file},
                                    {"--remote-write-ca", words->authorities}};
    size_t n = 0;
    int r = remote_words_check(verb, words);
    if (r)
        return r;
    find_sender(call->program);
    snprintf(call->number, sizeof call->number, "%" PRId64, run);
    call->words[n++] = call->program;
    for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
        if (!pairs[i][1])
            continue;
        call->words[n++] = pairs[i][0];
        call->words[n++] = pairs[i][1];
    }
    if (follows)
        call->words[n++] = "--follow";
    call->words[n] = NULL;
    return 0;
}
