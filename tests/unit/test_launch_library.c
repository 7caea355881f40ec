/* SPDX-License-Identifier: MIT */
/* The libraries to preload, of those that hosts reported: one that all hosts have is named, else
 * each host's is chosen by a shell before the program, which is run here.
 */
#include "cli/launch/run_session.h"
#include "common/mpi_library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/files.h"

#define LIBRARY "an ELF chokepoint-mpi " CHOKEPOINT_VERSION "\0 and more"
#define WORDS_MAX 16

static char root[64];

static const char *at(const char *name) {
    static char path[4][200];
    static unsigned turn;
    char *to = path[turn++ % 4];
    snprintf(to, sizeof path[0], "%s/%s", root, name);
    return to;
}

static int make(void **state) {
    (void)state;
    umask(022);
    strcpy(root, "/tmp/chokepoint-launch-library-test-XXXXXX");
    assert_non_null(mkdtemp(root));
    assert_int_equal(chdir(root), 0);
    setenv("HOME", root, 1);
    unsetenv("LD_PRELOAD");
    return 0;
}

static int clean(void **state) {
    (void)state;
    unsetenv("LD_PRELOAD");
    return chdir("/") < 0 ? -1 : folder_remove(root);
}

/* ---- a run, planted ---- */

struct planted {
    struct run_session s;
    struct run_options options;
    struct launch launches[3];
    const char *words[WORDS_MAX];
};

/* Two hosts over ssh with the same library, and the command `mpirun -n 2 ./program one`. */
static struct planted *plant(struct planted *p) {
    static const char *const words[] = {"mpirun", "-n", "2", "./program", "one", NULL};
    *p = (struct planted){.options = {.quiet = true},
                          .launches = {{.host = "vm1"}, {.host = "vm2"}, {.host = "vm3"}}};
    memcpy(p->words, words, sizeof words);
    for (size_t i = 0; i < 3; i++) {
        struct launch_library *library = &p->launches[i].library;
        p->launches[i].method = LAUNCH_SSH;
        library->told = true;
        library->digest = 7;
        strcpy(library->path, "/opt/libchokepoint-mpi.so");
        snprintf(library->system, sizeof library->system, "vm%zu@boot", i + 1);
    }
    p->options.command = (char **)p->words;
    p->s.options = &p->options;
    p->s.launches = p->launches;
    p->s.n_launches = 2;
    p->s.has_preload = p->s.knows_hosts = true;
    p->s.words.kind = COMMAND_MPIRUN;
    p->s.words.program = p->words[3];
    strcpy(p->s.preload.ranks, "LD_PRELOAD=/here/libchokepoint-mpi.so");
    strcpy(p->s.preload.library, "/here/libchokepoint-mpi.so");
    return p;
}

static void forget(struct planted *p) {
    for (size_t i = 0; i < p->s.n_notes; i++)
        free(p->s.notes[i]);
    session_release_library(&p->s);
    assert_null(p->s.wrapped.words);
    assert_null(p->s.wrapped.script);
    assert_null(p->s.wrapped.program);
}

static void assert_preloads(struct planted *p, const char *ranks, const char *here) {
    session_choose_library(&p->s);
    assert_true(p->s.has_preload);
    assert_string_equal(p->s.preload.ranks, ranks);
    assert_string_equal(p->s.preload.here, here);
    assert_null(p->s.wrapped.words);
    assert_int_equal(p->s.n_notes, 0);
    forget(p);
}

static void assert_preloads_nothing_by_name(const struct planted *p) {
    assert_false(p->s.has_preload);
    assert_string_equal(p->s.preload.ranks, "");
    assert_string_equal(p->s.preload.here, "");
}

static void assert_wraps(struct planted *p) {
    session_choose_library(&p->s);
    assert_preloads_nothing_by_name(p);
    assert_int_equal(p->s.n_notes, 0);
    assert_non_null(p->s.wrapped.words);
    forget(p);
}

static void assert_records_nothing(struct planted *p, const char *const *notes, size_t n) {
    session_choose_library(&p->s);
    assert_preloads_nothing_by_name(p);
    assert_null(p->s.wrapped.words);
    assert_int_equal(p->s.n_notes, n);
    for (size_t i = 0; i < n; i++)
        assert_non_null(strstr(p->s.notes[i], notes[i]));
    forget(p);
}

#define SEVERAL "the command starts more than one program"

/* ---- one path for all ---- */

