/* SPDX-License-Identifier: MIT */
/*
 * Every threshold of the verdict in one place: tuned on the tuning half of the fault matrix, frozen
 * before the other half is scored. Shares of time unless a name says otherwise.
 */
#ifndef CHOKEPOINT_ANALYSIS_THRESHOLD_H
#define CHOKEPOINT_ANALYSIS_THRESHOLD_H

/* ---- states: of the gain, as a share of the run's time ---- */
#define GAIN_MIN 0.05       /* less is not worth naming */
#define GAIN_LOW_MIN 0.02   /* lower end of its interval that "saturated" needs */
#define GAIN_HARMLESS 0.02  /* evidence of something busy that gains less: ruled out by name */
#define RUNNER_UP_CLOSE 0.7 /* of the first one's weight: said to be as good as equal */
#define BLOCKED_MIN 0.05    /* of the critical path: less is not looked at for a cause */
#define RUN_SAMPLES_MIN 20  /* of the host with the fewest */
/* Where every call of MPI is known: a sample's interval reaches over either end of the run, so that
 * a tenth of what only samples tell may be elsewhere. */
#define RUN_SAMPLES_BESIDE_CALLS 10
#define RUN_ITERATIONS_MIN 10
#define LEANING_SAMPLES_MIN 5 /* with fewer there is not even a suspicion */
#define MOVING_MUCH 0.2       /* of the ranks' time: said, where no limit was seen */
#define MOVING_DOUBT 0.5      /* less sure that nobody is to blame, by this part of that share */
#define UNSUPPLIED_WEIGHT                                                                          \
    0.75 /* of a gain without evidence of supply, in the order of candidates */

/* A phase shorter than this has too few samples to be judged alone, unless it is what the run is
 * about: nothing else could be said of it then. */
#define GROUP_MIN_NS INT64_C(2000000000)

/* ---- CPU ---- */
#define CONTENTION_MIN 0.10 /* run-queue delay over CPU time */
#define PSI_CPU_MIN 0.10    /* PSI cpu some */
#define FOREIGN_MIN 0.20    /* of a core: a process outside the job that can be to blame */
#define FOREIGN_PART 0.30   /* of the waiting that it could cause */
/* Waiting of a process for nobody but its own threads: two that take turns wait for as long as the
 * shorter turn is, and below a quarter that is no more than one helper thread. */
#define OWN_THREADS_MIN 0.25
#define OWN_THREADS_ALONE 0.45 /* where its peers do, or by its budget: for hardly any other, */
#define OWN_THREADS_REST 0.10  /* that is for less of its time */
/* How much slower a core is; less is chance. */
#define CORE_SLOWER 1.05
#define QUOTA_MIN 0.05   /* throttled, of wall time */
#define STEAL_MIN 0.03   /* steal */
#define SERIAL_MIN 0.08  /* of the time one rank computes while all others wait for it */
#define SERIAL_PEERS 0.2 /* of the ranks may still compute meanwhile */
#define SERIAL_PART                                                                                \
    0.7                /* of what a rank computes more than its peers is serial: else it is skew   \
                        */
#define BUSY_RANK 0.85 /* CPU and run queue of a rank: it computes, or it spins */
#define COMPUTE_BOUND 0.70 /* of the ranks' time */
#define BUSY_GAP_CPU 0.1   /* CPU time between two calls, of that time: it computes */
#define BUSY_GAP_NS 100000 /* as long at least */

/* ---- the program ---- */
/* CPU time outside MPI over the median of its peers, less what a slower core is known to take
 * (saturation_core.c). Equal work takes not equally long on two cores: over 56 clean runs of six
 * programs the standard deviation of the ratio is 8 % (10 % without that), and 54 of them are at
 * most at 1.14. */
#define SKEW_RATIO 1.2
/* Where no operators tell what is work and what the core: cores that others use as well take up to
 * half as long again for seconds, of which sampling sees a part. */
#define SKEW_RATIO_UNTOLD 1.3
/* Without calls: what waiting and moving data takes a process is in its CPU time as well. */
#define SKEW_RATIO_PROCESS 1.25
#define SKEW_WORTH_SAYING 1.1 /* below those: told, and nobody blamed */
/* Ranks that take turns on a core find each other's data in its caches: 1.16 to 1.25 on six clean
 * runs of the tuning half. */
#define SKEW_RATIO_SHARED 1.3
#define SKEW_PEER 0.25   /* of the most: who computes less is no peer */
#define SLEEP_RATIO 2.0  /* over the median of the others */
#define HELD_UP_MIN 0.30 /* of the time data were under way: held up by receiver or send buffer */

/* ---- processes of one role, without calls ---- */
/* Shares of unlike lives are compared: of lives that differ by a fifth at most, the sum of two
 * shares is off by less than the half that PEER_TOGETHER asks for. */
#define PEER_LIFE 0.8
/* Over the median of bytes, or under it: a server of two moves twice what each of them does, equals
 * move the same; between. */
#define PEER_TRAFFIC 1.5
#define PEER_TOGETHER                                                                              \
    0.5 /* of what a peer computes: at the same time as the busiest, for certain */
