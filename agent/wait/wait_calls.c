/* SPDX-License-Identifier: MIT */
/* The kinds of system calls, by their numbers on this processor. */
#include "agent/wait/wait_calls.h"

#include <sys/syscall.h>

#include "common/error.h"

static const struct {
    uint16_t number;
    uint8_t call; /* enum wait_call */
} calls[] = {
    {SYS_read, WAIT_CALL_READ},
    {SYS_readv, WAIT_CALL_READ},
    {SYS_pread64, WAIT_CALL_READ},
    {SYS_preadv, WAIT_CALL_READ},
    {SYS_preadv2, WAIT_CALL_READ},
    {SYS_recvfrom, WAIT_CALL_READ},
    {SYS_recvmsg, WAIT_CALL_READ},
    {SYS_recvmmsg, WAIT_CALL_READ},
    {SYS_splice, WAIT_CALL_READ},
    {SYS_write, WAIT_CALL_WRITE},
    {SYS_writev, WAIT_CALL_WRITE},
    {SYS_pwrite64, WAIT_CALL_WRITE},
    {SYS_pwritev, WAIT_CALL_WRITE},
    {SYS_pwritev2, WAIT_CALL_WRITE},
    {SYS_sendto, WAIT_CALL_WRITE},
    {SYS_sendmsg, WAIT_CALL_WRITE},
    {SYS_sendmmsg, WAIT_CALL_WRITE},
    {SYS_sendfile, WAIT_CALL_WRITE},
    {SYS_connect, WAIT_CALL_CONNECT},
    {SYS_accept, WAIT_CALL_ACCEPT},
    {SYS_accept4, WAIT_CALL_ACCEPT},
#ifdef SYS_poll
    {SYS_poll, WAIT_CALL_POLL_FILES},
    {SYS_select, WAIT_CALL_SELECT},
    {SYS_epoll_wait, WAIT_CALL_POLL},
#endif
    {SYS_ppoll, WAIT_CALL_POLL_FILES},
    {SYS_pselect6, WAIT_CALL_SELECT},
    {SYS_epoll_pwait, WAIT_CALL_POLL},
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, WAIT_CALL_POLL},
#endif
    {SYS_futex, WAIT_CALL_FUTEX},
#ifdef SYS_futex_waitv
    {SYS_futex_waitv, WAIT_CALL_FUTEX},
#endif
    {SYS_nanosleep, WAIT_CALL_TIMER},
    {SYS_clock_nanosleep, WAIT_CALL_TIMER},
    {SYS_restart_syscall, WAIT_CALL_RESTART},
    {SYS_wait4, WAIT_CALL_CHILD},
    {SYS_waitid, WAIT_CALL_CHILD},
    {SYS_fsync, WAIT_CALL_SYNC},
    {SYS_fdatasync, WAIT_CALL_SYNC},
    {SYS_sync, WAIT_CALL_SYNC},
    {SYS_syncfs, WAIT_CALL_SYNC},
    {SYS_msync, WAIT_CALL_SYNC},
    {SYS_sync_file_range, WAIT_CALL_SYNC},
    {SYS_close, WAIT_CALL_CLOSE},
    {SYS_exit, WAIT_CALL_EXIT},
    {SYS_exit_group, WAIT_CALL_EXIT},
};

void wait_calls_fill(struct wait_config *config) {
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        if (calls[i].number < WAIT_CALLS)
            config->calls[calls[i].number] = calls[i].call;
}
