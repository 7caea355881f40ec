/* SPDX-License-Identifier: MIT */
/*
 * Shared by the programs in the kernel (this folder) and the agent: the states that a thread can
 * be in, and the maps' values. Plain numbers of fixed size, so that both sides lay them out alike.
 *
 * A thread's clocks stand in a slot of the map `threads`, which the agent maps into its memory: no
 * system call reads them, and a wait that goes on is seen while it does (state, since_ns). The
 * agent frees a slot, once it has taken the last figures of a thread that ended.
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

#define WAIT_THREADS 8192 /* of the job on this host at a time */
#define WAIT_PROCESSES 2048
#define WAIT_SOCKETS 4096
#define WAIT_WAKEUPS 4096
#define WAIT_MEMBERS 2048
#define WAIT_CORES 256 /* that count events apart; more share */
#define WAIT_CALLS 512 /* numbers of system calls that are known */

/* Where a thread's time goes: places in arrays, which no database knows. */
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

/* The kinds of system calls, by their numbers: filled by the agent, which knows the numbers. */
enum wait_call {
    WAIT_CALL_NONE,
    WAIT_CALL_READ, /* its first argument is a file, whose kind says what it waits for */
    WAIT_CALL_WRITE,
    WAIT_CALL_CONNECT,
    WAIT_CALL_ACCEPT,
    WAIT_CALL_POLL,
    WAIT_CALL_POLL_FILES, /* poll: its second argument says of how many files */
    WAIT_CALL_SELECT,     /* its first does */
    WAIT_CALL_FUTEX,
    WAIT_CALL_TIMER,
    WAIT_CALL_CHILD,
    WAIT_CALL_SYNC,
    WAIT_CALL_RESTART, /* goes on with what a signal interrupted */
    WAIT_CALL_CLOSE,
    WAIT_CALL_EXIT,
};

#define WAIT_NAMESPACES 8 /* of process ids, one in another: a container in a container is 2 */

struct wait_config {
    wait_u8 calls[WAIT_CALLS];
    wait_u32 namespace_inode; /* of the agent's process ids; 0: the machine's first */
};

enum wait_slot {
    WAIT_FREE,
    WAIT_TAKEN,
    WAIT_LIVE,
    WAIT_ENDED,
    WAIT_READ, /* of a process: the agent has its last figures, and frees it a sample later */
};

struct wait_thread {
    wait_u32 slot;     /* enum wait_slot */
    wait_u32 sequence; /* odd while it changes */
    union {
        struct {
            wait_u32 state;      /* enum wait_state */
            wait_u32 generation; /* as in the totals; another one: not seen since a pause */
        };
        wait_u64 word; /* both, so that they change at once */
    };
    wait_u32 tgid;     /* in the agent's own namespace of process ids; 0: not there */
    wait_u32 process;  /* slot of its process, + 1; 0: none was free */
    wait_u64 start_ns; /* of its process, since boot: tells apart two of the same id */
    wait_u64 since_ns; /* CLOCK_MONOTONIC */
    wait_u64 ns[WAIT_STATES];
    wait_u64 times[WAIT_STATES]; /* how often it left that state */
    /* For the programs alone. */
    wait_u64 pending_ns;      /* waited for a socket that is not known yet: the next read tells */
    wait_u64 last_pending_ns; /* the last of the waits in it */
    wait_u64 gap_ns;         /* its process was blocked for so long, when it woke last; 0: it ran */
    wait_u64 pending_gap_ns; /* of pending_ns, what the whole process waited */
    wait_u64 last_socket;    /* address of the last socket it read from, and its slot + 1 */
    wait_u32 last_slot;
    wait_u32 wait_slot; /* of the socket it is blocked on, + 1; 0: none or not known */
    wait_u32 switches;  /* of its own, when it left its core last */
    wait_u32 acted;     /* read from or wrote to a socket since it went on: no tick */
    wait_u64 asked;     /* address of the socket over which it asked for a name; 0: answered */
};

/*
 * A process: some thread of it is on a core, or else ready to run, or all are blocked. An event
 * adds the difference that its thread makes to three numbers in one word, and the one that changes
 * a number from or to zero moves a clock; so there is no lock, and sums do not depend on the order.
 */
