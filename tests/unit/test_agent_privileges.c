/* SPDX-License-Identifier: MIT */
/* A child gives up privileges and reports the rest. Only root has any to give up; other users keep
 * their bounding set and capabilities.
 */
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/privileges.h"

#define BIT(capability) (UINT64_C(1) << (capability))

struct left {
    uint64_t permitted, effective, inheritable, bounding;
    int result, no_new_privileges;
};

static uint64_t both(uint32_t low, uint32_t high) {
    return low | (uint64_t)high << 32;
}

static struct left look(void) {
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3] = {0};
    struct left left = {.no_new_privileges = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)};
    syscall(SYS_capget, &head, d);
    left.permitted = both(d[0].permitted, d[1].permitted);
    left.effective = both(d[0].effective, d[1].effective);
    left.inheritable = both(d[0].inheritable, d[1].inheritable);
    for (int i = 0; i < 64; i++)
        left.bounding |= prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1 ? BIT(i) : 0;
    return left;
}

static void inherit_all(void) {
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3] = {0};
    syscall(SYS_capget, &head, d);
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        d[i].inheritable = d[i].permitted;
    syscall(SYS_capset, &head, d);
}

static struct left drop_in_child(struct privileges_kept kept) {
    int ends[2], status;
    struct left left = {0};
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        inherit_all();
        int r = privileges_drop(&kept);
        left = look();
        left.result = r;
        _exit(write(ends[1], &left, sizeof left) != sizeof left);
    }
    assert_int_equal(read(ends[0], &left, sizeof left), sizeof left);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(left.result, 0);
    return left;
}

static void expect_left(struct privileges_kept kept, uint64_t wanted) {
    struct left before = look(), left = drop_in_child(kept);
    assert_int_equal(left.permitted, before.permitted & wanted);
    assert_int_equal(left.effective, before.permitted & wanted);
    assert_int_equal(left.inheritable, 0);
    assert_int_equal(left.no_new_privileges, 1);
    if (before.effective & BIT(CAP_SETPCAP))
        assert_int_equal(left.bounding, 0);
}

static void only_what_is_sampled_with_is_kept(void **state) {
    const uint64_t processes = BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_SYS_PTRACE) | BIT(CAP_NET_ADMIN);
    const uint64_t programs = BIT(38) | BIT(39); /* CAP_PERFMON, CAP_BPF */
    (void)state;
    expect_left((struct privileges_kept){0}, 0);
    expect_left((struct privileges_kept){.processes = true}, processes);
    expect_left((struct privileges_kept){.packets = true}, BIT(CAP_NET_RAW));
    expect_left((struct privileges_kept){.programs = true}, programs);
}

static void a_process_without_privileges_goes_on(void **state) {
    (void)state;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct privileges_kept all = {true, true, true}, none = {0};
        _exit(privileges_drop(&none) != 0 || privileges_drop(&all) != 0 || look().permitted);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_sampled_with_is_kept),
        cmocka_unit_test(a_process_without_privileges_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
