/* SPDX-License-Identifier: MIT */
#include "cli/serve/options.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/serve/route.h"
#include "common/error.h"
#include "common/secret.h"
#include "common/text.h"

#define DEFAULT_PORT 8642

static const char usage[] =
    "usage: chokepoint serve [RUN] [--db FILE] [--port N]\n"
    "                        [--listen ADDRESS --tls --token-file FILE]\n"
    "\n"
    "Serves a page to a browser until it is interrupted: the runs in a database, the report of\n"
    "each, two of them compared, and a run that goes on as it goes on. Nothing can be changed\n"
    "there. Prints the page's address; with RUN (a number, or last) that of its live view.\n"
    "\n";

static int refuse(const char *what, const char *word, const char *advice) {
    return verb_refuse("serve", what, word, advice);
}

static int judge_address(struct serve_options *o) {
    struct in6_addr v6;
    struct in_addr v4;
    if (inet_pton(AF_INET, o->address, &v4) == 1)
        o->loopback = ntohl(v4.s_addr) >> 24 == 127;
    else if (inet_pton(AF_INET6, o->address, &v6) == 1)
        o->loopback = IN6_IS_ADDR_LOOPBACK(&v6);
    else
        return refuse("--listen", o->address, "give a numeric address such as 127.0.0.1 or ::1");
    return 0;
}

/* ---- the token ---- */

static int judge_token(const char *token, const char *path) {
    size_t size = strlen(token);
    bool good = size >= GUARD_TOKEN_MIN && size <= GUARD_TOKEN_MAX;
    for (size_t i = 0; good && i < size; i++)
        good = token[i] > ' ' && token[i] < 127;
    return good ? 0
                : refuse("no token in the first line of", path,
                         "it must have 16 to 128 printable characters without blanks");
}

/* A token that other users can read is no secret. */
static int read_token(struct serve_options *o, const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0) {
        int r = refuse("--token-file", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return r;
    }
    int r = !S_ISREG(st.st_mode) ? refuse("--token-file", path, "that is no regular file")
            : st.st_mode & 077   ? refuse("others can read", path, "make it private: chmod 600")
                                 : secret_read_line(fd, o->token, sizeof o->token);
    close(fd);
    if (r == -EINVAL)
        return r;
    return judge_token(r < 0 ? "" : o->token, path);
}

static int judge(struct serve_options *o, const char *token_file) {
    int r = judge_address(o);
    if (r == 0 && !o->database[0])
        r = refuse("an empty name", NULL, "--db needs one");
    if (r == 0 && o->run && !route_is_run(o->run))
        r = refuse("unknown run", o->run, "give its number, or last");
    if (r == 0 && !o->loopback && (!o->tls || !token_file))
        r = refuse("others can reach", o->address, "this needs --tls and --token-file FILE");
    return r == 0 && token_file ? read_token(o, token_file) : r;
}

int serve_options_read(int argc, char **argv, struct serve_options *ret_options) {
    struct serve_options *o = ret_options;
    const char *token_file = NULL;
    bool port_given = false;
    int port = DEFAULT_PORT;
    const struct option_row rows[] = {
        VERB_DATABASE(&o->database),
        {"--port N", "default: 8642, or any other if that is taken; 0: any", .small = &port,
         .high = UINT16_MAX, .given = &port_given},
        {"--listen ADDRESS",
         "numeric; default: 127.0.0.1, where this user alone is answered. One\n"
         "that others can reach needs --tls and --token-file",
         .text = &o->address},
        {"--tls", "speak TLS, with a certificate that is made now", .flag = &o->tls},
        {"--token-file FILE",
         "answer whoever shows the token in the first line of FILE, or opens\n"
         "the address that is printed, once",
         .text = &token_file},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 21, false};
    char **rest;
    *o = (struct serve_options){.database = REPORT_DATABASE, .address = "127.0.0.1"};
    int r = verb_words_read("serve", &table, argc, argv, &rest);
    if (r)
        return r;
    if (rest[0] && rest[1])
        return refuse("one word too many:", rest[1], "chokepoint serve [RUN] [--db FILE]");
    o->run = rest[0];
    o->port = (uint16_t)port;
    o->any_port = !port_given;
    return judge(o, token_file);
}