static void a_library_that_all_hosts_have_is_named_once(void **state) {
    (void)state;
    struct planted p;
    assert_preloads(plant(&p), "LD_PRELOAD=/opt/libchokepoint-mpi.so", "");
    setenv("LD_PRELOAD", "/usr/lib/users.so", 1);
    assert_preloads(plant(&p), "LD_PRELOAD=/opt/libchokepoint-mpi.so:/usr/lib/users.so", "");
    plant(&p)->s.has_preload = false;
    session_choose_library(&p.s);
    assert_string_equal(p.s.preload.library, "/here/libchokepoint-mpi.so");
    assert_null(p.s.wrapped.words);
}

static void a_library_that_differs_on_any_host_is_not_named_for_all(void **state) {
    (void)state;
    struct planted p;
    for (size_t i = 0; i < 2; i++) {
        plant(&p)->launches[i].library.digest = 8;
        assert_wraps(&p);
        strcpy(plant(&p)->launches[i].library.path, "/opt/other.so");
        assert_wraps(&p);
    }
    plant(&p)->launches[2].library.digest = 8;
    p.s.n_launches = 3;
    assert_wraps(&p);
    plant(&p)->s.knows_hosts = false; /* ranks may run on hosts that were not examined */
    assert_wraps(&p);
    plant(&p);
    setenv("LD_PRELOAD", "/usr/lib/users;.so", 1); /* ';' would separate list entries */
    assert_wraps(&p);
}

static void a_script_names_it_elsewhere_only_if_nobody_else_can_put_it_there(void **state) {
    (void)state;
    struct planted p;
    static const char unshared[] = "/bin/sh";
    file_write(at("libchokepoint-mpi.so"), LIBRARY, sizeof LIBRARY, 0644);
    plant(&p)->s.words.kind = COMMAND_PLAIN;
    p.s.knows_hosts = false;
    p.s.n_launches = 1;
    strcpy(p.launches[0].library.path, at("libchokepoint-mpi.so")); /* below /tmp */
    assert_preloads(&p, "", "");
    plant(&p)->s.words.kind = COMMAND_PLAIN;
    p.s.n_launches = 1;
    strcpy(p.launches[0].library.path, unshared);
    assert_preloads(&p, "LD_PRELOAD=/bin/sh", "");
    plant(&p)->s.n_launches = 1; /* all of mpirun's hosts reported it */
    strcpy(p.launches[0].library.path, at("libchokepoint-mpi.so"));
    char ranks[300];
    snprintf(ranks, sizeof ranks, "LD_PRELOAD=%s", at("libchokepoint-mpi.so"));
    assert_preloads(&p, ranks, "");
}

/* ---- a launcher that has it in its own environment ---- */

static struct planted *plant_here(struct planted *p, const char *path) {
    plant(p)->s.words.kind = COMMAND_SRUN;
    strcpy(p->s.preload.here, "/here/libchokepoint-mpi.so");
    for (size_t i = 0; i < 2; i++)
        strcpy(p->launches[i].library.path, path);
    return p;
}

/* Hosts have the contents of that file. */
static struct planted *tell_digest(struct planted *p, const char *path) {
    uint64_t digest;
    assert_int_equal(mpi_library_digest(path, &digest), 0);
    for (size_t i = 0; i < 3; i++)
        p->launches[i].library.digest = digest;
    return p;
}

static void a_launcher_here_needs_the_library_here(void **state) {
    (void)state;
    struct planted p;
    char path[200], ranks[300];
    strcpy(path, at("libchokepoint-mpi.so"));
    snprintf(ranks, sizeof ranks, "LD_PRELOAD=%s", path);
    assert_wraps(plant_here(&p, path));
    plant_here(&p, path)->launches[1].method = LAUNCH_DIRECT; /* this host is one of those that
                                                                 reported it */
    assert_preloads(&p, ranks, path);
    file_write(path, LIBRARY, sizeof LIBRARY, 0644);
    assert_wraps(plant_here(&p, path)); /* another file is here */
    assert_preloads(tell_digest(plant_here(&p, path), path), ranks, path);
    assert_int_equal(chmod(path, 0666), 0); /* others may write to it */
    assert_wraps(tell_digest(plant_here(&p, path), path));
}

