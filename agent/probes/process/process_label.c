/* SPDX-License-Identifier: MIT */
/*
 * Finds the name of the program among an interpreter's words. It only needs to know which options
 * take a value. In a title ("postgres: 15/main: checkpointer") the plain words are the role; words
 * with digits, signs or an address may be a user's data.
 */
#include "agent/probes/process/process_label.h"

#include <stdbool.h>
#include <string.h>

#include "common/error.h"

bool process_word_ends(struct span word, const char *ending) {
    size_t n = strlen(ending);
    return word.size > n && memcmp(word.data + word.size - n, ending, n) == 0;
}

/* ---- words ---- */

struct arguments {
    const char *p, *end;
};

/* Takes the next argument; false at the end. */
static bool next(struct arguments *arguments, struct span *ret_word) {
    const char *p = arguments->p, *end = arguments->end;
    if (p >= end)
        return false;
    const char *nul = memchr(p, '\0', (size_t)(end - p));
    if (!nul)
        return false; /* the kernel cut the text: its last word is incomplete */
    *ret_word = (struct span){p, (size_t)(nul - p)};
    arguments->p = nul + 1;
    return true;
}

static struct span behind_last(struct span word, char sign) {
    const char *at = memrchr(word.data, sign, word.size);
    return at ? (struct span){at + 1, (size_t)(word.data + word.size - at - 1)} : word;
}

/* Whether the word is in a list in which a blank follows each word. */
static bool is_listed(struct span word, const char *list) {
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, " ");
        if (n == word.size && memcmp(p, word.data, n) == 0)
            return true;
        p += n + (p[n] == ' ');
    }
    return false;
}

/* Replaces brackets, which belong to the id: "comm script[pid]". */
static size_t put(char *label, size_t at, struct span text) {
    for (size_t i = 0; i < text.size && at < LABEL_MAX; i++) {
        char c = text.data[i];
        label[at++] = c == '[' ? '(' : c == ']' ? ')' : c;
    }
    label[at] = '\0';
    return at;
}

/* Copies the kernel's name unchanged. */
static size_t put_comm(char *label, struct span comm) {
    size_t n = comm.size < LABEL_MAX ? comm.size : LABEL_MAX;
    memcpy(label, comm.data, n);
    label[n] = '\0';
    return n;
}

/* ---- interpreters ---- */

struct interpreter {
    const char *names;   /* names of the program; a version may follow */
    const char *valued;  /* options whose value is the next word */
    const char *letters; /* letters that take the rest of the word, or the next word */
    const char *inlined; /* the program's text is in the command line */
    const char *module;  /* the next word is a module */
};

static const struct interpreter interpreters[] = {
    {"python pypy", "--check-hash-based-pycs ", "WX", "c", "m"},
    {"perl", "", "IMmF", "eE", ""},
    {"ruby", "", "rIE", "e", ""},
    {"node nodejs", "-r --require --import --loader --experimental-loader -C --conditions ", "",
     "ep", ""},
    {"bash sh dash zsh ksh", "--rcfile --init-file ", "oO", "c", ""},
    {"php", "-d -c -z ", "", "r", "f"},
    {"lua luajit", "", "l", "e", ""},
};

static bool has_version(struct span text) {
    for (size_t i = 0; i < text.size; i++)
        if (!strchr("0123456789.-", text.data[i]) || !text.data[i])
            return false;
    return true;
}

static const struct interpreter *find_interpreter(struct span comm) {
    for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++)
        for (const char *p = interpreters[i].names; *p;) {
            size_t n = strcspn(p, " ");
            if (comm.size >= n && memcmp(comm.data, p, n) == 0 &&
                has_version((struct span){comm.data + n, comm.size - n}))
                return &interpreters[i];
            p += n + (p[n] == ' ');
        }
    return NULL;
}

enum program { PROGRAM_NONE, PROGRAM_FILE, PROGRAM_MODULE };

static bool has_letter(const char *letters, char c) {
    return c && strchr(letters, c);
}

/* Options in one word, as "-uBm"; one of the letters may end the options. PROGRAM_NONE and
 * *ret_stop: no name follows. */
static enum program read_letters(const struct interpreter *of, struct span word,
                                 struct arguments *arguments, struct span *ret_name,
                                 bool *ret_stop) {
    struct span value;
    for (size_t i = 1; i < word.size; i++) {
        char c = word.data[i];
        struct span rest = {word.data + i + 1, word.size - i - 1};
        if (has_letter(of->inlined, c))
            return *ret_stop = true, PROGRAM_NONE;
        if (has_letter(of->letters, c)) {
            if (!rest.size)
                next(arguments, &value);
            return PROGRAM_NONE;
        }
        if (has_letter(of->module, c)) {
            *ret_stop = true;
            *ret_name = rest;
            return rest.size || next(arguments, ret_name) ? PROGRAM_MODULE : PROGRAM_NONE;
        }
    }
    return PROGRAM_NONE;
}

static enum program find_program(const struct interpreter *of, struct arguments *arguments,
                                 struct span *ret_name) {
    struct span word, value;
    for (bool stop = false; !stop && next(arguments, &word);) {
        bool option = word.size > 1 && (word.data[0] == '-' || word.data[0] == '+');
        if (span_equal(word, "--"))
            return next(arguments, ret_name) ? PROGRAM_FILE : PROGRAM_NONE;
        if (!option)
            return *ret_name = word, word.size > 1 ? PROGRAM_FILE : PROGRAM_NONE;
        if (is_listed(word, of->valued)) {
            next(arguments, &value);
        } else if (word.data[1] != '-') {
            enum program found = read_letters(of, word, arguments, ret_name, &stop);
            if (found)
                return found;
        } else if (span_starts(word, "--eval") || span_starts(word, "--print")) {
            return PROGRAM_NONE;
        }
    }
    return PROGRAM_NONE;
}

