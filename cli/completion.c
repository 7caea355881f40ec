/* SPDX-License-Identifier: MIT */
/* `chokepoint completion SHELL`: scripts with which shells complete verbs and options. */
#include "cli/base/complete.h"
#include "cli/base/options.h"
#include "cli/verbs.h"
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
    char word[32], name[32];
    char *argv[] = {name, word, NULL};
    snprintf(name, sizeof name, "%s", verb->name);
    snprintf(word, sizeof word, COMPLETE_WORD "%s", shell);
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
    "    before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    if [[ $valued == *\" $before \"* ]]; then\n"
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
          "    local now=${COMP_WORDS[COMP_CWORD]} options= valued= words= command=0\n"
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

static int completion_main(int argc, char **argv) {
    const struct option_table table = {.usage = usage};
    char **rest;
    int r = verb_words_read("completion", &table, argc, argv, &rest);
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
