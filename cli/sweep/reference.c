/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint sweep reference`: makes the ready sweeps, one after the other, with the data they
 * need. A sweep that cannot be made (a missing program, or data that cannot be made) costs only
 * itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/spawn.h"
#include "cli/base/verb.h"
#include "cli/launch/child.h"
#include "cli/launch/hosts_choose.h"
#include "cli/launch/run_session.h"
#include "cli/sweep/make.h"
#include "cli/sweep/references.h"
#include "cli/sweep/sweep.h"
#include "common/error.h"
#include "common/own_program.h"
#include "common/text.h"

static const char usage[] =
    "usage: chokepoint sweep reference [NAME]... [--size short|full] [OPTIONS]\n"
    "\n"
    "Makes the sweeps of published experiments with the programs that come along, and shows\n"
    "the figures of those reports beside ours. NAME: all (default), r1, r1-matmul, r2-softmax,\n"
    "r2-lenet, r3-batches, r3, r4, r5, r5-transports, backup-workers, small-updates; r2 is\n"
    "both of r2. The same words again go on with what is missing, and show what is there.\n"
    "\n";

struct options {
    const char *size, *hosts, *database, *data;
    struct sweep_target target;
    bool show, quiet;
    enum reference_size which;
    int n_repeats; /* 0: the default of the size */
    bool wanted[32];
    char bin[PATH_MAX], data_directory[PATH_MAX];
    struct hosts names;
    bool local; /* this machine is the only host: ranks share it */
};

/* ---- words ---- */

/* "r2" names the sweep "r2", and all whose names begin with "r2-". */
static bool matches(const char *word, const char *name) {
    size_t n = strlen(word);
    return strcmp(word, "all") == 0 ||
           (strncmp(word, name, n) == 0 && (name[n] == '\0' || name[n] == '-'));
}

static int choose(struct options *o, char **words) {
    for (size_t i = 0; i < n_references; i++)
        o->wanted[i] = !words[0];
    for (; *words; words++) {
        bool found = false;
        for (size_t i = 0; i < n_references; i++)
            if (matches(*words, references[i].name))
                found = o->wanted[i] = true;
        if (!found)
            return verb_refuse("sweep reference", "unknown name", *words,
                               "`chokepoint sweep reference --help` lists them");
    }
    return 0;
}

static int judge(struct options *o) {
    if (strcmp(o->size, "short") != 0 && strcmp(o->size, "full") != 0)
        return verb_refuse("sweep reference", "unknown size", o->size, "short or full");
    o->which = strcmp(o->size, "full") == 0 ? REFERENCE_FULL : REFERENCE_SHORT;
    return 0;
}

static int parse(int argc, char **argv, struct options *o) {
    const struct option_row rows[] = {
        {"--size short|full", "minutes, or what was published; default: short", .text = &o->size},
        {"--hosts FILE|A,B",
         "default: those of the testbed that it runs in, or of the batch\n"
         "system, else ranks on this machine",
         .text = &o->hosts},
        VERB_DATABASE(&o->database),
        {"--data-dir DIR",
         "where data is made, the same on all hosts; default:\n"
         "chokepoint/reference in XDG_CACHE_HOME or ~/.cache",
         .text = &o->data},
        {"-r, --repeat N", "instead of the size's own", .small = &o->n_repeats, .low = 1,
         .high = RUN_REPEATS_MAX},
        {"--show", "make nothing, show what is there", .flag = &o->show},
        {"--format FORMAT", "text, md, html, csv or json; default: by the ending of PATH",
         .text = &o->target.format},
        {"-o, --output PATH", "write there instead of to standard output", .text = &o->target.path},
        {"--pictures DIR", "also write its pictures there, as SVG; md links to them",
         .text = &o->target.pictures},
        {"-q, --quiet", "say nothing but errors", .flag = &o->quiet},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 6, 25, false};
    char **rest;
    *o = (struct options){.size = "short", .database = REPORT_DATABASE};
    int r = verb_words_read("sweep reference", &table, argc, argv, &rest);
    if (r == 0)
        r = judge(o);
    return r ? r : choose(o, rest);
}

/* ---- places ---- */

static int find_bin(struct options *o) {
    int r = own_program_path(o->bin);
    if (r == 0)
        *strrchr(o->bin, '/') = '\0';
    return r;
}

static int make_directories(const char *path) {
    char part[PATH_MAX];
    for (const char *p = path + 1;; p++) {
        if (*p && *p != '/')
            continue;
        snprintf(part, sizeof part, "%.*s", (int)(p - path), path);
        if (mkdir(part, 0777) < 0 && errno != EEXIST)
            return negative_errno();
        if (!*p)
            return 0;
    }
}

static int find_data_directory(struct options *o) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char here[PATH_MAX];
    int n;
    if (o->data && *o->data == '/')
        n = snprintf(o->data_directory, PATH_MAX, "%s", o->data);
    else if (o->data && *o->data && getcwd(here, sizeof here))
        n = snprintf(o->data_directory, PATH_MAX, "%s/%s", here, o->data);
    else if (!o->data && cache && *cache == '/')
        n = snprintf(o->data_directory, PATH_MAX, "%s/chokepoint/reference", cache);
    else if (!o->data && home && *home == '/')
        n = snprintf(o->data_directory, PATH_MAX, "%s/.cache/chokepoint/reference", home);
    else
        return -ENOENT;
    return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : make_directories(o->data_directory);
}

static int find_hosts(struct options *o) {
    const struct command_words none = {.kind = COMMAND_PLAIN};
    const char *option = o->hosts ? o->hosts : getenv("CHOKEPOINT_HOSTFILE");
    enum hosts_source source;
    char why[600];
    if (hosts_choose(option && *option ? option : NULL, &none, &o->names, &source, why,
                     sizeof why) < 0)
        return verb_complain("sweep reference", "%s", why), -EINVAL;
    o->local = source == HOSTS_LOCAL;
    if (o->local && geteuid() == 0) { /* mpirun refuses root by default */
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    }
    return 0;
}

static int find_places(struct options *o) {
    int r = find_bin(o);
    if (r == 0 && (r = find_data_directory(o)) < 0)
        verb_complain("sweep reference", "no directory for data: %s; name one with --data-dir",
                      strerror(-r));
    return r < 0 ? -EINVAL : find_hosts(o);
}

/* ---- commands ---- */

#define WORDS_MAX 128

/* Splits a template into words. */
struct reference_command {
    char *words[WORDS_MAX + 1]; /* owned */
    size_t n;
    int error;
};

static void command_release(struct reference_command *c) {
    for (size_t i = 0; i < c->n; i++)
        free(c->words[i]);
}

static void add_word(struct reference_command *c, const char *word) {
    char *copy = c->n < WORDS_MAX ? strdup(word) : NULL;
    if (copy)
        c->words[c->n++] = copy;
    else
        c->error = -ENOMEM;
}

static size_t ranks_of(const struct options *o, const struct reference *reference) {
    return o->local || o->names.n > reference->hosts ? reference->hosts : o->names.n;
}

static void add_mpirun(struct reference_command *c, const struct options *o,
                       const struct reference *reference) {
    add_word(c, "mpirun");
    if (o->local) {
        add_word(c, "--oversubscribe");
        return;
    }
    char list[8192] = "";
    size_t n = 0;
    for (size_t i = 0; i < ranks_of(o, reference) && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? "," : "", o->names.names[i]);
    add_word(c, "--host");
    add_word(c, list);
}

/* Fills in the known names; others stay. */
struct place {
    const char *name, *value;
};

static void add_filled(struct reference_command *c, const char *word, const struct place *places,
                       size_t n) {
    char filled[2 * PATH_MAX];
    size_t at = 0;
    while (*word && at + 1 < sizeof filled) {
        size_t i = 0;
        while (i < n && strncmp(word, places[i].name, strlen(places[i].name)) != 0)
            i++;
        int length = i < n ? snprintf(filled + at, sizeof filled - at, "%s", places[i].value) : 1;
        if (i == n)
            filled[at] = *word;
        at += (size_t)length;
        word += i < n ? strlen(places[i].name) : 1;
    }
    if (at >= sizeof filled - 1) {
        c->error = -ENAMETOOLONG;
        return;
    }
    filled[at] = '\0';
    add_word(c, filled);
}

static void add_words(struct reference_command *c, const char *template, const struct options *o,
                      const struct reference *reference, const struct place *places, size_t n) {
    char *copy = strdup(template), *rest = NULL;
    for (char *word = copy ? strtok_r(copy, " ", &rest) : NULL; word;
         word = strtok_r(NULL, " ", &rest))
        if (strcmp(word, "{mpirun}") == 0)
            add_mpirun(c, o, reference);
        else if (strcmp(word, "{extent}") == 0)
            add_words(c, reference->extent[o->which], o, reference, places, n);
        else
            add_filled(c, word, places, n);
    c->error = copy ? c->error : -ENOMEM;
    free(copy);
}

/* ---- data ---- */

static void data_path(const struct options *o, const struct reference_data *data,
                      char path[PATH_MAX]) {
    int n = snprintf(path, PATH_MAX, "%s/%s-%s", o->data_directory, data->name, o->size);
    if (n < 0 || n >= PATH_MAX)
        *path = '\0';
}

/* Made under another name, so that incomplete data never pass for complete ones. */
static int make_data(const struct options *o, const struct reference_data *data, const char *path) {
    struct reference_command c = {0};
    char unfinished[PATH_MAX + 8], why[256] = "";
    snprintf(unfinished, sizeof unfinished, "%s.part", path);
    const struct place places[] = {{"{bin}", o->bin}, {"{out}", unfinished}};
    add_words(&c, data->generate[o->which], o, NULL, places, ARRAY_SIZE(places));
    if (!o->quiet)
        verb_complain(NULL, "making data: %s", path);
    int r = c.error ? c.error : spawn_tool(NULL, (const char *const *)c.words, why, sizeof why);
    command_release(&c);
    if (r == 0 && rename(unfinished, path) < 0)
        r = negative_errno();
    if (r)
        verb_complain("sweep reference", "no data in %s: %s", path, r < 0 ? strerror(-r) : why);
    return r;
}

static int ensure_data(const struct options *o, const struct reference *reference,
                       char path[PATH_MAX]) {
    *path = '\0';
    if (!reference->data)
        return 0;
    data_path(o, reference->data, path);
    if (!*path)
        return -ENAMETOOLONG;
    return access(path, F_OK) == 0 ? 0 : make_data(o, reference->data, path);
}

/* ---- one sweep ---- */

static void sweep_name(const struct options *o, const struct reference *reference,
                       char name[SWEEP_TEXT_MAX]) {
    snprintf(name, SWEEP_TEXT_MAX, "%s-%s", reference->name, o->size);
}

static int add_parameters(const struct options *o, const struct reference *reference,
                          struct sweep_parameters *parameters, char *why) {
    int r = 0;
    for (size_t i = 0; i < ARRAY_SIZE(reference->parameters) && r == 0; i++)
        if (reference->parameters[i].name)
            r = parameters_add_list(parameters, reference->parameters[i].name,
                                    reference->parameters[i].values[o->which], why);
    return r;
}

/* The command's own output is not needed here. */
static int silence(void) {
    int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_WRONLY);
    fflush(stdout);
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        close(null);
    }
    return kept;
}

static void speak_again(int kept) {
    if (kept < 0)
        return;
    dup2(kept, STDOUT_FILENO);
    close(kept);
}

static int make(const struct options *o, const struct reference *reference,
                struct reference_command *c) {
    struct run_words words;
    struct sweep_parameters parameters = {0};
    struct sweep_request request = {.parameters = &parameters, .quiet = o->quiet};
    char name[SWEEP_TEXT_MAX], why[PARAMETERS_WHY] = "";
    run_words_init(&words);
    sweep_name(o, reference, name);
    words.options.name = name;
    words.options.database = o->database;
    words.options.command = c->words;
    words.start_timeout_s = 60;
    words.options.repeats = o->n_repeats ? o->n_repeats : reference->repeats[o->which];
    int r = add_parameters(o, reference, &parameters, why);
    if (r == 0)
        r = parameters_check(&parameters, c->words, why);
    if (r < 0)
        verb_complain("sweep reference", "%s: %s", reference->name, why);
    if (r == 0)
        r = run_words_judge("sweep reference", &words, &request.options);
    request.name = name;
    int kept = silence();
    int status = r ? EXIT_USAGE : sweep_make(&request);
    speak_again(kept);
    parameters_release(&parameters);
    return status;
}

/* The program is the first word in the directory of these programs. */
static bool has_program(const struct options *o, const struct reference *reference,
                        const struct reference_command *c) {
    for (size_t i = 0; i < c->n; i++)
        if (strncmp(c->words[i], o->bin, strlen(o->bin)) == 0 && access(c->words[i], X_OK) < 0) {
            verb_complain("sweep reference", "%s is left out: %s is not there", reference->name,
                          c->words[i]);
            return false;
        }
    return true;
}

static int make_reference(const struct options *o, const struct reference *reference) {
    struct reference_command c = {0};
    char data[PATH_MAX], ranks[24];
    snprintf(ranks, sizeof ranks, "%zu", ranks_of(o, reference));
    const struct place places[] = {{"{bin}", o->bin}, {"{data}", data}, {"{ranks}", ranks}};
    int status = ensure_data(o, reference, data) ? 1 : 0;
    if (status == 0)
        add_words(&c, reference->command, o, reference, places, ARRAY_SIZE(places));
    if (status == 0 && c.error) {
        verb_complain("sweep reference", "%s: %s", reference->name, strerror(-c.error));
        status = 1;
    }
    if (status == 0)
        status = has_program(o, reference, &c) ? make(o, reference, &c) : 1;
    command_release(&c);
    return status;
}

/* ---- all sweeps ---- */

static int make_references(const struct options *o) {
    int status = 0;
    for (size_t i = 0; i < n_references; i++) {
        int own = o->wanted[i] ? make_reference(o, &references[i]) : 0;
        if (own > 128) /* interrupted */
            return own;
        status = status ? status : own;
    }
    return status;
}

static bool has_sweep(const char *database, const char *name) {
    struct store *store;
    struct store_sweep sweep;
    if (store_open_read(database, &store, NULL, 0) != 0)
        return false;
    bool has = store_find_sweep(store, name, &sweep) == 0;
    if (has)
        store_sweep_release(&sweep);
    store_close(store);
    return has;
}

static int show_all(const struct options *o) {
    struct sweep_view *views = calloc(n_references, sizeof *views);
    char(*names)[SWEEP_TEXT_MAX] = calloc(n_references, sizeof *names);
    size_t n = 0;
    int status = views && names ? 0 : 1;
    for (size_t i = 0; status == 0 && i < n_references; i++) {
        const struct reference *r = &references[i];
        sweep_name(o, r, names[n]);
        if (!o->wanted[i] || !has_sweep(o->database, names[n]))
            continue;
        views[n] = (struct sweep_view){names[n], r->title, r->words, r->measures, r->tables, 2};
        n++;
    }
    if (status == 0 && n == 0) {
        verb_complain("sweep reference", "these sweeps are not in %s yet", o->database);
        status = EXIT_USAGE;
    } else if (status == 0)
        status = sweep_show(o->database, views, n, &o->target);
    free(views);
    free(names);
    return status;
}

int sweep_reference_main(int argc, char **argv) {
    struct options o;
    int status = 0, r = parse(argc, argv, &o);
    if (r)
        return verb_words_status(r);
    if (o.target.format || o.target.path) /* checked before an hour is spent */
        r = report_choose_format("sweep reference", o.target.format, o.target.path) ? 0 : -EINVAL;
    if (r == 0 && !o.show)
        r = find_places(&o);
    if (r < 0)
        return EXIT_USAGE;
    if (o.target.pictures && !o.show) /* checked before, too */
        status = sweep_pictures_directory("sweep reference", o.target.pictures);
    if (status)
        return hosts_release(&o.names), status;
    if (!o.show)
        status = make_references(&o);
    int shown = status > 128 ? 0 : show_all(&o);
    hosts_release(&o.names);
    return status ? status : shown;
}