/* NCCL loads its plug-in from the environment of whatever the command starts. */
static void the_plug_in_of_nccl_is_named_where_the_library_is_confirmed(void **state) {
    (void)state;
    struct planted p;
    char path[200], list[PRELOAD_LIST_SIZE];
    strcpy(path, at("libchokepoint-mpi.so"));
    session_choose_library(&plant(&p)->s);
    assert_string_equal(p.s.preload.plugin, ""); /* not on this machine */
    preload_list(&p.s.preload, false, list);
    assert_string_equal(list, "LD_PRELOAD=/opt/libchokepoint-mpi.so;"
                              "NCCL_PROFILER_PLUGIN=/opt/libchokepoint-mpi.so");
    plant_here(&p, path)->launches[1].method = LAUNCH_DIRECT;
    session_choose_library(&p.s);
    assert_string_equal(p.s.preload.plugin, path);
    plant_here(&p, path)->launches[1].method = LAUNCH_DIRECT;
    p.launches[1].library.digest = 8; /* not the other host's file */
    session_choose_library(&p.s);
    assert_string_equal(p.s.preload.plugin, "");
    forget(&p);
}

static void a_users_plug_in_of_nccl_is_kept(void **state) {
    (void)state;
    struct preload preload = {.ranks = "LD_PRELOAD=/a.so", .library = "/a.so"};
    char list[PRELOAD_LIST_SIZE];
    setenv(NCCL_PLUGIN_VARIABLE, "theirs", 1);
    preload_list(&preload, false, list);
    assert_string_equal(list, "LD_PRELOAD=/a.so;NCCL_PROFILER_PLUGIN=/a.so;"
                              "CHOKEPOINT_NCCL_NEXT=theirs");
    setenv(NCCL_PLUGIN_VARIABLE, "a;b", 1); /* ';' would separate list entries */
    preload_list(&preload, false, list);
    assert_string_equal(list, "LD_PRELOAD=/a.so");
    setenv(NCCL_PLUGIN_VARIABLE, "NONE", 1);
    assert_false(preload_may_name_plugin());
    preload_list(&preload, false, list);
    assert_string_equal(list, "LD_PRELOAD=/a.so");
    unsetenv(NCCL_PLUGIN_VARIABLE);
    assert_true(preload_may_name_plugin());
}

static void plant_sent(struct planted *p, const char *path, const char *content) {
    struct utsname system;
    char directory[300], file[400];
    assert_int_equal(uname(&system), 0);
    snprintf(directory, sizeof directory, "%s/%s", root, system.machine);
    snprintf(file, sizeof file, "%s/libchokepoint-mpi.so", directory);
    mkdir(directory, 0755);
    file_write(file, content, strlen(content) + 1, 0644);
    plant_here(p, path);
    tell_digest(p, file);
    strcpy(p->s.plan.relay, "/opt/relay");
    strcpy(p->s.plan.agents, root);
}

static void a_library_that_was_sent_is_put_here_as_well(void **state) {
    (void)state;
    struct planted p;
    const char *path = ".cache/chokepoint/0123456789abcdef/libchokepoint-mpi.so";
    char whole[300], ranks[400];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    snprintf(ranks, sizeof ranks, "LD_PRELOAD=%s", whole);
    plant_sent(&p, whole, LIBRARY);
    assert_wraps(&p); /* hosts are sent the library elsewhere */
    assert_int_equal(access(whole, F_OK), -1);
    plant_sent(&p, whole, LIBRARY);
    strcpy(p.s.plan.library, whole);
    p.s.plan.relay[0] = '\0'; /* nothing is sent */
    assert_wraps(&p);
    plant_sent(&p, whole, LIBRARY);
    strcpy(p.s.plan.library, whole);
    assert_preloads(&p, ranks, whole);
    uint64_t digest;
    assert_int_equal(mpi_library_check(whole, &digest), 0);
    plant_sent(&p, whole, "of another version");
    strcpy(p.s.plan.library, whole);
    assert_int_equal(unlink(whole), 0);
    assert_wraps(&p);
}

