/* SPDX-License-Identifier: MIT */
/* The children that read the database for a request. */
#include "cli/mcp/mcp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/launch/child.h"
#include "collector/confine.h"
#include "common/clock.h"
#include "common/error.h"

#define OUTPUT_MAX (256 << 20) /* bytes: more than the document of any recording */
#define SAID_MAX 2000
#define LOOK_MS 5
#define WORDS_MAX 40

struct files {
    int none, out, said;
};

static void files_close(struct files *files) {
    int fds[] = {files->none, files->out, files->said};
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static int files_open(struct files *files) {
    files->none = open("/dev/null", O_RDWR | O_CLOEXEC);
    files->out = memfd_create("answer", MFD_CLOEXEC);
    files->said = memfd_create("said", MFD_CLOEXEC);
    return files->none < 0 || files->out < 0 || files->said < 0 ? negative_errno() : 0;
}

/* The first bytes of a file as a text; NULL: no memory, or it cannot be read. */
static char *text_of(int fd, size_t most, size_t *ret_size) {
    struct stat st;
    size_t size = fstat(fd, &st) == 0 ? (size_t)st.st_size : 0, n = 0;
    size = size < most ? size : most;
    char *text = malloc(size + 1);
    for (ssize_t got = 1; text && n < size && got > 0; n += got > 0 ? (size_t)got : 0)
        got = pread(fd, text + n, size - n, (off_t)n);
    if (text)
        text[n] = '\0';
    *ret_size = n;
    return text;
}

/* Waits for a child; one that takes too long is killed. */
static int wait_for(pid_t pid, int *ret_status) {
    int64_t due_ns = clock_monotonic_ns() + MCP_WAIT_NS;
    bool late = false;
    int r;
    while ((r = child_ended(pid, ret_status)) == -EAGAIN) {
        poll(NULL, 0, LOOK_MS);
        if (late || clock_monotonic_ns() < due_ns)
            continue;
        late = true;
        kill(pid, SIGKILL);
    }
    return r < 0 ? r : late ? -ETIME : 0;
}

static int take_output(pid_t pid, const struct files *files, struct output_text *ret_text) {
    int status = 0, r = wait_for(pid, &status);
    size_t said_size;
    if (r < 0)
        return r;
    struct output_text text = {.out = text_of(files->out, OUTPUT_MAX, &text.out_size),
                               .said = text_of(files->said, SAID_MAX, &said_size)};
    if (!text.out || !text.said) {
        output_text_release(&text);
        return -ENOMEM;
    }
    *ret_text = text;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

void output_text_release(struct output_text *text) {
    free(text->out);
    free(text->said);
    *text = (struct output_text){0};
}

int child_program(const struct mcp *mcp, const char *const *words, struct output_text *ret_text) {
    const struct child_variable variables[] = {{CONFINE_VARIABLE, mcp->database}, {NULL, NULL}};
    const char *all[WORDS_MAX] = {mcp->program};
    struct files files;
    sigset_t none;
    size_t n = 1;
    pid_t pid;
    for (size_t i = 0; words[i] && n < WORDS_MAX - 1; i++)
        all[n++] = words[i];
    sigemptyset(&none);
    int r = files_open(&files);
    const struct child_plan plan = {.words = all,
                                    .variables = variables,
                                    .stdin_fd = files.none,
                                    .stdout_fd = files.out,
                                    .stderr_fd = files.said,
                                    .own_group = true,
                                    .dies_with_parent = true,
                                    .mask = &none};
    if (r == 0)
        r = child_start(&plan, &pid);
    if (r == 0)
        r = take_output(pid, &files, ret_text);
    files_close(&files);
    return r;
}

/* In the child. Its standard output is the protocol's, so it is closed first. */
static int run_body(const struct mcp *mcp, int (*body)(void *ctx, int out_fd, int said_fd),
                    void *ctx, const struct files *files) {
    dup2(files->none, STDIN_FILENO);
    dup2(files->none, STDOUT_FILENO);
    dup2(files->none, STDERR_FILENO);
    int r = confine_files(CONFINE_READS, mcp->database);
    if (r == 0)
        r = confine_calls(CONFINE_READS);
    return r < 0 ? 1 : body(ctx, files->out, files->said);
}

int child_function(const struct mcp *mcp, int (*body)(void *ctx, int out_fd, int said_fd),
                   void *ctx, struct output_text *ret_text) {
    struct files files;
    int r = files_open(&files);
    pid_t pid = r == 0 ? fork() : -1;
    if (r == 0 && pid < 0)
        r = negative_errno();
    if (pid == 0)
        _exit(run_body(mcp, body, ctx, &files));
    if (r == 0)
        r = take_output(pid, &files, ret_text);
    files_close(&files);
    return r;
}
