/* SPDX-License-Identifier: MIT */
/*
 * The few fields of the kernel that the programs read. Where they are is looked up when the
 * programs are loaded (CO-RE), in the description that the running kernel has of itself; so nothing
 * here depends on the machine that builds.
 */
#ifndef CHOKEPOINT_AGENT_WAIT_KERNEL_TYPES_H
#define CHOKEPOINT_AGENT_WAIT_KERNEL_TYPES_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

typedef __u8 wait_u8;
typedef __u16 wait_u16;
typedef __u32 wait_u32;
typedef __u64 wait_u64;
#define WAIT_IN_KERNEL
#include "agent/wait/wait_shared.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
    unsigned int inum;
};
struct pid_namespace {
    struct ns_common ns;
};
struct upid {
    int nr;
    struct pid_namespace *ns;
};
struct pid {
    unsigned int level;
    struct upid numbers[1];
};

struct inode {
    unsigned short i_mode;
};
struct file {
    void *private_data;
    struct inode *f_inode;
};
struct fdtable {
    unsigned int max_fds;
    struct file **fd;
};
struct files_struct {
    struct fdtable *fdt;
};

struct thread_info {
    __u32 status;
};
struct task_struct {
    struct thread_info thread_info;
    unsigned int __state, flags;
    int on_cpu, on_rq;
    int pid, tgid;
    struct task_struct *group_leader;
    struct pid *thread_pid;
    __u64 start_boottime;
    unsigned long nvcsw, nivcsw;
    struct files_struct *files;
    unsigned in_iowait : 1;
};

struct in6_addr {
    __u8 s6_addr[16];
};
struct sock_common {
    __be32 skc_daddr, skc_rcv_saddr;
    __be16 skc_dport;
    __u16 skc_num;
    unsigned short skc_family;
    struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
    struct {
        __s64 counter;
    } skc_cookie;
};
struct sk_buff_head {
    __u32 qlen;
};
struct sock {
    struct sock_common __sk_common;
    struct sk_buff_head sk_receive_queue;
    int sk_wmem_queued, sk_sndbuf;
    __u16 sk_protocol;
};
struct socket {
    struct sock *sk;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
    unsigned long di, si, cx, orig_ax, sp;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
    __u64 regs[31];
    __u64 sp;
    __u64 orig_x0;
    __s32 syscallno;
};
#endif

struct bpf_iter_meta {
    __u64 session_id;
};
struct bpf_iter__task {
    struct bpf_iter_meta *meta;
    struct task_struct *task;
};

#pragma clang attribute pop

#endif