static void hosts_are_asked_and_sent_what_lies_here(void **state) {
    (void)state;
    struct planted p;
    char expected[PATH_MAX];
    plant_sent(&p, "/opt/libchokepoint-mpi.so", LIBRARY);
    session_ask_library(&p.s);
    assert_true(p.s.plan.asks_library);
    assert_int_not_equal(p.s.sent_digest, 0);
    assert_int_equal(mpi_library_at_home(p.s.sent_digest, expected), 0);
    assert_string_equal(p.s.plan.library, expected);
    plant_sent(&p, "/opt/libchokepoint-mpi.so", LIBRARY);
    unsetenv("HOME");
    session_ask_library(&p.s);
    assert_true(p.s.plan.asks_library);
    assert_string_equal(p.s.plan.library, "");
    setenv("HOME", root, 1);
    plant_sent(&p, "/opt/libchokepoint-mpi.so", LIBRARY);
    p.s.has_preload = false;
    session_ask_library(&p.s);
    assert_false(p.s.plan.asks_library);
    assert_string_equal(p.s.plan.library, "");
}

/* ---- what is said ---- */

static void each_host_without_one_is_named_with_its_reason(void **state) {
    (void)state;
    struct planted p;
    static const char *const all[] = {
        "MPI calls of ranks on vm1 are not recorded: it has not said which library it has",
        "MPI calls of ranks on vm2 are not recorded: /home/u: noexec"};
    plant(&p);
    for (size_t i = 0; i < 2; i++)
        p.launches[i].library.path[0] = '\0';
    strcpy(p.launches[1].library.why, "/home/u: noexec");
    assert_records_nothing(&p, all, 2);
    plant(&p)->launches[1].library.path[0] = '\0';
    strcpy(p.launches[1].library.why, "/home/u: noexec");
    session_choose_library(&p.s);
    assert_int_equal(p.s.n_notes, 1);
    assert_string_equal(p.s.notes[0], all[1]);
    assert_non_null(p.s.wrapped.words); /* vm1 has one nevertheless */
    assert_non_null(strstr(p.s.wrapped.script, " vm1@boot) l=/opt/libchokepoint-mpi.so;; "));
    assert_null(strstr(p.s.wrapped.script, "vm2"));
    forget(&p);
}

static void a_command_of_several_programs_is_left_as_it_is(void **state) {
    (void)state;
    static const char *const several[][WORDS_MAX] = {
        {"mpirun", "-n", "1", "./program", ":", "-n", "1", "./other"},
        {"srun", "--multi-prog", "-n", "./program"},
        {"srun", "-n", "2", "./program", "--multi-prog"}};
    static const char *const notes[] = {SEVERAL};
    struct planted p;
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        plant(&p)->launches[0].library.digest = 8;
        memcpy(p.words, several[i], sizeof several[i]);
        p.s.words.program = p.words[3];
        assert_records_nothing(&p, notes, 1);
    }
    plant(&p)->launches[0].library.digest = 8;
    p.s.words.kind = COMMAND_PLAIN; /* it may not start ranks at all */
    assert_preloads(&p, "", "");
    plant(&p)->launches[0].library.digest = 8;
    p.s.words.program = NULL; /* mpirun --help */
    assert_records_nothing(&p, notes, 1);
    plant(&p)->launches[0].library.digest = 8;
    p.words[2] = ":"; /* a value of an option */
    assert_wraps(&p);
}

/* ---- the words ---- */

static void assert_words(char *const *words, const char *const *expected) {
    for (size_t i = 0; expected[i]; i++)
        assert_string_equal(words[i], expected[i]);
    size_t n = 0;
    while (expected[n])
        n++;
    assert_null(words[n]);
}

static void all_words_of_the_command_stay(void **state) {
    (void)state;
    struct planted p;
    plant(&p)->launches[0].library.digest = 8;
    p.words[4] = "./program"; /* an argument equal to the program */
    p.words[5] = "a b";
    p.words[6] = "";
    session_choose_library(&p.s);
    const char *const expected[] = {
        "mpirun",    "-n",        "2",   "/bin/sh", "-c", p.s.wrapped.script,
        "./program", "./program", "a b", "",        NULL};
    assert_words(p.s.wrapped.words, expected);
    forget(&p);
    plant(&p)->launches[0].library.digest = 8;
    p.words[4] = NULL; /* no argument */
    session_choose_library(&p.s);
    const char *const few[] = {"mpirun",           "-n",        "2", "/bin/sh", "-c",
                               p.s.wrapped.script, "./program", NULL};
    assert_words(p.s.wrapped.words, few);
    forget(&p);
}

static void assert_named(const char *program, const char *name) {
    struct planted p;
    char word[200];
    snprintf(word, sizeof word, "%s", program);
    plant(&p)->launches[0].library.digest = 8;
    p.words[3] = word;
    p.s.words.program = word;
    session_choose_library(&p.s);
    assert_string_equal(p.s.wrapped.words[6], name);
    forget(&p);
}

