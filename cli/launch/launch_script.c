/* SPDX-License-Identifier: MIT */
/*
 * The script that a shell on the host runs to become the agent. It runs under sh, whatever the
 * login shell is.
 *
 * Behind a relay (agent/relay/relay.h) it reports on its standard output whether an agent of this
 * version is there. If not, it takes the program, with the MPI library behind it in the same file,
 * into a directory of its own, in the first place that allows programs and that nobody else can
 * change. The directory is removed with the script, or when the agent starts. Each program that the
 * script starts delays everything that follows.
 *
 * An agent at the same path as on this host is started only if nobody but root and this user can
 * have put it there: on another host the path may be anybody's.
 */
#include "cli/launch/launch_private.h"
#include "cli/launch/slurm_job.h"
#include "common/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Looks for an agent of the right version: then $a is its path. */
#define EACH_PLACE                                                                                 \
    "for a in \"$a\" chokepoint-agent; do case $a in /*) sound \"$a\" && a=$real;; "               \
    "*) command -v \"$a\" >/dev/null;; esac && "                                                   \
    "[ \"$(\"$a\" --version 2>/dev/null)\" = \"$v\" ] && "

#define SCRIPT_SIZE (16 * 1024)
#define STEP_SCRIPT_SIZE (120 * 1024) /* Linux takes no longer argument than 128 kB */

/* sound: whether each part of a path, with links followed, belongs to root or to this user, and
 * nobody else may write to it; a directory on the way may be shared if it is sticky. ls prints for
 * each "drwxr-xr-x 2 OWNER ...". $real is then the path without links, and only $real may be used:
 * another user's link may have changed meanwhile. */
static const char sound[] =
    "sound() { { [ -x \"$1\" ] && real=$(cd -P \"${1%/*}/\" && pwd -P) && "
    "real=${real%/}/${1##*/} && "
    "(q=$real; set --; while [ -n \"$q\" ]; do set -- \"$q\" \"$@\"; q=${q%/*}; done; "
    "{ id -u; ls -ldn / \"$@\" || echo - - -; } | "
    "{ read -r me && m= && while read -r mode n owner rest; do "
    "case $m in ?????w???[!tT]*|????????w[!tT]*) exit 1;; esac; m=$mode; "
    "[ \"$owner\" = 0 ] || [ \"$owner\" = \"$me\" ] || exit 1; "
    "done; case $m in [-d]????[-]??[-]*) ;; *) exit 1;; esac; }); } 2>/dev/null; }\n";

/* $1, ...: the words of the agent, except those about where it pushes. h: the host, v: the version
 * text of an agent, u: the collector ("": the agent only examines its host), p: its pin, a: the
 * path of the agent on this host, l: whether the MPI library is requested. */
static const char deliver[] = EACH_PLACE
    "{ "
    "echo chokepoint-agent installed; exec \"$a\" "
    "${u:+--collector \"$u\" --pin \"$p\" --token-stdin} \"$@\"; }; done\n"
    "umask 077; ok=; tried=; d=\n"
    "trap 'exit 1' 1 2 13 15; trap 'rm -rf \"$d\"' 0\n"
    "for t in \"${TMPDIR:-/tmp}\" /var/tmp /dev/shm \"${HOME:-/}\"; do "
    "tried=\"$tried $t\"; d=$(mktemp -d \"$t/chokepoint-XXXXXXXX\" 2>/dev/null) || continue\n"
    "sound \"$d\" || { rmdir \"$d\"; d=; continue; }\n"
    "d=$real; f=\"$d/chokepoint-agent\"\n"
    "printf '#!/bin/sh\\n' >\"$f\" && chmod 700 \"$f\" && \"$f\" && ok=1 && break\n"
    "rm -rf \"$d\"; done 2>/dev/null\n"
    "if [ -z \"$ok\" ]; then echo \"no directory of $h takes a program (tried$tried: full, not "
    "writable, open to others or noexec); install the package chokepoint-agent there, or set "
    "TMPDIR there\" >&2; "
    "exit 1; fi\n"
    "echo \"chokepoint-agent needs $(uname -m)${l:+ shim}\"\n"
    "read -r size shim sum key || exit 1\n"
    "head -c $((size + shim)) >\"$f\" 2>/dev/null\n"
    "[ \"$(cksum <\"$f\")\" = \"$sum $((size + shim))\" ] || { echo \"the agent did not arrive "
    "whole "
    "in $d of $h; is there room for $((size + shim)) bytes?\" >&2; exit 1; }\n"
    "[ \"$(\"$f\" --version 2>/dev/null)\" = \"$v\" ] || { echo \"$h cannot run the agent that was "
    "sent; install the package chokepoint-agent there\" >&2; exit 1; }\n"
    "echo chokepoint-agent delivered; trap - 0 1 2 13 15\n"
    "CHOKEPOINT_MARKS=\"$CHOKEPOINT_MARKS${key:+-$key}\"\n"
    "exec \"$f\" --delivered \"$d\" ${l:+--library-size \"$shim\"} \"$@\"";

