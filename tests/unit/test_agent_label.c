/* SPDX-License-Identifier: MIT */
/* Names of processes by their command lines, from usual and hostile ones. */
#include "tests/unit/planted_process.h"

#include "agent/probes/process/process_label.h"
#include "common/error.h"

/* '|' ends each word of the command line. */
static const char *label_of(const char *comm, const char *line) {
    static char label[LABEL_MAX + 1];
    char text[4096];
    size_t n = strlen(line);
    assert_true(n < sizeof text);
    for (size_t i = 0; i < n; i++)
        text[i] = line[i] == '|' ? '\0' : line[i];
    size_t size = process_label((struct span){comm, strlen(comm)}, (struct span){text, n}, label);
    assert_int_equal(size, strlen(label));
    return label;
}

struct known {
    const char *comm, *line, *label;
};

static void expect_all(const struct known *known, size_t n) {
    for (size_t i = 0; i < n; i++)
        assert_string_equal(label_of(known[i].comm, known[i].line), known[i].label);
}

static void an_interpreter_is_known_by_its_script(void **state) {
    static const struct known known[] = {
        {"python3", "python3|ps.py|--port|5|", "python3 ps.py"},
        {"python3.11", "/usr/bin/python3.11|-u|-W|ignore|-Xdev|/srv/app/ps.py|",
         "python3.11 ps.py"},
        {"python3", "python3|-uB|a.py|", "python3 a.py"},
        {"python3", "python3|-c|import secret|", "python3"},
        {"python3", "python3|-uc|import secret|x.py|", "python3"},
        {"python3", "python3|", "python3"},
        {"python3", "python3|-|a|", "python3"},
        {"bash", "bash|start.sh|now|", "bash start.sh"},
        {"bash", "bash|-o|pipefail|-x|/opt/start.sh|", "bash start.sh"},
        {"bash", "bash|-euo|pipefail|run.sh|", "bash run.sh"},
        {"bash", "bash|-euo|pipefail|-c|secret|", "bash"},
        {"sh", "sh|-c|curl -H token|", "sh"},
        {"sh", "/bin/sh|-ec|secret|name|", "sh"},
        {"perl", "perl|-I|lib|-w|x.pl|", "perl x.pl"},
        {"perl", "perl|-ne|secret|file|", "perl"},
        {"node", "node|--max-old-space-size=64|-r|dotenv/config|app.js|", "node app.js"},
        {"node", "node|--eval|secret()|", "node"},
        {"ruby", "ruby|-Ilib|-r|set|worker.rb|", "ruby worker.rb"},
        {"train", "./train|data.bin|", "train"},
        {"shutdown", "shutdown|now|", "shutdown"},
    };
    (void)state;
    expect_all(known, ARRAY_SIZE(known));
}

static void a_module_is_a_program_too_and_a_launcher_has_one(void **state) {
    static const struct known known[] = {
        {"python3", "python3|-m|http.server|8000|", "python3 http.server"},
        {"python3", "python3|-mhttp.server|8000|", "python3 http.server"},
        {"python3", "python3|-um|distributed.cli.dask_worker|tcp://a:1|",
         "python3 distributed.cli.dask_worker"},
        {"python3",
         "python3|-m|torch.distributed.run|--standalone|--nnodes=2|--nproc_per_node|2|train.py|x|",
         "python3 torch.distributed.run train.py"},
        {"python3", "python3|-m|torch.distributed.run|--nnodes|", "python3 torch.distributed.run"},
    };
    (void)state;
    expect_all(known, ARRAY_SIZE(known));
}

static void java_is_known_by_its_class_or_archive(void **state) {
    static const struct known known[] = {
        {"java", "java|-Xmx1g|-cp|a.jar:b.jar|Worker|7|", "java Worker"},
        {"java", "/usr/bin/java|-Dkey=secret|org.apache.spark.deploy.master.Master|--host|x|",
         "java Master"},
        {"java", "java|-jar|/opt/x.jar|secret|", "java x.jar"},
        {"java", "java|-m|app/org.example.Main|", "java Main"},
        {"java", "java|/tmp/Ring.java|", "java Ring.java"},
        {"java", "java|-cp|", "java"},
        {"java", "java|@options|", "java"},
    };
    (void)state;
    expect_all(known, ARRAY_SIZE(known));
}