static void a_program_in_the_working_directory_is_named_so_that_a_shell_finds_it(void **state) {
    (void)state;
    file_write(at("planted-program"), "", 0, 0755);
    file_write(at("planted-text"), "", 0, 0644);
    file_write(at("sh"), "", 0, 0755);
    assert_named("planted-program", "./planted-program");
    assert_named("planted-text", "planted-text");
    assert_named("sh", "sh"); /* PATH finds another one */
    assert_named("missing-program", "missing-program");
    assert_named("./planted-program", "./planted-program");
    assert_named(at("planted-program"), at("planted-program"));
}

/* ---- the shell ---- */

static const char *this_system(void) {
    static char name[200];
    char host[100], boot[64];
    file_read_line("/proc/sys/kernel/hostname", host, sizeof host);
    file_read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    snprintf(name, sizeof name, "%s@%s", host, boot);
    return name;
}

/* Runs the wrapped command here, from the shell on, and keeps its output. */
static void run_wrapped(struct planted *p, char *to, size_t size) {
    int fds[2], status;
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDOUT_FILENO);
        execv(p->s.wrapped.words[3], p->s.wrapped.words + 3);
        _exit(127);
    }
    close(fds[1]);
    size_t n = 0;
    for (ssize_t got; (got = read(fds[0], to + n, size - 1 - n)) > 0;)
        n += (size_t)got;
    to[n] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 3 << 8); /* the program's own */
}

/* The loader only warns if it cannot preload; a valid library keeps it quiet. */
static const char *some_library(void) {
    static const char *const known[] = {"/lib/x86_64-linux-gnu/libm.so.6",
                                        "/lib/aarch64-linux-gnu/libm.so.6", "/lib64/libm.so.6"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (access(known[i], R_OK) == 0)
            return known[i];
    return "/lib/libm.so.6";
}

static void assert_rank_gets(const char *system, const char *preloaded, const char *plugin) {
    static const char program[] = "#!/bin/sh\nprintf '%s|' \"$LD_PRELOAD\" "
                                  "\"$NCCL_PROFILER_PLUGIN\" \"$0\" \"$@\"\nexit 3\n";
    struct planted p;
    char text[1000], expected[1000];
    file_write(at("program"), program, sizeof program - 1, 0755);
    plant(&p)->launches[0].library.digest = 8;
    p.words[4] = "a  b";
    p.words[5] = "$(id) '\"*";
    strcpy(p.launches[1].library.system, system);
    strcpy(p.launches[1].library.path, some_library());
    session_choose_library(&p.s);
    run_wrapped(&p, text, sizeof text);
    snprintf(expected, sizeof expected, "%s|%s|./program|a  b|$(id) '\"*|", preloaded, plugin);
    assert_string_equal(text, expected);
    forget(&p);
}

static void a_rank_gets_what_its_own_host_has_and_its_words_whole(void **state) {
    (void)state;
    char both[300], other[200];
    assert_rank_gets(this_system(), some_library(), some_library());
    assert_rank_gets("vm2@boot", "", "");
    snprintf(other, sizeof other, "%s2", this_system()); /* of another boot of the host */
    assert_rank_gets(other, "", "");
    snprintf(both, sizeof both, "%s:%s", some_library(), some_library());
    setenv("LD_PRELOAD", some_library(), 1);
    assert_rank_gets(this_system(), both, some_library());
    assert_rank_gets("vm2@boot", some_library(), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_library_that_all_hosts_have_is_named_once),
        TEST(a_library_that_differs_on_any_host_is_not_named_for_all),
        TEST(a_script_names_it_elsewhere_only_if_nobody_else_can_put_it_there),
        TEST(a_launcher_here_needs_the_library_here),
        TEST(the_plug_in_of_nccl_is_named_where_the_library_is_confirmed),
        TEST(a_users_plug_in_of_nccl_is_kept),
        TEST(a_library_that_was_sent_is_put_here_as_well),
        TEST(hosts_are_asked_and_sent_what_lies_here),
        TEST(each_host_without_one_is_named_with_its_reason),
        TEST(a_command_of_several_programs_is_left_as_it_is),
        TEST(all_words_of_the_command_stay),
        TEST(a_program_in_the_working_directory_is_named_so_that_a_shell_finds_it),
        TEST(a_rank_gets_what_its_own_host_has_and_its_words_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