/* For one of several hosts of one launcher, which gives the keys of all of them to each: takes the
 * line that begins with $i, and tells how the agent ended, since the launcher then goes on. */
static const char start_member[] =
    "k=; while read -r n key; do [ \"$n\" != \"$i\" ] || { k=$key; break; }; done\n"
    "trap : 1 15\n" EACH_PLACE "{ printf '%s\\n' \"$k\" | \"$a\" \"$@\"; "
    "echo \"chokepoint-agent ended $?\"; exit 0; }; done\n"
    "echo chokepoint-agent needed";

const char *launch_scope(void) {
    const char *scope = getenv("CHOKEPOINT_SCOPE");
    return scope && *scope ? scope : slurm_in_job() ? "job" : NULL;
}

bool launch_is_relayed(const struct launch *launch, const struct launch_plan *plan) {
    return launch->method != LAUNCH_DIRECT && plan->relay[0];
}

bool launch_shell_quote(char *to, size_t size, const char *text) {
    size_t n = strlen(to);
    if (n + 2 >= size)
        return false;
    to[n++] = '\'';
    for (; *text; text++) {
        const char *piece = *text == '\'' ? "'\\''" : (char[2]){*text, 0};
        size_t length = strlen(piece);
        if (n + length + 2 > size)
            return false;
        memcpy(to + n, piece, length);
        n += length;
    }
    to[n++] = '\'';
    to[n] = '\0';
    return true;
}

static bool append_text(char *to, size_t size, const char *text) {
    size_t n = strlen(to);
    return (size_t)snprintf(to + n, size - n, "%s", text) < size - n;
}

static bool append_quoted(char *to, size_t size, const char *before, const char *text) {
    return append_text(to, size, before) && launch_shell_quote(to, size, text);
}

static bool append_environment(char *to, size_t size, const struct launch_words *words,
                               const struct launch_plan *plan) {
    const char *scope = launch_scope();
    return append_text(to, size, "unset CHOKEPOINT_TOKEN") &&
           append_quoted(to, size, "; export ", words->run) &&
           append_quoted(to, size, " ", words->marks) &&
           append_quoted(to, size, " CHOKEPOINT_AGENT=", plan->run_id) &&
           (!scope || append_quoted(to, size, "; export CHOKEPOINT_SCOPE=", scope));
}

static bool append_words(char *to, size_t size, const struct launch_words *agent) {
    bool fits = true;
    for (size_t i = 0; i < agent->n && fits; i++)
        fits = append_quoted(to, size, " ", agent->words[i]);
    return fits;
}

/* The agent is at the same path as here, if that is sound, or in the PATH. */
static bool append_start(char *to, size_t size, const struct launch_words *agent,
                         const struct launch_plan *plan) {
    return append_quoted(to, size, "; a=", plan->agent) && append_text(to, size, "\n") &&
           append_text(to, size, sound) &&
           append_text(to, size, "sound \"$a\" && a=$real || a=chokepoint-agent; exec \"$a\"") &&
           append_words(to, size, agent);
}

static bool append_delivery(char *to, size_t size, const struct launch_words *agent,
                            const struct launch *launch, const struct launch_plan *plan) {
    return append_quoted(to, size, "; a=", plan->agent) &&
           append_quoted(to, size, "; h=", launch->host) &&
           append_quoted(to, size, "; v=", "chokepoint-agent " CHOKEPOINT_VERSION) &&
           append_quoted(to, size, "; u=", agent->url) &&
           append_quoted(to, size, "; p=", plan->pin) &&
           append_quoted(to, size, "; l=", plan->asks_library ? "yes" : "") &&
           append_text(to, size, "; set --") && append_words(to, size, agent) &&
           append_text(to, size, "\n") && append_text(to, size, sound) &&
           append_text(to, size, deliver);
}