#define WAIT_ONE_RUNNING ((wait_u64)1)
#define WAIT_ONE_BUSY ((wait_u64)1 << 21) /* running or ready to run */
#define WAIT_ONE_THREAD ((wait_u64)1 << 42)
#define WAIT_COUNT(counts, one) ((counts) / (one)&0x1fffff)

/* A thread that ends a gap, looks, and blocks as before within so much of a core's time only ticks:
 * the process goes on waiting for what it waited for. */
#define WAIT_TICK_NS 1000000

struct wait_process {
    wait_u32 slot;
    wait_u32 tgid;   /* as of a thread */
    wait_u64 counts; /* how many of its threads run, are busy, are there */
    /* The sum of spans that are over; of one that goes on, its beginning is taken off already. */
    wait_u64 run_ns, busy_ns;
    wait_u64 gap_since_ns; /* all have been blocked since then; 0: somebody took it */
    wait_u32 last_state;   /* of the thread that blocked last */
    wait_u32 unused;
    wait_u64 start_ns; /* as of a thread */
    wait_u64 joined_ns;
    wait_u64 ended_ns;
    /* Gaps, by the state of the thread that ended each, with the part of a gap that an agent told
     * while it went on: who takes gap_since_ns adds the time since then. */
    wait_u64 gap_ns[WAIT_STATES];
    wait_u64 blocked_since_ns; /* all have been blocked since then, but for ticks */
    /* The gap that ended last, until it is known whether what ended it was a tick. */
    wait_u64 open_gap_ns;
    wait_u64 opened_by;    /* address of the thread that ended it */
    wait_u64 opened_ns;    /* when */
    wait_u64 opener_ran;   /* what that one had run by then */
    wait_u64 carry_ns;     /* gaps that ticks ended: of whoever ends the next */
    wait_u32 open_state;   /* what that thread had been blocked on */
    wait_u32 worker_state; /* of the thread that ended a gap last by more than a tick */
    wait_u64 worker;       /* its address */
    wait_u64 alone[5];     /* in cache lines of its own */
};

struct wait_socket {
    wait_u32 slot;
    wait_u32 tgid; /* of its last reader, as above */
    wait_u64 cookie;
    wait_u64 address; /* in the kernel: tells sockets apart, and nothing else */
    wait_u16 family, local_port, remote_port, unused; /* ports as numbers */
    wait_u32 ended;
    wait_u8 local[16], remote[16];
    wait_u64 starved_ns, unread_ns, send_blocked_ns;
    wait_u64 reads, read_bytes;
    wait_u64 ready_since_ns; /* data has lain there since then; 0: none does */
    wait_u64 read_ns;        /* when it was read last */
    /* The length of waits of the whole process that ended here.
     */
    wait_u64 process_starved_ns, process_send_blocked_ns;
};

struct wait_wakeup_key {
    wait_u32 waiter, waker; /* process ids; the waker's 0: not seen from here */
    wait_u32 state;
};

struct wait_wakeup {
    wait_u64 ns, times;
    wait_u64 process_ns; /* of the whole process, which that ended */
};

enum wait_loss {
    WAIT_LOST_THREADS,
    WAIT_LOST_SOCKETS,
    WAIT_LOST_WAKEUPS,
    WAIT_LOST_PROCESSES,
    WAIT_LOSSES
};

struct wait_totals {
    /* Where the search for a free slot begins: the agent sets it to the lowest one, so that slots
     * in use stay together. */
    wait_u32 next_thread, next_socket, next_process;
    wait_u32 generation; /* how many pauses have ended */
    /* Events that a core may count until the agent sets it back to zero. The one beyond pauses all
     * clocks: the agent then takes the programs away, and lets them go on a while later. */
    wait_u32 budget;
    wait_u32 paused;
    wait_u64 paused_ns, resumed_ns;
    wait_u64 lost[WAIT_LOSSES];
    wait_u64 lost_wakeup_ns;
};

struct wait_pace { /* of one core, in a cache line of its own */
    wait_u32 events;
    wait_u32 unused[15];
};

#endif
