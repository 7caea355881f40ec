/* SPDX-License-Identifier: MIT */
/* The sentence of every remark of the rules, in the order of remarks.def. remark_words.h tells the
   conversions. */
#include "reports/says/remark_words.h"

const char *remark_template(enum remark_code code) {
    static const char *const templates[REMARK_COUNT_] = {
        /* ---- CPU: contention and serial processes ---- */
        [REMARK_WAITED_FOR_CORE] = "%s was ready to run but waited for a core %.0f %% of the time",
        [REMARK_PSI_CPU] = "some task waited for a core %.0f %% of the time (PSI cpu)",
        [REMARK_RANKS_ALL_BUSY] =
            "every rank keeps its core busy: ranks that spin while they wait would look the same",
        [REMARK_CONTENTION_WITH] = "contention with %s%[| and other programs]",
        [REMARK_CONTENTION_WITH_MANY] = "contention with other programs",
        [REMARK_FOREIGN_USED] = "%s, not of the job, used %.0f %% of a core",
        [REMARK_OUTSIDERS_USED] = "programs outside the job used %.2g cores there",
        [REMARK_MORE_READY_THAN_CORES] = "more of the job is ready to run than there are cores: %d",
        [REMARK_JOB_USED_BESIDE] = "other processes of the job used %.0f %% of a core there",
        [REMARK_CORES_SHARED_OUTSIDE] =
            "its cores are shared with something outside this host's view",
        [REMARK_HOST_USED_ONLY] = "the host itself used only %.0f %% of its cores: they are shared "
                                  "with others (emulated hosts, containers)",
        [REMARK_READY_AT_TIMES] = "at times more threads are ready than there are cores",
        [REMARK_PROCESS_COMPUTES_ALONE] = "serial: one process computes, the others wait",
        [REMARK_PROCESS_FILLS_CORE] =
            "%s used %.0f %% of one core, the other ranks %.0f %% in the median",
        [REMARK_FASTER_CORE_OR_THREADS] = "nobody waited for a core: a faster core or more threads "
                                          "would help, more cores alone would not",
        [REMARK_CPU_HARMLESS] =
            "cpu: somebody waited for a core %.0f %% of the time, which hardly held up the run",
        [REMARK_CPU_NOT_SHORT] = "cpu: hosts were at most %.0f %% busy, and tasks waited for a "
                                 "core %[only |]%.1f %% of the time",
        [REMARK_CPU_SHARED_ALIKE] = "cpu: these hosts share their cores and waited for one up to "
                                    "%.0f %% of the time, so no host stands out",
        [REMARK_ADVISE_FIND_OUTSIDER] =
            "see who else computes on that host (`top` there), and stop it or keep it away from "
            "the job (another host, cores of its own)",
        [REMARK_ADVISE_OWN_CORES] =
            "give that host cores of its own: another virtual machine or container has them, too",
        /* ---- CPU quota and steal ---- */
        [REMARK_QUOTA_USED_UP] = "its control group has used up its share of CPU",
        [REMARK_QUOTA_CORES] = "its control group may use %.3g cores",
        [REMARK_QUOTA_THROTTLED] = "the kernel kept the group from running %.0f %% of the time",
        [REMARK_HELD_BACK] = "%w was ready to run but throttled %.0f %% of the time",
        [REMARK_QUOTA_HARMLESS] =
            "CPU quota: a group was throttled %.0f %% of the time, which hardly held up the run",
        [REMARK_HYPERVISOR_RUNS_OTHERS] = "the hypervisor runs others on these cores",
        [REMARK_STOLEN] = "%.1f %% of the cores' time was stolen",
        [REMARK_STEAL_LITTLE] = "steal: %.1f %% at most",
        [REMARK_STEAL_NONE] = "steal: none",
        /* ---- a machine that hosts share ---- */
        [REMARK_MACHINE_SHARED] = "%d hosts share its %.0f cores",
        [REMARK_MACHINE_BUSY] = "the machine's %.0f cores were %.0f %% busy in sum",
        [REMARK_MACHINE_TAKEN_BY_OTHERS] =
            "these hosts used %.0f %% of the machine's cores, and ranks of each waited %.0f %% of "
            "their time for one at least: something else runs there",
        [REMARK_RUN_WAITED_FOR_CORE] =
            "the run waited for a core %.0f %% of the time, on all hosts",
        /* ---- computing ---- */
        [REMARK_PROGRAM_COMPUTES] = "the program computes",
        [REMARK_USED_BY_SHORT_PROCESSES] =
            "most of its CPU time was used by processes too short-lived to be seen one by one",
        [REMARK_ONE_THREAD_COMPUTES] = "one thread computes, and the other cores idle",
        [REMARK_CORES_USED] = "the job used %.2g of the %.0f cores of its %d host%[|s]",
        [REMARK_CORES_USED_HERE] = "the job used %.2g of the %.0f cores of %s",
        [REMARK_SPINNING_LOOKS_ALIKE] = "ranks that spin while they wait would look the same",
        /* ---- disk ---- */
        [REMARK_IO_SLOW_DEVICE_IDLE] = "its I/O is slow though the device is idle",
        [REMARK_IO_OF_SERVER] = "its I/O is slow though the device is idle: it waits for the NFS "
                                "server of %s",
        [REMARK_NFS_CALLS] = "calls to %s: %.0f a second, %.1f ms each, %.1f ms of it network and "
                             "server (mountstats)",
        [REMARK_IO_ONE_BY_ONE] =
            "one request after the other, each served as fast as the device can",
        [REMARK_DEVICE_BUSY] = "the device is busy",
        [REMARK_DEVICE_SHARED] = "%s uses the device, too",
        [REMARK_FOREIGN_IO] = "%s, not of the job, read and wrote %.1f MB/s",
        [REMARK_PSI_IO] = "some task waited for I/O %.0f %% of the time (PSI io)",
        [REMARK_DEVICE_HAD_REQUESTS] = "the busiest device had requests %.0f %% of the time",
        [REMARK_BLOCKED_ON_IO] = "a process of the job was blocked on I/O %.0f %% of the time",
        [REMARK_DELAY_NOT_COUNTED] = "whether the job itself waited is not known: the kernel keeps "
                                     "no block-I/O delay (sysctl kernel.task_delayacct=1)",
        [REMARK_DISK_BUSY_AT_MOST] = "disk: busy %.0f %% of the time at most",
        [REMARK_DISK_NOT_SHORT] =
            "disk: busy %.0f %% of the time at most, tasks waited for it %.1f %%",
        [REMARK_ADVISE_COUNT_DELAY] = "set kernel.task_delayacct=1 before the run, so that the "
                                      "job's own waiting for disks is counted",
        [REMARK_ADVISE_READ_AHEAD] =
            "read ahead while the program computes, or keep in memory what it reads again",
        /* ---- memory ---- */
        [REMARK_OVER_GROUP_LIMIT] = "the working set does not fit into its control group's limit",
        [REMARK_OVER_MEMORY] = "the working set does not fit",
        [REMARK_SWAPPING] = "swapping",
        [REMARK_PSI_MEMORY] = "some task waited for memory %.0f %% of the time (PSI memory)",
        [REMARK_PAGES_READ_AGAIN] =
            "%.0f MB/s of evicted pages were read back, %.0f MB/s were swapped",
        [REMARK_LIMIT_HIT] = "the job's control group had %.0f %% of its memory limit in use and "
                             "ran into it %.3g times a second",
        [REMARK_MEMORY_AVAILABLE] = "%.0f %% of memory was available",
        [REMARK_MEMORY_FREE] = "memory: %.0f %% free at least",
        [REMARK_MEMORY_FREE_BUT_WAITED] =
            "memory: %.0f %% free at least, tasks waited for it %.1f %% of the time",
        [REMARK_MEMORY_NEARLY_FREE] = "memory: nearly all free",
        [REMARK_MEMORY_NEARLY_FREE_BUT_WAITED] =
            "memory: nearly all free, tasks waited for it %.1f %% of the time",
        /* ---- links ---- */
        [REMARK_LINK] = "link",
        [REMARK_LINK_SHARED] = "the link, shared with traffic of others",
        [REMARK_LINK_SHARED_WITH] = "the link, shared with traffic of others, probably of %s",
        [REMARK_FASTER_INTERFACE_IDLE] =
            "%s %[sends|receives] %.3g of %.3g Mbit/s while %s, which can move %.3g, is idle",
        [REMARK_INTERFACES_REACH_SAME] = "%s and %s are each in a network that %s is in, too",
        [REMARK_REACHED_BY_ADDRESS] =
            "hardly anything went over %s: that it leads there is known by addresses alone",
        [REMARK_OWN_BYTES] = "of what its interface carried only %.0f %% was the job's",
        [REMARK_ARITHMETIC] = "arithmetic: %.4g MB an iteration / %.4g MB/s = %.3g s of the %.3g s "
                              "an iteration takes (%.0f %%)",
        [REMARK_PATH_LIMITED] =
            "the network limited %d of %d routes between hosts, %d of them %[from|to] this "
            "host; data were in flight %.0f %% of the time (%.0f %% by their rate)",
        [REMARK_QUEUE_BEFORE_INTERFACE] =
            "%.0f kB waited before its interface on average%[, held back to a set rate|]",
        [REMARK_ROUND_TRIPS_LONGER] =
            "round trips took %.1f ms longer than the shortest: data queued on the way",
        [REMARK_NOTHING_QUEUED] = "nothing queued at the sender, so the limit lies behind it: at "
                                  "this host's link, or on the way to it",
        [REMARK_MOVED_AT_FULL_RATE] = "data moved at the full %.4g MB/s (%.3g Gbit/s) %[its "
                                      "interface is set to|this link was measured to carry]",
        [REMARK_MOVED_BELOW_RATE] = "data moved at %.4g MB/s; %[its interface is set to|this link "
                                    "was measured to carry] %.4g MB/s (%.3g Gbit/s)",
        [REMARK_MEASURED_FAR_MORE] =
            "its link was measured to carry %.4g MB/s, far more than the %.4g MB/s that moved: the "
            "limit may lie elsewhere on the way, or be new",
        [REMARK_TWIN_EXPLAINS] =
            "%s's link explains the same and shows as much: the limit may be there",
        [REMARK_HELD_TO_SET_RATE] = "its interface is set to %.4g MB/s (%.3g Gbit/s) and was held "
                                    "back to that %.0f times a second",
        [REMARK_QUEUED_TO_SET_RATE] =
            "%.0f kB waited before its interface on average, which is set to %.4g MB/s (%.3g "
            "Gbit/s) and was held back to that %.0f times a second",
        [REMARK_SENT_AT] = "it sent at %.0f %% of that rate on average",
        [REMARK_NEAR_MEASURED] =
            "%[sent|received] %.0f %% of its bytes within %.0f %% of the %.4g MB/s (%.3g Gbit/s) "
            "this link was measured to carry; at that rate they take %.0f %% of the time",
        [REMARK_NEAR_HIGHEST] =
            "%[sent|received] %.0f %% of its bytes within %.0f %% of %.4g MB/s (%.3g Gbit/s), the "
            "highest rate it reached again and again; at that rate they take %.0f %% of the time",
        [REMARK_CEILING_NOT_MEASURED] = "the capacity of the link was not measured: it carried "
                                        "%.4g MB/s at most, which need not be its limit",
        [REMARK_CEILING_OUTDATED] = "the link was measured to carry %.4g MB/s, but carried %.4g "
                                    "MB/s: its capacity is no longer known",
        [REMARK_RANKS_COMPUTE_OR_SPIN] = "the ranks keep their cores busy: they compute, or they "
                                         "spin while they wait; the kernel cannot tell",
        [REMARK_CPU_IDLE] = "every host had at least %.0f %% of its CPU idle meanwhile",
        [REMARK_ROUTES_FREE] =
            "network: no connection was limited by its path (%d routes, %.4g MB/s at most)",
        [REMARK_FULLEST_LINK] = "network: no link was full; the fullest, %s %[sending|receiving], "
                                "carried %.0f %% of its %.4g MB/s",
        [REMARK_LINK_OR_CORE] =
            "network: data was in flight at %s for %.0f %% of the time, but these hosts share "
            "their "
            "cores and waited for one %.0f %% of the time: it may have waited for the same cores",
        [REMARK_NETWORK_QUIET] = "network: never more than %.2f MB/s for long",
        [REMARK_NO_PLATEAU] =
            "network: no link stayed near the highest rate seen (%.4g MB/s; %.4g on average)",
        /* ---- transfers of one rank, buffers, latency ---- */
        [REMARK_TRANSFERS_TAKE_LONGER] = "transfers take rank %d longer than its peers",
        [REMARK_SLOW_AT_ITS_END] = "rank %d is slow at its own end of its connections: transfers "
                                   "take it longer than its peers, and the path was idle meanwhile",
        [REMARK_BUFFERS_OF_RANK] = "the %[receive|send] buffers of rank %d are too small for %[the "
                                   "data that arrive|the path]",
        [REMARK_BUFFERS_HOLD] = "the %[receive|send] buffers of its connections have room for %.0f "
                                "bytes, those of the other hosts for %.0f kB in the median",
        [REMARK_OWN_TIME_LONGER] =
            "rank %d takes %.2f times as long as its peers, without its waiting for others",
        [REMARK_TRANSFERS_HOLD_UP] =
            "transfers to and from its host hold up the run %.0f %% of the time",
        [REMARK_BUFFERS_NOT_COUNTED] = "the program may have small buffers, or seldom progress its "
                                       "transfers: the kernel counted neither",
        [REMARK_LIMIT_BETWEEN_HOSTS] = "no link of these hosts was seen to be full: the limit may "
                                       "lie between them, in either direction",
        [REMARK_READS_TOO_SLOWLY] = "its program reads more slowly than data arrive",
        [REMARK_SEND_BUFFERS_SMALL] = "its send buffers are too small for the path",
        [REMARK_DATA_HELD_UP] = "data from %s to %s were held up by %[the receiver|the send "
                                "buffer] %.0f %% of the time, by the path %.0f %%",
        [REMARK_MESSAGES_SMALL] =
            "%.0f messages a second between hosts, most of them of at most %.0f bytes",
        [REMARK_MESSAGES_WENT] =
            "%.0f messages went between hosts; half of all bytes went in messages of at most %.0f "
            "bytes, for which the rate of a link does not matter",
        /* ---- ranks: serial work, imbalance, pauses ---- */
        [REMARK_RANK_COMPUTES_ALONE] = "serial: rank %d computes alone, all others wait for it",
        [REMARK_COMPUTED_ALONE] =
            "rank %d computed alone %.0f %% of the time: no other rank does that work, or all "
            "others were waiting already; it computed %.0f %% in all",
        [REMARK_FASTER_CORE_OR_SHARING] = "nobody waited for a core: a faster core, or sharing "
                                          "this work out, would help; more cores alone would not",
        [REMARK_WAITED_FOR_CORE_TOO] = "a faster core, or sharing this work out, would help; more "
                                       "cores would save no more than its waiting for one",
        [REMARK_RANK_SERVES] = "serial: rank %d does work for all others, one after the other",
        [REMARK_SERVED] =
            "rank %d computed for the other ranks %.0f %% of the time: %.3g ms an iteration, so "
            "that all ranks together can do at most %.4g iterations a second",
        [REMARK_HAS_MORE] = "%w has %.2f times as much to compute as its peer%[|s]",
        [REMARK_HAS_MORE_EACH] =
            "rank %d has %.2f times as much to compute for an iteration as its peer%[|s]",
        [REMARK_ITERATION_TOOK] = "rank %d used %.3g s of CPU time an iteration, its peer%[|s] "
                                  "%.3g s; it did %.0f iterations, the others %.0f on average",
        [REMARK_RANK_USED_CPU] = "rank %d used the CPU outside MPI %.0f %% of the time, its "
                                 "peer%[|s] %.0f %%%[| in the median]",
        [REMARK_RANK_USED_CPU_FOR_MORE] =
            "rank %d used the CPU outside MPI %.0f %% of the time, its peer%[|s] %.0f %%; for as "
            "much work as its peer%[ did|s did each] it would have used %.0f %%",
        [REMARK_WAITED_FOR_OTHERS] = "it waited for others %.0f %% of the time itself",
        [REMARK_SLEEPS] = "rank %d sleeps, or waits for a lock, in its own code",
        [REMARK_SLEPT] = "rank %d was off its core %.0f %% of the time outside MPI, and waited for "
                         "no core, disk or memory",
        [REMARK_STOPPED] = "rank %d is stopped by a signal or a debugger",
        [REMARK_SEEN_STOPPED] = "rank %d was seen stopped %.0f %% of the time",
        [REMARK_STOPPED_AT_LOOKS] = "rank %d did not run %.0f %% of the time outside MPI, and at "
                                    "about as many looks it was stopped",
        [REMARK_FROZEN] = "the host of rank %d stands still: nothing runs there",
        [REMARK_NOTHING_RAN] = "rank %d did not run %.0f %% of the time; for most of that nothing "
                               "else ran on its host, not even the agent",
        [REMARK_PEERS_PAUSED_LESS] = "the other ranks did so %.0f %% of the time in the median",
        [REMARK_PEERS_PAUSED_TOO] = "the other ranks do so, too (%.0f %% in the median)",
        /* ---- processes without calls ---- */
        [REMARK_PROCESS_USED_CPU] =
            "%s used the CPU %.0f %% of the time, its peer%[|s] %.0f %%%[| in the median]",
        [REMARK_WAITED_FOR_NOBODY] =
            "it waited for nobody: %.0f %% of the time it ran, or could have",
        [REMARK_DATA_WAITED] = "data sent to %s took %.1f times as long to be acknowledged as "
                               "those sent to its peer%[|s]: they wait there to be read",
        [REMARK_THREADS_QUEUED] = "threads of %s queued for its core %.0f %% of the time, those of "
                                  "its peer%[|s] %.0f %%: it is computing when data arrive",
        [REMARK_KERNEL_DID_MORE] =
            "imbalance: %s on %s took %.2f times as much CPU time as its peer%[|s], but in its own "
            "code %.2f times: the kernel did more for it (pages touched, data copied), and it had "
            "no more work itself",
        [REMARK_PROCESS_SLEEPS] =
            "%s sleeps, or waits for something outside the job, in its own code",
        [REMARK_PROCESS_OFF_CORE] =
            "%s was off its core %.0f %% of the time, and waited for no core, disk or memory",
        [REMARK_PROCESS_STOPPED] = "%s is stopped by a signal or a debugger",
        [REMARK_PROCESS_HOLDS_LOCK] = "%s sleeps while its other threads wait for a lock",
        [REMARK_PROCESS_PAUSED] = "%s did nothing %.0f %% of the time, and waited for no core, "
                                  "disk, memory or other process",
        [REMARK_THREADS_WAITED_FOR_LOCK] =
            "its threads waited %.1f s in sum for locks that others of them held",
        [REMARK_PROCESS_COMPUTED] = "%s computed %.0f %% of the time, in one thread at a time",
        [REMARK_POOL_IS_EMPTY] =
            "%s has %d connection%[|s] to %s on %s, which its requests wait for",
        [REMARK_POOL_OF_ASKED] =
            "%s is asked over %d connections and asks over %d, where a request "
            "is under way %.0f %% of the time",
        [REMARK_NAMES_COME_LATE] = "%s waits for name look-ups",
        [REMARK_NAMES_WAITED_FOR] =
            "%s waited %.0f %% of the time for answers of a server of names (port 53)",
        [REMARK_INPUT_IS_LATE] = "input: rank %d waits for data of %s, which %[sleeps, or waits "
                                 "for something outside the job|computes]",
        [REMARK_WAITED_FOR_PROCESS] = "%s on %s waited %.0f %% of the time for %[messages of|locks "
                                      "held by|data through a pipe of|the end of] %s on %s",
        [REMARK_PEERS_WAITED_TOO] = "its peer%[|s] waited %.0f %% of the time as well: only the "
                                    "connections tell which of them is waited for",
        [REMARK_ADVISE_MARK] =
            "mark what the processes do in an iteration (chokepoint.h): a sleep then has a place",
        /* ---- the core beneath a rank ---- */
        [REMARK_SLOWER_CORE] =
            "imbalance: %w on %s took %.2f times as much CPU time as its peers, but %[its "
            "operators took at least|the same arithmetic took|sampling took] %.2f times as %[long "
            "there for as much output as those of its peers|much CPU time there as for its peers]: "
            "a slower core%[, or more work whose output is as large: sampling took no more CPU "
            "time there| rather than more work]",
        [REMARK_SLOWER_CORE_AT_BEST] =
            "imbalance: %w on %s took %.2f times as much CPU time as its peers, but sampling took "
            "%.2f times as much CPU time there as for its peers, and the fastest quarter of its "
            "iterations no more than %.2f times as much: a slower core%[, or more work whose "
            "output is as large: sampling took no more CPU time there| rather than more work]",
        [REMARK_CORES_DIFFER] =
            "imbalance: %w on %s took %.2f times as much CPU time as its peers: more work or a "
            "slower core, and cores of one kind differ by as much",
        [REMARK_OPERATORS_GAVE_MORE] =
            "its operators gave up to %.2f times as much an iteration as those of its peers; that "
            "took at least %.0f %% of its computing: it has more work, whatever its core",
        [REMARK_CORE_SLOWER_TOO] =
            "its core is slower as well: %[its operators took at least|the same arithmetic "
            "took|sampling took] %.2f times as %[long there for as much output as those of its "
            "peers|much CPU time there as for its peers], so that a factor of %.2f is put down to "
            "that",
        [REMARK_CORE_SLOWER_TOO_AT_BEST] =
            "its core is slower as well: sampling took %.2f times as much CPU time there as for "
            "its peers, and the fastest quarter of its iterations no more than %.2f times as much, "
            "so that a factor of %.2f is put down to that",
        [REMARK_CORE_ALIKE_BY_OPERATORS] =
            "a slower core would look the same, but some of its operators took no longer there for "
            "as much output (%.2f times)",
        [REMARK_CORE_ALIKE_BY_ARITHMETIC] =
            "the program marks no amounts of work, and a slower core would look the same; but the "
            "same arithmetic took no more CPU time there than for its peers (%.2f times)",
        [REMARK_CORE_ALIKE_BY_SAMPLING] =
            "the program marks no amounts of work, and a slower core would look the same; but "
            "sampling took no more CPU time there than for its peers (%.2f times)",
        [REMARK_WORK_OR_CORE] = "more work or a slower core: the program marks no amounts of work, "
                                "so CPU time alone cannot tell",
        /* ---- the start of a program ---- */
        [REMARK_WAITED_AT_START] =
            "%s: %s waited for it about %.1f s of the first %.1f s, before its hosts had exchanged "
            "anything, and hardly later: the files of the program were not cached yet",
        [REMARK_WAITED_AT_FIRST] = "%s: %s waited for it in the first %.1f s, and hardly later: "
                                   "the files of the program were not cached yet",
        /* ---- stragglers: what was compared ---- */
        [REMARK_SLOWER_THAN_PEERS] =
            "%[its iterations take|the processor time it needs is|its iterations less the waiting "
            "for others take] %.2f times its peers' median, above %.2f in %.0f %% of %d "
            "%[iterations|steps of whole iterations|iterations]",
        [REMARK_SLOW_SINCE] = "slow since %.1f s",
        [REMARK_JUDGED_BY] =
            "%[judged by the iteration times of each rank|the ranks move together, so judged by "
            "the processor and disk time of each rank|judged by the iterations of each rank less "
            "its waiting for others]",
        [REMARK_ONE_RANK_ONLY] = "only one rank has iterations: nothing to compare",
        [REMARK_NO_PEERS] = "no two ranks are alike in role and traffic: nothing to compare",
        [REMARK_TOO_FEW_STEPS] =
            "too few %[steps of at least 2 s|iterations] to say (%d, %d are needed)",
        [REMARK_HIDDEN_BY_SPINNING] = "the ranks move together and all keep their cores busy, "
                                      "computing or spinning: not judged",
        /* ---- stragglers: why one is slow ---- */
        [REMARK_TERM_DIFFERS] = "%t: %.3g s an iteration, its peers %.3g s",
        [REMARK_WAITS_FOR_CORE] = "contention: it waits for a core",
        [REMARK_FOREIGN_USED_MEANWHILE] = "%s, not of the job, used %.0f %% of a core meanwhile",
        [REMARK_DISK_SHARED_WITH] = "disk: shared with %s",
        [REMARK_WAITS_FOR_BUSY_DISK] = "disk: it waits for a busy disk",
        [REMARK_WAITS_FOR_IDLE_DISK] =
            "disk: it waits for block I/O of a disk that is not busy: throttled or remote",
        [REMARK_IT_SWAPS] = "memory: it swaps",
        [REMARK_PAGES_READ_BACK] = "memory: its pages have to be read back",
        [REMARK_RECEIVERS_LATE] = "its transfers: the receivers of its data do not keep up",
        [REMARK_OWN_SEND_BUFFERS] = "its transfers: its send buffers are too small for the path",
        [REMARK_LINK_SLOWER] = "its link: transfers take it longer than its peers",
        [REMARK_GROUP_USED_UP] = "CPU quota: its control group had used up its share",
        [REMARK_CORE_STOLEN] = "steal: the hypervisor gave its core to others",
        [REMARK_WAS_STOPPED] = "stopped by a signal or a debugger",
        [REMARK_FILES_TAKE_LONGER] = "reading and writing files through MPI takes it longer",
        [REMARK_IDLE_IN_OWN_CODE] = "idle: sleeping in its own code, or waiting for a lock",
        [REMARK_UNEXPLAINED_IN_MPI] = "time inside MPI that is neither waiting nor transfer",
        [REMARK_NO_SINGLE_CAUSE] = "no single cause explains half of it",
        [REMARK_CAUSES_LOOK_ALIKE] = "waiting, for the network, its server or in its own code "
                                     "(cannot be told apart without its MPI calls)",
        [REMARK_HAS_MORE_WORK] = "more CPU time with more work: data skew",
        [REMARK_CORE_IS_SLOWER] = "more CPU time: its core is slower",
        [REMARK_MORE_INSTRUCTIONS] = "more CPU time: more instructions, unconfirmed",
        [REMARK_MORE_WORK_UNCONFIRMED] =
            "more CPU time on a core that is no slower: more work, unconfirmed",
        [REMARK_OPERATORS_GAVE] =
            "its operators gave up to %.2f times as much an iteration as those of its peers",
        [REMARK_MOVES_MORE_BYTES] = "it also moves %.2f times its peers' bytes an iteration",
        [REMARK_CORE_SLOWER] =
            "its core is slower: %[its operators took at least|the same arithmetic took|sampling "
            "took] %.2f times as %[long there for as much output as those of its peers|much CPU "
            "time there as for its peers], which makes %.2f of its %.2f times",
        [REMARK_CORE_SLOWER_AT_BEST] =
            "its core is slower: sampling took %.2f times as much CPU time there as for its peers, "
            "and the fastest quarter of its iterations no more than %.2f times as much, which "
            "makes %.2f of its %.2f times",
        [REMARK_NO_SLOWER_CORE] = "no slower core: %[the same arithmetic|sampling] took no more "
                                  "CPU time there than for its peers (%.2f times)",
        [REMARK_CORE_SPEED_UNKNOWN] =
            "a slower core cannot be ruled out: nothing recorded tells its speed",
    };
    return templates[code] ? templates[code] : verdict_template(code);
}