/* A byte is under way to the late one so many times as long as to its peers. Over two processes
 * that exchange as much both ways: 1.0 to 2.2 in ten clean runs (3.2 in one decoy, and idle in
 * neither), 4.3 to 8.7 where one of them slept. Threads behind their own process's: 1.0 to 2.5 in
 * 54 clean runs, 3.1 to 8 where one slept. */
#define LATE_RATIO 3.0
/* Data under way to it, of the time: .078 to .126 where one slept 12 to 30 % of it. */
#define LATE_MIN 0.05
/* Off its core for no reason that the kernel counts: as much again may be its waiting for others,
 * and what is left must be worth naming (GAIN_MIN). */
#define LATE_IDLE_MIN 0.10

/* ---- disk, memory ---- */
#define PSI_IO_MIN 0.10    /* PSI io some */
#define DISK_BUSY_MIN 0.70 /* of the device: full */
/* Of the job's waiting that the device was busy: a program with one request at a time keeps it busy
 * for as long as it waits; a throttle or a network lets it wait on an idle one. Half lies between.
 */
#define DISK_SERVING_PART 0.5
#define PSI_MEMORY_MIN 0.03   /* PSI memory some */
#define REFAULT_MIN_MB_S 20.0 /* pages read again soon after they were thrown out */
#define SWAP_MIN_MB_S 1.0     /* swapping in or out */
#define HEADROOM_MIN 0.15     /* of memory available: more is no shortage */
#define LIMIT_NEAR 0.90       /* of a group's memory limit */
#define FOREIGN_WRITE_MIN 1e6 /* bytes/s of a process outside the job that can be to blame */

/* ---- network: connections ---- */
#define FLOW_LIMITED_MIN 0.10 /* of the time a connection had data under way and nobody else's */
/* Of that time its bytes need at the rate the kernel measured on it. Of a full path nearly all: .84
 * to 1.3 on the shaped links of the tuning half; .1 to .52 where nothing was shaped. Between. */
#define FLOW_RATE_PART 0.7
#define FLOW_RATE_NONE 0.35 /* half of that and less: not held up at all; between, in part */
#define PATH_PART 0.3       /* of a link's demand: a replay that gains less meant the other end */
#define FLOW_F1_MIN 0.7     /* of the set of limited flows explained by one side of one host */
#define FLOW_F1_ALIKE 0.05  /* sides whose F1 differs by less explain it equally well */
#define FLOW_BYTES_MIN 0.01 /* of the bytes of the largest: smaller flows say nothing */
#define BACKLOG_MIN 3000.0  /* bytes, mean: two packets always wait before a full link */
#define OVERLIMITS_MIN 10.0 /* a second */
/* Of the rate an interface is set to, sent on average: who sends less, in bursts, waits for little
 * of it (a burst of a tenth of the time waits a tenth of the time at most). */
#define NETWORK_HELD_MIN 0.2
#define NETWORK_HELD_UNSEEN 0.5 /* where samples found hardly a queue */
#define NETWORK_HELD_TOLD 0.1   /* held back: a replay that shows nothing of it is wrong */
#define PACKET_BYTES 1500.0     /* a full one, where a host hands none on that are larger */
/* Of a connection's buffer, bytes: one that the kernel chose grows with what moves; where a program
 * has set it, and far below its peers', no transfer fits into it. */
#define ROOM_MIN 65536.0
#define ROOM_PART 0.125
#define QUEUE_NS 1e6            /* round trips longer than the shortest by this much: data queue */
#define FOREIGN_SENDER_MIN 0.02 /* of a core: a process outside the job that may be the sender */
#define OWN_BYTES_MIN 0.7       /* of an interface's bytes: less, and others use the link, too */

/* ---- network: rates ---- */
#define PLATEAU_BAND 0.10        /* a rate so close below its ceiling is at it */
#define PLATEAU_AMOUNT_MIN 0.40  /* of the bytes moved there; of random rates a fifth would be */
#define NETWORK_BLOCKED_MIN 0.20 /* a busy link is no proof that anybody waits for it */
#define NETWORK_FULL 0.80        /* of a measured ceiling on average: no plateau needs to be seen */
#define NETWORK_AT_RATE 0.33     /* of the time in samples so near to the rate that is set */
#define NETWORK_MIN_MB_S 5.0     /* a ceiling lower than this is no link we know */
#define PEER_CEILING_MIN 0.70    /* of the highest ceiling: below, the host's link is not the one */

/* ---- what a change would gain ---- */
/* Cores take that many times as long for the same work at another time (the standard deviation of
 * equal ranks is 8 %), so that what nothing is gained of may be that much more or less. */
#define PACE_FASTER 0.9
#define PACE_SLOWER 1.1

/* ---- when it held ---- */
#define SPAN_OUTSIDE_MAX 0.35 /* of the level inside: else it held the whole run */
#define SPAN_LEVEL_MIN 0.10   /* inside over outside */
#define SPAN_FIT_MIN 0.5      /* of the variance that the two levels explain */

#endif