static void a_title_tells_the_role_and_no_data(void **state) {
    static const struct known known[] = {
        {"postgres", "postgres: checkpointer |", "postgres: checkpointer"},
        {"postgres", "postgres: 15/main: background writer |", "postgres: background writer"},
        {"postgres", "postgres: 15/main: app payroll 10.0.0.2(51234) SELECT|", "postgres: session"},
        {"postgres", "postgres: app payroll [local] idle|", "postgres: session"},
        {"postgres", "postgres: app pay1 [local] idle|", "postgres: session"},
        {"postgres", "/usr/lib/postgresql/15/bin/postgres|-D|/var/lib|", "postgres"},
        {"nginx", "nginx: worker process|", "nginx: worker process"},
        {"nginx", "nginx: master process /usr/sbin/nginx -g daemon on;|", "nginx: master process"},
        {"sshd", "sshd: alice@pts/0|", "sshd"},
        {"gunicorn", "gunicorn: worker [app:app]|", "gunicorn: worker"},
        {"php-fpm8.2", "php-fpm: pool www|", "php-fpm8.2: pool www"},
        {"redis-server", "redis-server *:6379|", "redis-server"},
        {"p", "other: thing|", "p"},
    };
    (void)state;
    expect_all(known, ARRAY_SIZE(known));
}

static void a_hostile_command_line_is_only_a_name(void **state) {
    char long_one[600] = "python3|";
    (void)state;
    assert_string_equal(label_of("python3", ""), "python3");
    assert_string_equal(label_of("python3", "python3|cut.py"), "python3"); /* the end is missing */
    assert_string_equal(label_of("python3", "||||"), "python3");
    assert_string_equal(label_of("python3", "python3|dir/|"), "python3");
    assert_string_equal(label_of("python3", "python3|a[7]b.py|"), "python3 a(7)b.py");
    assert_string_equal(label_of("a[1]", "a[1]|"), "a[1]");
    assert_string_equal(label_of("", ": x|"), "");
    assert_string_equal(label_of("a", "a: |"), "a");
    memset(long_one + 8, 'x', 500);
    strcat(long_one, "|");
    assert_int_equal(strlen(label_of("python3", long_one)), LABEL_MAX);
}

/* ---- in the table ---- */

static void put_line(const struct tree *tree, int pid, const char *line, size_t size) {
    put_file(tree, pid, "cmdline", line, size);
}

static void the_name_is_that_of_the_row(void **state) {
    static const char line[] = "python3\0ps.py\0--secret";
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    plant(&tree, (struct planted){.pid = 50, .parent = 1, .comm = "python3", .environ = MARK});
    put_line(&tree, 50, line, sizeof line);
    look(&h, 101);
    expect(&h, "python3 ps.py[50]", "job", 1);
    end(&h, &tree);
    begin(&h, &tree);
    h.env.no_command_lines = true;
    plant(&tree, (struct planted){.pid = 50, .parent = 1, .comm = "python3", .environ = MARK});
    put_line(&tree, 50, line, sizeof line);
    look(&h, 101);
    expect(&h, "python3[50]", "job", 1);
    end(&h, &tree);
}

/* Growth since the row before is reported under the name of that row. */
static void a_title_that_comes_late_renames_the_process(void **state) {
    static const char server[] = "postgres\0-D\0data", title[] = "postgres: checkpointer ";
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    struct planted p = {
        .pid = 50, .parent = 1, .comm = "postgres", .environ = MARK, .start_ticks = 10090};
    plant(&tree, p);
    put_line(&tree, 50, server, sizeof server);
    look(&h, 101);
    expect(&h, "postgres[50]", "job", 1);
    put_line(&tree, 50, title, sizeof title);
    p.user_ticks = 30;
    plant(&tree, p);
    look(&h, 102);
    expect(&h, "postgres: checkpointer[50]", "user_ns", 300000000);
    expect(&h, "postgres[50]", "user_ns", 300000000);
    look(&h, 110); /* settled: it is not read again */
    put_line(&tree, 50, server, sizeof server);
    look(&h, 111);
    assert_int_equal(h.rows.n, 1);
    expect(&h, "postgres: checkpointer[50]", "job", 1);
    end(&h, &tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interpreter_is_known_by_its_script),
        cmocka_unit_test(a_module_is_a_program_too_and_a_launcher_has_one),
        cmocka_unit_test(java_is_known_by_its_class_or_archive),
        cmocka_unit_test(a_title_tells_the_role_and_no_data),
        cmocka_unit_test(a_hostile_command_line_is_only_a_name),
        cmocka_unit_test(the_name_is_that_of_the_row),
        cmocka_unit_test(a_title_that_comes_late_renames_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
