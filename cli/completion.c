/* SPDX-License-Identifier: MIT */
/* `chokepoint completion SHELL`: scripts with which shells complete verbs and options. */
#include "cli/base/complete.h"
#include "cli/base/options.h"
#include "cli/verbs.h"
#include "collector/store_read.h"
#include "common/error.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: chokepoint completion bash|zsh|fish\n"
    "\n"
    "Prints what that shell needs to complete verbs and options. An installed Chokepoint has it\n"
    "in place; otherwise:\n"
    "\n"
    "  bash   source <(chokepoint completion bash)\n"
    "  zsh    source <(chokepoint completion zsh)    after compinit\n"
    "  fish   chokepoint completion fish | source\n";

static void ask(const struct verb *verb, const char *shell) {
    char word[128], name[32];
    char *argv[] = {name, word, NULL};
    bool formats = verb->formats && strcmp(shell, "zsh") == 0;
    snprintf(name, sizeof name, "%s", verb->name);
    snprintf(word, sizeof word, COMPLETE_WORD "%s%s%s", shell, formats ? " " : "",
             formats ? verb->formats : "");
    verb->main(2, argv);
}

static void put_verbs(void) {
    for (size_t i = 0; i < n_verbs; i++)
        printf("%s ", verbs[i]->name);
    fputs("help", stdout);
}

/* ---- bash ---- */

static const char bash_end[] =
    "    esac\n"
    "    local i=2 word before=none\n"
    "    [[ \" ${COMP_WORDS[*]:1:COMP_CWORD-1} \" != *\" -- \"* ]] || return\n"
    "    while ((command && i < COMP_CWORD)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        [[ $word == -* || $valued == *\" $before \"* ]] || return\n"
    "        before=$word\n"
    "        ((i++))\n"
    "    done\n"
    "    local db=\n"
    "    for ((i = 2; i < COMP_CWORD - 1; i++)); do\n"
    "        [[ ${COMP_WORDS[i]} != --db ]] || db=${COMP_WORDS[i + 1]}\n"
    "    done\n"
    "    before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    if [[ $before == --format && $formats ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$formats\" -- \"$now\"))\n"
    "    elif [[ $before == --hosts || $before == --baseline || ($runs == 1 && $now != -* &&\n"
    "        $valued != *\" $before \"*) ]]; then\n"
    "        [[ $before == --hosts ]] && before=hosts || before=runs\n"
    "        COMPREPLY=($(compgen -W \"$(chokepoint completion values $before \"$db\" "
    "2>/dev/null)\" "
    "-- \"$now\"))\n"
    "    elif [[ $valued == *\" $before \"* ]]; then\n"
    "        return\n"
    "    elif [[ $now == -* ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$options\" -- \"$now\"))\n"
    "    elif ((COMP_CWORD == 2)); then\n"
    "        COMPREPLY=($(compgen -W \"$words\" -- \"$now\"))\n"
    "    fi\n"
    "}\n"
    "complete -o default -o bashdefault -F _chokepoint chokepoint\n";

static void put_bash(void) {
    fputs("# bash completion of chokepoint; made by `chokepoint completion bash`\n"
          "_chokepoint() {\n"
          "    local now=${COMP_WORDS[COMP_CWORD]} options= valued= words= formats= runs=0 "
          "command=0\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        COMPREPLY=($(compgen -W '--help --version ",
          stdout);
    put_verbs();
    fputs("' -- \"$now\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n        help)\n"
          "            words='",
          stdout);
    put_verbs();
    fputs("' ;;\n", stdout);
    for (size_t i = 0; i < n_verbs; i++) {
        printf("        %s)\n", verbs[i]->name);
        if (verbs[i]->words)
            printf("            words='%s'\n", verbs[i]->words);
        if (verbs[i]->formats)
            printf("            formats='%s'\n", verbs[i]->formats);
        if (verbs[i]->takes_runs)
            puts("            runs=1");
        ask(verbs[i], "bash");
        puts("            ;;");
    }
    fputs(bash_end, stdout);
}

/* ---- zsh ---- */