/* ---- launchers that are modules ---- */

/* torch.distributed.run: all options except a few have a value; the script follows. */
static bool find_launched(struct arguments *arguments, struct span *ret_name) {
    static const char flags[] = "--standalone --no-python --no_python --run-path --run_path "
                                "--use-env --use_env -m --module --help -h ";
    struct span word, value;
    while (next(arguments, &word)) {
        if (!word.size)
            return false;
        if (word.data[0] != '-')
            return *ret_name = word, true;
        if (!is_listed(word, flags) && !memchr(word.data, '=', word.size))
            next(arguments, &value);
    }
    return false;
}

static bool is_launcher(struct span module) {
    return span_equal(module, "torch.distributed.run") ||
           span_equal(module, "torch.distributed.launch");
}

/* ---- Java ---- */

/* "java -cp ... org.example.Worker", "java -jar x.jar", "java -m module/org.example.Worker" */
static bool find_class(struct arguments *arguments, struct span *ret_name) {
    static const char valued[] = "-cp -classpath --class-path -p --module-path --add-modules "
                                 "--add-opens --add-exports --add-reads --limit-modules "
                                 "--upgrade-module-path --patch-module --source -d "
                                 "--describe-module --enable-native-access ";
    struct span word, value;
    while (next(arguments, &word)) {
        bool names_next = is_listed(word, "-jar -m --module ");
        if (names_next && !next(arguments, &word))
            return false;
        if (!word.size || (!names_next && word.data[0] == '@'))
            return false;
        if (names_next || word.data[0] != '-') {
            word = behind_last(word, '/');
            bool file = process_word_ends(word, ".jar") || process_word_ends(word, ".java");
            return *ret_name = file ? word : behind_last(word, '.'), ret_name->size > 0;
        }
        if (is_listed(word, valued))
            next(arguments, &value);
    }
    return false;
}

/* ---- titles ---- */

#define ROLE_WORDS 4

/* Letters, with a dash or an underscore inside. */
static bool is_plain(struct span word) {
    for (size_t i = 0; i < word.size; i++) {
        unsigned char c = (unsigned char)word.data[i];
        bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';
        if (!letter && (i == 0 || (c != '-' && c != '_')))
            return false;
    }
    return word.size > 0;
}

/* "user database [local] idle", "user database 10.0.0.2(51234) SELECT" */
static bool is_session(const char *p, const char *end) {
    struct span word = {p, 0};
    for (int i = 0; i < 3; i++)
        if (!text_word(&p, end, &word))
            return false;
    return word.data[0] == '[' || memchr(word.data, '(', word.size);
}

/* "checkpointer", "worker process". A client's session gets one word, without its data. */
static size_t put_role(char *label, size_t at, const char *p, const char *end) {
    struct span word;
    if (is_session(p, end))
        return put(label, at, (struct span){": session", strlen(": session")});
    for (int i = 0; i < ROLE_WORDS && text_word(&p, end, &word) && is_plain(word); i++) {
        at = put(label, at, (struct span){": ", i ? 0 : 1});
        at = put(label, at, (struct span){" ", 1});
        at = put(label, at, word);
    }
    return at;
}

/* The title follows "comm: ", and the name of an instance if there is one: "postgres: 15/main:
 * checkpointer". */
static bool find_title(struct span comm, struct span first, struct span *ret_title) {
    const char *end = first.data + first.size, *colon = memmem(first.data, first.size, ": ", 2);
    size_t n = colon ? (size_t)(colon - first.data) : 0;
    size_t common = n < comm.size ? n : comm.size;
    if (!n || memcmp(first.data, comm.data, common) != 0 || memchr(first.data, ' ', n))
        return false;
    const char *p = colon + 2, *q = p;
    struct span word;
    if (text_word(&q, end, &word) && word.data[word.size - 1] == ':')
        p = q;
    *ret_title = (struct span){p, (size_t)(end - p)};
    return true;
}

/* ---- together ---- */

size_t process_label(struct span comm, struct span arguments, char *label) {
    struct arguments words = {arguments.data, arguments.data + arguments.size};
    struct span first, name = {NULL, 0}, launched, title;
    size_t at = put_comm(label, comm);
    if (!next(&words, &first))
        return at;
    if (find_title(comm, first, &title))
        return put_role(label, at, title.data, title.data + title.size);
    const struct interpreter *of = find_interpreter(comm);
    enum program found = of ? find_program(of, &words, &name) : PROGRAM_NONE;
    if (!of && span_equal(comm, "java") && find_class(&words, &name))
        found = PROGRAM_MODULE;
    if (found == PROGRAM_FILE)
        name = behind_last(name, '/');
    if (found == PROGRAM_NONE || !name.size)
        return at;
    at = put(label, put(label, at, (struct span){" ", 1}), name);
    if (found == PROGRAM_MODULE && is_launcher(name) && find_launched(&words, &launched))
        at = put(label, put(label, at, (struct span){" ", 1}), behind_last(launched, '/'));
    return at;
}

size_t process_label_add(char *label, size_t size, const char *role) {
    if (!*role)
        return size;
    return put(label, put(label, size, (struct span){" ", 1}), (struct span){role, strlen(role)});
}
