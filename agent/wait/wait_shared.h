/* SPDX-License-Identifier: MIT */
/*
 * Shared by the programs in the kernel (this folder) and the agent: the states of threads, and
 * the maps' values. Numbers have fixed sizes, so that both sides lay them out alike.
 *
 * A thread's clocks stand in a slot of the map `threads`, which the agent maps into its memory:
 * reading them takes no system call, and waits in progress are visible (state, since_ns). The agent
 * frees a slot, once it has taken the last figures of a thread that ended.
 */
#ifndef CHOKEPOINT_AGENT_WAIT_SHARED_H
#define CHOKEPOINT_AGENT_WAIT_SHARED_H

#ifndef WAIT_IN_KERNEL
#include <stdint.h>
typedef uint8_t wait_u8;
typedef uint16_t wait_u16;
typedef uint32_t wait_u32;
typedef uint64_t wait_u64;
#endif

#define WAIT_THREADS 8192 /* threads of the job on this host at a time */
#define WAIT_PROCESSES 2048
#define WAIT_SOCKETS 4096
#define WAIT_WAKEUPS 4096
#define WAIT_MEMBERS 2048
#define WAIT_CORES 256 /* cores that count events separately; further cores share */
#define WAIT_CALLS 512 /* numbers of system calls that are classified */

/* States of threads: places in arrays. Databases do not contain these numbers. */
enum wait_state {
#define STATE(ID, number, name, times, what, as_one) WAIT_##ID,
#include "tables/wait_states.def"
    WAIT_STATES,
    WAIT_LAST_STATE_ = WAIT_STATES - 1,
#define PAIR(ID, number, name, what) WAIT_##ID,
#include "tables/wait_states.def"
    WAIT_REASONS
};
#define WAIT_FIRST_BLOCKED (WAIT_RUNNABLE + 1)
_Static_assert(WAIT_RUNNABLE == WAIT_RUN + 1 && WAIT_UNCLOCKED == WAIT_STATES - 1,
               "states that block stand in between");

/* Kinds of system calls. The agent knows the numbers of calls and fills in their kinds. */
enum wait_call {
    WAIT_CALL_NONE,
    WAIT_CALL_READ, /* its first argument is a file; the kind of file decides */
    WAIT_CALL_WRITE,
    WAIT_CALL_CONNECT,
    WAIT_CALL_ACCEPT,
    WAIT_CALL_POLL,
    WAIT_CALL_POLL_FILES, /* poll: its second argument is the number of files */
    WAIT_CALL_SELECT,     /* its first argument is the number of files */
    WAIT_CALL_FUTEX,
    WAIT_CALL_TIMER,
    WAIT_CALL_CHILD,
    WAIT_CALL_SYNC,
    WAIT_CALL_RESTART, /* continues what a signal interrupted */
    WAIT_CALL_CLOSE,
    WAIT_CALL_EXIT,
};

#define WAIT_NAMESPACES 8 /* nested namespaces of process ids: a container in a container has 2 */

/* Added to the state of a call (cookie of its program): its fourth argument tells the direction;
 * the kernel cannot emulate its first instruction but lets the thread step over it, which takes two
 * more traps: 2 us on real machines, 15 us in some virtual ones. */
#define WAIT_DRIVER_BY_KIND 0x100
#define WAIT_DRIVER_STEPPED 0x200
#define WAIT_STEPPED_EVENTS 20 /* as many events cost as much */

struct wait_config {
    wait_u8 calls[WAIT_CALLS];
    wait_u32 namespace_inode; /* of the agent's process ids; 0: the machine's first */
};

enum wait_slot {
    WAIT_FREE,
    WAIT_TAKEN,
    WAIT_LIVE,
    WAIT_ENDED,
    WAIT_READ, /* of a process: the agent has its last figures, and frees the slot a sample later */
};

struct wait_thread {
    wait_u32 slot;     /* enum wait_slot */
    wait_u32 sequence; /* odd while it changes */
    union {
        struct {
            wait_u32 state;      /* enum wait_state */
            wait_u32 generation; /* as in the totals; otherwise not seen since a pause */
        };
        wait_u64 word; /* both in one, so that they change at once */
    };
    wait_u32 tgid;     /* in the agent's namespace of process ids; 0: not visible there */
    wait_u32 process;  /* slot of its process, + 1; 0: no slot was free */
    wait_u64 start_ns; /* of its process, since boot: identifies it if ids are reused */
    wait_u64 since_ns; /* CLOCK_MONOTONIC */
    wait_u64 ns[WAIT_STATES];
    wait_u64 times[WAIT_STATES]; /* how often the thread left each state */
    /* For the programs in the kernel alone. */
    wait_u64 pending_ns;      /* waited for a socket that is not known yet: the next read decides */
    wait_u64 last_pending_ns; /* the last wait in pending_ns */
    wait_u64 gap_ns;          /* how long its process was blocked at its last wakeup; 0: it ran */
    wait_u64 last_socket;     /* address of the socket that it read last, and its slot + 1 */
    wait_u32 last_slot;
    wait_u32 wait_slot; /* slot + 1 of the socket for which it is blocked; 0: none or not known */
    wait_u32 switches;  /* its own count, when it last left its core */
    wait_u32 acted;     /* it used a socket, or woke another thread, since it last woke: no tick */
    wait_u64 asked;     /* address of the socket with an open question for a name; 0: none */
    wait_u32 handed;    /* a thread of its own process woke it last: it ended no gap */
    wait_u32 unused;
    /* The outermost call of a GPU's driver that the thread is in: its state, or 0 for none; its
     * stack at entry; and driver_generation then. */
    wait_u32 driver_state, driver_generation;
    wait_u64 driver_stack;
};