static void put_zsh(void) {
    puts("#compdef chokepoint\n"
         "# zsh completion of chokepoint; made by `chokepoint completion zsh`\n"
         "_chokepoint() {\n"
         "    if ((CURRENT == 2)); then\n"
         "        local -a verbs=(");
    for (size_t i = 0; i < n_verbs; i++)
        printf("            '%s:%s'\n", verbs[i]->name, verbs[i]->help);
    puts("            'help:what a verb does'\n        )\n        _describe verb verbs\n"
         "        return\n    fi\n"
         "    local verb=$words[2]\n    local -a options\n"
         "    words=(\"${(@)words[2,-1]}\")\n    ((CURRENT--))\n    case $verb in");
    for (size_t i = 0; i < n_verbs; i++) {
        printf("        %s) options=(\n", verbs[i]->name);
        if (verbs[i]->words)
            printf("            '1:word:(%s)'\n", verbs[i]->words);
        if (verbs[i]->takes_runs)
            puts("            '*:run:{compadd -- $(chokepoint completion values runs)}'");
        ask(verbs[i], "zsh");
        puts("        ) ;;");
    }
    printf("        help) options=('1:verb:(");
    put_verbs();
    puts(")') ;;\n    esac\n    _arguments -S $options '--help[what the verb does]' "
         "'*:file:_files'\n}\n"
         "if [[ $funcstack[1] == _chokepoint ]]; then\n    _chokepoint \"$@\"\nelse\n"
         "    compdef _chokepoint chokepoint\nfi");
}

/* ---- fish ---- */

static void put_fish(void) {
    puts("# fish completion of chokepoint; made by `chokepoint completion fish`");
    for (size_t i = 0; i < n_verbs; i++) {
        const struct verb *verb = verbs[i];
        printf("complete -c chokepoint -n __fish_use_subcommand -f -a %s -d '%s'\n", verb->name,
               verb->help);
        if (verb->words)
            printf("complete -c chokepoint -n '__fish_seen_subcommand_from %s' -a '%s'\n",
                   verb->name, verb->words);
        if (verb->takes_runs)
            printf("complete -c chokepoint -n '__fish_seen_subcommand_from %s' -f -a "
                   "'(chokepoint completion values runs)'\n",
                   verb->name);
        if (verb->formats)
            printf("complete -c chokepoint -n '__fish_seen_subcommand_from %s' -l format -x -a "
                   "'%s'\n",
                   verb->name, verb->formats);
        ask(verb, "fish");
    }
    printf("complete -c chokepoint -n __fish_use_subcommand -f -a help -d 'what a verb does'\n"
           "complete -c chokepoint -n '__fish_seen_subcommand_from help' -f -a '");
    put_verbs();
    puts("'");
}

static const struct shell {
    const char *name;
    void (*put)(void);
} shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};

/* ---- values that a database has ---- */

/* Shells would expand other characters, and a recording may be a stranger's. */
static void put_value(const char *name) {
    if (*name && *name != '-' &&
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789._+-") == strlen(name))
        puts(name);
}

static void put_hosts(struct store *store, int64_t run) {
    struct store_host *hosts;
    size_t n;
    if (store_list_hosts(store, run, &hosts, &n) < 0)
        return;
    for (size_t i = 0; i < n; i++)
        put_value(hosts[i].name);
    store_hosts_free(hosts, n);
}

/* Without a database there is nothing to offer, which is no failure. */
static int put_values(const char *kind, const char *database) {
    struct store *store;
    struct store_run *runs;
    size_t n;
    if (store_open_read(database && *database ? database : "./chokepoint.db", &store, NULL, 0))
        return 0;
    if (store_list_runs(store, &runs, &n) == 0) {
        bool of_runs = strcmp(kind, "runs") == 0;
        for (size_t i = n; of_runs && i-- > 0;) {
            printf("%lld\n", (long long)runs[i].id);
            put_value(runs[i].name);
        }
        if (of_runs && n)
            puts("last");
        if (!of_runs && n)
            put_hosts(store, runs[n - 1].id);
        store_runs_free(runs, n);
    }
    store_close(store);
    return fflush(stdout) ? 1 : 0;
}

static int completion_main(int argc, char **argv) {
    const struct option_table table = {.usage = usage};
    char **rest;
    int r = verb_words_read("completion", &table, argc, argv, &rest);
    if (r == 0 && rest[0] && strcmp(rest[0], "values") == 0 && rest[1])
        return put_values(rest[1], rest[2]);
    if (r == 0 && (!rest[0] || rest[1]))
        r = verb_refuse("completion", "one shell at a time", NULL, "bash, zsh or fish");
    if (r)
        return verb_words_status(r);
    for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
        if (strcmp(rest[0], shells[i].name) == 0)
            return shells[i].put(), fflush(stdout) ? 1 : 0;
    verb_refuse("completion", "unknown shell", rest[0], "bash, zsh or fish");
    return EXIT_USAGE;
}

const struct verb verb_completion = {.name = "completion",
                                     .help = "print completion for bash, zsh or fish",
                                     .main = completion_main,
                                     .words = "bash zsh fish"};
