/* SPDX-License-Identifier: MIT */
/* A program's interpreter (PT_INTERP, elf(5)) is its dynamic loader; a script's is the word behind
 * "#!" (execve(2)). */
#include "cli/launch/program_file.h"
#include "cli/launch/child.h"
#include "common/error.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCRIPTS_MAX 4
#define HEADERS_MAX 64

/* ---- paths ---- */

static int check_program(const char *path) {
    struct stat status;
    if (stat(path, &status) < 0)
        return errno == EACCES ? -EACCES : -ENOENT;
    return S_ISDIR(status.st_mode) || access(path, X_OK) < 0 ? -EACCES : 0;
}

static int take_path(const char *path, int size, const char *word, char ret_path[PATH_MAX]) {
    int n = snprintf(ret_path, PATH_MAX, "%.*s%s%s", size, path, size ? "/" : "", word);
    return n < PATH_MAX ? check_program(ret_path) : -ENAMETOOLONG;
}

int program_find(const char *word, char ret_path[PATH_MAX]) {
    const char *path = getenv("PATH");
    int found = -ENOENT;
    if (!*word || strchr(word, '/'))
        return *word ? take_path("", 0, word, ret_path) : -ENOENT;
    for (const char *p = path ? path : "/bin:/usr/bin"; found != 0; p++) {
        size_t size = strcspn(p, ":");
        int r = take_path(p, (int)size, word, ret_path);
        if (r != -ENOENT)
            found = r;
        p += size;
        if (!*p)
            break;
    }
    return found;
}

int command_find(const char *word) {
    char path[PATH_MAX];
    return program_find(word, path);
}

/* ---- interpreters ---- */

static bool read_at(int fd, void *to, size_t size, uint64_t offset) {
    return pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* Text of PT_INTERP; "" if there is none. -ENOEXEC: not a program for this machine. */
static int read_loader(int fd, char ret_loader[PATH_MAX]) {
    ElfW(Ehdr) head;
    ElfW(Phdr) part;
    unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    ret_loader[0] = '\0';
    if (!read_at(fd, &head, sizeof head, 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != class || head.e_phentsize != sizeof part)
        return -ENOEXEC;
    for (unsigned i = 0; i < head.e_phnum && i < HEADERS_MAX; i++) {
        if (!read_at(fd, &part, sizeof part, head.e_phoff + i * sizeof part))
            return -ENOEXEC;
        if (part.p_type != PT_INTERP)
            continue;
        if (part.p_filesz >= PATH_MAX || !read_at(fd, ret_loader, part.p_filesz, part.p_offset))
            return -ENOEXEC;
        ret_loader[part.p_filesz] = '\0';
        return 0;
    }
    return 0;
}

/* The interpreter of "#!/usr/bin/env -S python3 -u" is python3. False: no script. */
static bool read_script(int fd, char ret_word[PATH_MAX]) {
    char line[PATH_MAX + 2], *rest = line + 2, *word;
    ssize_t n = pread(fd, line, sizeof line - 1, 0);
    if (n < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[n] = '\0';
    line[strcspn(line, "\n")] = '\0';
    word = strtok_r(rest, " \t", &rest);
    while (word && (strcmp(basename(word), "env") == 0 || word[0] == '-'))
        word = strtok_r(rest, " \t", &rest);
    snprintf(ret_word, PATH_MAX, "%s", word ? word : "");
    return true;
}

/* The loader of the program in *path; for a script *path becomes its interpreter. */
static int find_loader(char path[PATH_MAX], char ret_loader[PATH_MAX]) {
    for (int i = 0; i < SCRIPTS_MAX; i++) {
        char word[PATH_MAX];
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return negative_errno();
        bool script = read_script(fd, word);
        int r = script ? 0 : read_loader(fd, ret_loader);
        close(fd);
        if (!script)
            return r;
        if ((r = program_find(word, path)) < 0)
            return r;
    }
    return -ELOOP;
}

static bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Programs that start others under another root. */
static bool is_container(const char *word) {
    static const char *const names[] = {
        "apptainer", "bwrap", "ch-run", "chroot",  "docker",      "enroot",        "nerdctl",
        "podman",    "proot", "sarus",  "shifter", "singularity", "systemd-nspawn"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(basename(word), names[i]) == 0)
            return true;
    return false;
}

int program_takes_preload(const char *word, char ret_path[PATH_MAX], char *why, size_t why_size) {
    char loader[PATH_MAX], own[PATH_MAX], self[PATH_MAX] = "/proc/self/exe";
    if (is_container(word))
        return snprintf(why, why_size, "%s starts programs in a container", word), PROGRAM_REFUSES;
    int r = program_find(word, ret_path);
    if (r == 0)
        r = find_loader(ret_path, loader);
    if (r == 0)
        r = find_loader(self, own);
    if (r < 0)
        return r;
    if (!loader[0])
        snprintf(why, why_size, "%s is linked statically", ret_path);
    else if (!is_same_file(loader, own))
        snprintf(why, why_size, "%s has another dynamic loader, %s", ret_path, loader);
    else
        return 0;
    return PROGRAM_REFUSES;
}

/* ---- libraries ---- */

static bool begins_word(const char *line, const char *library) {
    line += strspn(line, " \t");
    return strncmp(line, library, strlen(library)) == 0;
}

static bool any_line(int fd, const char *library) {
    FILE *lines = fdopen(fd, "re");
    char line[PATH_MAX + 256];
    bool found = false;
    while (lines && fgets(line, sizeof line, lines)) /* to the end: no SIGPIPE */
        found |= begins_word(line, library);
    if (lines)
        fclose(lines);
    else
        close(fd);
    return found;
}

/* The loader lists on to_fd what it would load. */
static int start_list(const char *loader, const char *path, int to_fd, pid_t *ret_pid) {
    const char *const words[] = {loader, "--list", path, NULL};
    const struct child_variable variables[] = {{"LD_PRELOAD", NULL}, {0}};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return negative_errno();
    const struct child_plan plan = {.words = words,
                                    .variables = variables,
                                    .stdin_fd = null,
                                    .stdout_fd = to_fd,
                                    .stderr_fd = null};
    int r = child_start(&plan, ret_pid);
    close(null);
    return r;
}

bool program_needs(const char *path, const char *library) {
    char loader[PATH_MAX], copy[PATH_MAX];
    int fds[2];
    pid_t pid;
    snprintf(copy, sizeof copy, "%s", path);
    if (find_loader(copy, loader) < 0 || !loader[0] || pipe2(fds, O_CLOEXEC) < 0)
        return false;
    int r = start_list(loader, path, fds[1], &pid);
    close(fds[1]);
    if (r < 0)
        return close(fds[0]), false;
    bool found = any_line(fds[0], library);
    waitpid(pid, NULL, 0);
    return found;
}