/*
 * A process: some thread of it is on a core, or else ready to run, or all are blocked. An event
 * adds the change of its thread to three counts in one word; an event that changes a count from or
 * to zero moves a clock. So no lock is needed, and sums do not depend on the order of events.
 */
#define WAIT_ONE_RUNNING ((wait_u64)1)
#define WAIT_ONE_BUSY ((wait_u64)1 << 21) /* running or ready to run */
#define WAIT_ONE_THREAD ((wait_u64)1 << 42)
#define WAIT_COUNT(counts, one) ((counts) / (one)&0x1fffff)

/* If a thread ends a gap, runs for less than this, and blocks again as before, it only ticks: the
 * process continues its wait. */
#define WAIT_TICK_NS 1000000

struct wait_process {
    wait_u32 slot;
    wait_u32 tgid;   /* as in wait_thread */
    wait_u64 counts; /* how many of its threads run, are busy, exist */
    /* Sums of finished spans. The beginning of a span in progress is already subtracted. */
    wait_u64 run_ns, busy_ns;
    wait_u64 gap_since_ns; /* all threads have been blocked since then; 0: the gap was taken */
    wait_u32 last_state;   /* of the thread that blocked last */
    wait_u32 unused;
    wait_u64 start_ns; /* as in wait_thread */
    wait_u64 joined_ns;
    wait_u64 ended_ns;
    /* Gaps by the state of the thread that ended each. They include the parts of gaps in progress
     * that the agent took: an event that takes gap_since_ns adds the time since then. */
    wait_u64 gap_ns[WAIT_STATES];
    wait_u64 blocked_since_ns; /* all threads have been blocked since then, apart from ticks */
    /* The gap that ended last, until it is known whether a tick ended it. */
    wait_u64 open_gap_ns;
    wait_u64 opened_by;    /* address of the thread that ended it */
    wait_u64 opened_ns;    /* time of that */
    wait_u64 opener_ran;   /* CPU time of that thread by then */
    wait_u64 carry_ns;     /* gaps that ticks ended: they go to the thread that ends the next gap */
    wait_u32 open_state;   /* state of that thread before the gap ended */
    wait_u32 worker_state; /* of the last thread that ended a gap by more than a tick */
    wait_u64 worker;       /* its address */
    /* Gaps that a poll or an unknown socket ended. The next read of any thread decides: the thread
     * that polls may hand its work over. */
    wait_u64 pending_gap_ns;
    wait_u64 pending_since_ns; /* beginning of the last of them, which ticks may interrupt */
    wait_u64 pending_last_ns;  /* the part of it in pending_gap_ns */
    wait_u64 alone[2];         /* padding to whole cache lines */
};

struct wait_socket {
    wait_u32 slot;
    wait_u32 tgid; /* of its last reader, as in wait_thread */
    wait_u64 cookie;
    wait_u64 address; /* in the kernel; only to tell sockets apart */
    wait_u16 family, local_port, remote_port, unused; /* ports in the host's order */
    wait_u32 ended;
    wait_u8 local[16], remote[16];
    wait_u64 starved_ns, unread_ns, send_blocked_ns;
    wait_u64 reads, read_bytes;
    wait_u64 ready_since_ns; /* data has been unread since then; 0: there is none */
    wait_u64 read_ns;        /* time of the last read */
    /* Waits of the whole process that ended at this socket. */
    wait_u64 process_starved_ns, process_send_blocked_ns;
};

struct wait_wakeup_key {
    wait_u32 waiter, waker; /* process ids; waker 0: not visible from here */
    wait_u32 state;
};

struct wait_wakeup {
    wait_u64 ns, times;
    wait_u64 process_ns; /* waits of the whole process that this ended */
};

enum wait_loss {
    WAIT_LOST_THREADS,
    WAIT_LOST_SOCKETS,
    WAIT_LOST_WAKEUPS,
    WAIT_LOST_PROCESSES,
    WAIT_LOSSES
};

struct wait_totals {
    /* Where the search for a free slot begins. The agent sets it to the lowest free slot, so that
     * used slots stay together. */
    wait_u32 next_thread, next_socket, next_process;
    wait_u32 generation; /* number of pauses that have ended */
    /* Events that a core may count until the agent resets the count. The next event pauses all
     * clocks: the agent then detaches the programs, and attaches them again after a while. */
    wait_u32 budget;
    wait_u32 paused;
    wait_u64 paused_ns, resumed_ns;
    wait_u64 lost[WAIT_LOSSES];
    wait_u64 lost_wakeup_ns;
    /* How often calls of GPU drivers were followed again after they were not. Calls that began
     * before may have returned unseen. */
    wait_u32 driver_generation;
};

struct wait_pace { /* of one core, in its own cache line */
    wait_u32 events;
    wait_u32 driver_events; /* the part of the events that are calls of GPU drivers */
    wait_u32 unused[14];
};

#endif
