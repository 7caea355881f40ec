/* SPDX-License-Identifier: MIT */
/*
 * A filter of system calls, made by libseccomp: it allows only the calls that are listed here.
 *
 * A call that is not listed fails with ENOSYS, as on a kernel that lacks it, and does not kill the
 * process. The C library has fallbacks for most missing calls, so a newer C library, which tries
 * newer calls first, still records. An attacker gains no more from an error than from a kill.
 *
 * The lists were found with strace over the tests of collector, serve and import. Sanitizers
 * inspect the process with further calls when it ends (ptrace, a clone that is no thread); builds
 * with sanitizers allow these, too.
 */
#include "collector/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/error.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED true
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

/* The list holds names because it serves all architectures; a name that this one lacks is
 * skipped. */
static const char *const all_roles[] = {
    /* memory and threads */
    "brk", "munmap", "mremap", "madvise", "futex", "futex_waitv", "set_robust_list",
    "get_robust_list", "rseq", "set_tid_address", "sched_yield", "sched_getaffinity", "membarrier",
    "gettid", "exit", "exit_group", "restart_syscall", "sched_getparam", "sched_getscheduler",
    /* signals and time */
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigtimedwait", "rt_sigpending",
    "sigaltstack", "signalfd4", "clock_gettime", "clock_getres", "clock_nanosleep", "gettimeofday",
    "time", "nanosleep", "times", "getrusage",
    /* descriptors */
    "read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64", "pwritev",
    "pwritev2", "close", "close_range", "dup", "dup2", "dup3", "fcntl", "flock", "lseek", "poll",
    "ppoll", "select", "pselect6", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait",
    "epoll_pwait2", "eventfd2", "pipe2", "memfd_create", "sendfile", "copy_file_range",
    /* files */
    "open", "openat", "access", "faccessat", "faccessat2", "stat", "lstat", "fstat", "newfstatat",
    "statx", "statfs", "fstatfs", "readlink", "readlinkat", "getcwd", "getdents64", "fsync",
    "fdatasync", "sync_file_range", "ftruncate", "fallocate", "fadvise64", "unlink", "unlinkat",
    "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "umask", "chmod", "fchmod",
    "fchmodat", "fchown", "utimensat",
    /* identity and directories */
    "getpid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getrandom", "uname", "sysinfo",
    "getrlimit", "prlimit64", "setpriority", "getpriority",
    /* open connections */
    "accept", "accept4", "recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg", "sendmmsg",
    "getsockname", "getpeername", "getsockopt", "setsockopt", "shutdown"};

/* Calls to start a program, and those that the program makes as it begins. gnuplot exits if it
 * cannot drop rights that it does not have (setuid). */
static const char *const starting[] = {
    "clone", "fork",  "vfork",      "execve", "wait4", "waitid", "mmap",   "mprotect",     "tgkill",
    "prctl", "ioctl", "arch_prctl", "pipe",   "chdir", "setuid", "setgid", "get_mempolicy"};

/* serve gives the programs that it starts process groups; they confine themselves further. */
static const char *const serving[] = {"kill",
                                      "setpgid",
                                      "getpgid",
                                      "setsid",
                                      "setrlimit",
                                      "seccomp",
                                      "landlock_create_ruleset",
                                      "landlock_add_rule",
                                      "landlock_restrict_self"};

static const char *const sanitizers[] = {
    "getdents", "clone",      "ptrace", "wait4",       "process_vm_readv", "mmap",
    "mprotect", "arch_prctl", "prctl",  "personality", "tgkill",           "kill"};

static int allow_names(scmp_filter_ctx filter, const char *const *names, size_t n) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        int call = seccomp_syscall_resolve_name(names[i]);
        if (call >= 0)
            r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
    }
    return r;
}

static int allow_if(scmp_filter_ctx filter, int call, struct scmp_arg_cmp condition) {
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, condition);
}

/* Comparisons for equality use one number; the second avoids a compiler's warning. */
static int allow_requests(scmp_filter_ctx filter) {
    static const unsigned long requests[] = {FIONREAD, FIONBIO, TCGETS, TIOCGWINSZ};
    static const int names[] = {PR_SET_NAME, PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_VMA};
    int r = 0;
    for (size_t i = 0; r == 0 && i < ARRAY_SIZE(requests); i++)
        r = allow_if(filter, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, requests[i], 0));
    for (size_t i = 0; r == 0 && i < ARRAY_SIZE(names); i++)
        r = allow_if(filter, SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)names[i], 0));
    return r;
}

/* Allows threads but no processes (clone3 is not listed, as a filter cannot see its arguments),
 * memory without code, and signals to the process itself, as from abort(). */
static int allow_threads(scmp_filter_ctx filter) {
    int r =
        allow_if(filter, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    if (r == 0)
        r = allow_if(filter, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (r == 0)
        r = allow_if(filter, SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (r == 0)
        r = allow_if(filter, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
    return r;
}

/* Asks the kernel which user has the other end of a connection. */
static int allow_serving(scmp_filter_ctx filter) {
    int r = allow_names(filter, serving, ARRAY_SIZE(serving));
    if (r == 0)
        r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 2,
                             SCMP_A0(SCMP_CMP_EQ, AF_NETLINK, 0),
                             SCMP_A2(SCMP_CMP_EQ, NETLINK_SOCK_DIAG, 0));
    return r;
}

static int allow_for_role(scmp_filter_ctx filter, enum confine_role role) {
    bool starts = role == CONFINE_SERVES || role == CONFINE_DRAWS;
    int r = allow_names(filter, all_roles, ARRAY_SIZE(all_roles));
    if (r == 0 && starts)
        r = allow_names(filter, starting, ARRAY_SIZE(starting));
    if (r == 0 && role == CONFINE_SERVES)
        r = allow_serving(filter);
    if (r == 0 && SANITIZED)
        r = allow_names(filter, sanitizers, ARRAY_SIZE(sanitizers));
    if (r == 0 && !starts && !SANITIZED)
        r = allow_threads(filter);
    return r == 0 && !starts ? allow_requests(filter) : r;
}

/* A kernel without seccomp is no error. */
int confine_calls(enum confine_role role) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (!filter)
        return -ENOMEM;
    int r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (r == 0)
        r = allow_for_role(filter, role);
    if (r == 0)
        r = seccomp_load(filter);
    seccomp_release(filter);
    return r == -ENOSYS || r == -EOPNOTSUPP ? 0 : r;
}