static bool append_member_head(char *to, size_t size, const struct launch_plan *plan) {
    return append_quoted(to, size, "; a=", plan->agent) &&
           append_quoted(to, size, "; v=", "chokepoint-agent " CHOKEPOINT_VERSION);
}

static bool append_member_end(char *to, size_t size) {
    return append_text(to, size, "\n") && append_text(to, size, sound) &&
           append_text(to, size, start_member);
}

static bool append_member(char *to, size_t size, const struct launch_words *agent,
                          const struct launch_plan *plan, size_t number) {
    char digits[40];
    snprintf(digits, sizeof digits, "; i=%zu; set --", number);
    return append_member_head(to, size, plan) && append_text(to, size, digits) &&
           append_words(to, size, agent) && append_member_end(to, size);
}

/* A task of an srun knows its number. */
static bool append_tasks(char *to, size_t size, const struct launch_words *agents, size_t n,
                         const struct launch_plan *plan) {
    char digits[40];
    bool fits = append_member_head(to, size, plan) &&
                append_text(to, size, "; i=$SLURM_PROCID; case $i in");
    for (size_t i = 0; i < n && fits; i++) {
        snprintf(digits, sizeof digits, " %zu) set --", i);
        fits = append_text(to, size, digits) && append_words(to, size, &agents[i]) &&
               append_text(to, size, ";;");
    }
    return fits && append_text(to, size, " esac") && append_member_end(to, size);
}

int launch_script_make_member(struct launch_words *to, const struct launch_words *agent,
                              const struct launch_plan *plan, size_t number) {
    to->script = calloc(1, SCRIPT_SIZE / 2);
    if (!to->script)
        return -ENOMEM;
    bool fits = append_environment(to->script, SCRIPT_SIZE / 2, to, plan) &&
                append_member(to->script, SCRIPT_SIZE / 2, agent, plan, number);
    return fits ? 0 : -ENAMETOOLONG;
}

int launch_script_make_step(struct launch_words *to, const struct launch_words *agents, size_t n,
                            const struct launch_plan *plan) {
    to->script = calloc(1, STEP_SCRIPT_SIZE);
    if (!to->script)
        return -ENOMEM;
    bool fits = append_environment(to->script, STEP_SCRIPT_SIZE, to, plan) &&
                append_tasks(to->script, STEP_SCRIPT_SIZE, agents, n, plan);
    return fits ? 0 : -ENAMETOOLONG;
}

int launch_script_make(struct launch_words *to, const struct launch_words *agent,
                       const struct launch *launch, const struct launch_plan *plan) {
    to->script = calloc(1, SCRIPT_SIZE / 2);
    if (!to->script)
        return -ENOMEM;
    bool fits = append_environment(to->script, SCRIPT_SIZE / 2, to, plan) &&
                (launch_is_relayed(launch, plan)
                     ? append_delivery(to->script, SCRIPT_SIZE / 2, agent, launch, plan)
                     : append_start(to->script, SCRIPT_SIZE / 2, agent, plan));
    return fits ? 0 : -ENAMETOOLONG;
}

/* Encodes what csh changes in single quotes (ends of lines, '!') and what fish changes
 * (backslashes) for printf's %b. */
static char *encode(const char *script) {
    char *text = malloc(5 * strlen(script) + 1), *to = text;
    for (; text && *script; script++)
        to += strchr("\\\n!", *script) ? sprintf(to, "\\0%03o", (unsigned char)*script)
                                       : sprintf(to, "%c", *script);
    if (text)
        *to = '\0';
    return text;
}

int launch_script_wrap(struct launch_words *to) {
    char *encoded = encode(to->script);
    free(to->script);
    to->script = encoded ? calloc(1, SCRIPT_SIZE) : NULL;
    bool fits =
        to->script && append_quoted(to->script, SCRIPT_SIZE,
                                    "exec /bin/sh -c 'eval \"$(printf %b \"$1\")\"' sh ", encoded);
    int r = fits ? 0 : to->script ? -ENAMETOOLONG : -ENOMEM;
    free(encoded);
    return r;
}
