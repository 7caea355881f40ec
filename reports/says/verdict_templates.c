/* SPDX-License-Identifier: MIT */
/* The sentence of every remark that the verdict adds to those of the rules. */
#include "reports/says/remark_words.h"

const char *verdict_template(enum remark_code code) {
    static const char *const templates[REMARK_COUNT_] = {
        /* ---- the verdict: why nobody is blamed ---- */
        [REMARK_COMPUTE_BOUND_WORDS] = "compute bound",
        [REMARK_COMPUTING_LARGEST] = "computing is the largest part",
        [REMARK_MOVING_LARGEST] = "bound by moving data, at no limit of these hosts",
        [REMARK_WAITING_IN_TURN] = "its ranks wait for each other in turn",
        [REMARK_TERM_LARGEST] = "%t is the largest part",
        [REMARK_NOTHING_ASKED] = "the program asked nothing of these hosts",
        [REMARK_NOT_VISIBLE] = "not visible",
        [REMARK_WAITING_LARGEST] = "waiting for each other",
        [REMARK_GPU_IN_USE] = "a GPU is in use, and waits for it were not clocked",
        [REMARK_COMMAND_FAILED] = "the command failed",
        /* ---- the verdict: its summary where it rests on no candidate ---- */
        [REMARK_NONE_STANDS_OUT] = "No host stands out",
        [REMARK_TIME_OF_RANKS] =
            "Computing took %.0f %% of the ranks' time, waiting for each other %.0f %%, moving "
            "data %.0f %%; no single change on a host would make the run %.0f %% shorter.",
        [REMARK_TIME_OF_RANKS_AND] = "Computing took %.0f %% of the ranks' time, waiting for each "
                                     "other %.0f %%, moving data %.0f %%, %t %.0f %%; no single "
                                     "change on a host would make the run %.0f %% shorter.",
        [REMARK_PROCESSES_RUN] =
            "The processes run %.0f %% of the time and hardly wait for anything that was recorded.",
        [REMARK_PROCESSES_UNSEEN] = "Nothing ran out on these hosts; of the job's own processes "
                                    "too little was recorded to say what it waits for.",
        [REMARK_PROCESSES_WAIT_UNSEEN] =
            "Nothing ran out on these hosts, yet the job's processes ran only %.0f %% of the time. "
            "They waited for a timer, for each other, or for something outside: which of these was "
            "not recorded.",
        [REMARK_ASLEEP] =
            "These hosts did not limit the run. The program slept %.0f %% of the time.",
        [REMARK_ASLEEP_UNTIL] = "These hosts did not limit the run. The program slept %.0f %% of "
                                "the time, until a time "
                                "that it chose itself.",
        [REMARK_ASLEEP_FOR_EVENT] = "Nothing was asked of the program: it slept %.0f %% of the "
                                    "time, waiting for a request, "
                                    "a signal or input.",
        [REMARK_HOST_FULL_BESIDE_JOB] = "%s had no core to spare: it was %.0f %% busy, and tasks "
                                        "waited for a core %.0f %% of the "
                                        "time. The job's own processes did %.0f %% of that, so "
                                        "whether it waits for the rest is "
                                        "not known.",
        [REMARK_THROTTLED_BESIDE_JOB] =
            "A control group on %s was throttled %.0f %% of the time. The job's own processes used "
            "%.0f %% of the CPU time there, so whether it waits for the rest is not known.",
        [REMARK_TIME_UNEXPLAINED] = "Nothing ran out on these hosts, but the cause of %.0f %% of "
                                    "the run's time is not known, most of it %t.",
        [REMARK_TIME_UNSPLIT] = "Nothing ran out on these hosts, but for %.0f %% of the time all "
                                "that is known of the ranks is that they were inside MPI.",
        [REMARK_TIME_NOT_CLOSED] =
            "Nothing ran out on these hosts. The ranks computed %.0f %% of the time, waited for "
            "each other %.0f %% (most for rank %d on %s) and transferred %.0f %%, but their time "
            "does not add up well enough to say why.",
        [REMARK_RANK_SLOWER] =
            "No resource ran out, but rank %d on %s is slower than its peers by a factor of %.2f.",
        [REMARK_GPU_UNSEEN] =
            "Not known: a GPU is in use, and waits for it were not clocked. %.0f %% "
            "of the job's CPU time is that of processes which may wait for it by "
            "spinning, most of all %s.",
        /* ---- the verdict: what ended the command ---- */
        [REMARK_ENDED_GROUP_MEMORY] =
            "%[killed|a process was killed] for want of memory: its control group had used "
            "%.4g of %.4g MB on %s (%.0f times at the limit), after %.3g s",
        [REMARK_ENDED_HOST_MEMORY] = "%[killed|a process was killed] for want of memory on %s%[, "
                                     "at a limit of a control group that was not recorded|] "
                                     "(%.2g of its %.3g GB were free at the lowest), after %.3g s",
        [REMARK_ENDED_MEMORY] =
            "%[killed|a process was killed] for want of memory on %s, after %.3g s",
        [REMARK_ENDED_DISK_FULL] = "the disk was full: %s on %s had %.3g MB free at the start and "
                                   "%.2g MB at the end (exit status %d after %.3g s)",
        [REMARK_ENDED_BY_SIGNAL] = "ended by %S after %.3g s",
        [REMARK_ENDED_BY_KILL] = "killed by SIGKILL after %.3g s%[; memory was not short|]",
        [REMARK_ENDED_CPU_LIMIT] =
            "it used up its limit of CPU time (ulimit -t, SIGXCPU) after %.3g s",
        [REMARK_ENDED_FILE_LIMIT] =
            "a file reached the size limit for files (ulimit -f, SIGXFSZ) after %.3g s",
        [REMARK_ENDED_NO_READER] =
            "nobody read what it wrote into a pipe any more (SIGPIPE) after %.3g s",
        [REMARK_ENDED_NOT_FOUND] = "a program was not found (exit status 127) after %.3g s",
        [REMARK_ENDED_NOT_EXECUTABLE] =
            "a program could not be executed (exit status 126) after %.3g s",
        [REMARK_ENDED_TIME_OVER] = "ended by `timeout` (exit status 124) after %.3g s",
        [REMARK_ENDED_STATUS] = "exit status %d after %.3g s",
        /* ---- the verdict: why there is too little to judge by ---- */
        [REMARK_NO_HOST_RECORDED] = "No host was recorded",
        [REMARK_RUN_TOO_SHORT] =
            "The run took %.2g s, which is too short to judge: record %.0f s or more",
        [REMARK_SAMPLES_TOO_FEW] = "Only %d samples of %s lie within the run; %d are needed",
        [REMARK_MARKED_TOO_FEW] = "Only %d iterations were marked; %d are needed",
        /* ---- the verdict: what it adds to the evidence of the rules ---- */
        [REMARK_LINK_OTHER_WAY] =
            "the other direction of the same link takes another %.0f %% of the time",
        [REMARK_LINK_BOTH_WAYS] = "sending and receiving, one after the other, need %.3g s of the "
                                  "%.3g s an iteration takes (%.0f %%)",
        [REMARK_WOULD_GAIN_MOST] =
            "the most that a change on one host would gain is %.0f %% of the run",
        [REMARK_ON_NO_SINGLE_HOST] = "no single host holds up the run by %t",
        [REMARK_NO_HOST_SHORT] = "no host was short of anything that the run had to wait for",
        [REMARK_ADDS_UP_NO_HOST_SHORT] = "the ranks' time adds up, and no host was short of "
                                         "anything that the run had to wait for",
        /* ---- the verdict: what speaks against it ---- */
        [REMARK_RUNNER_UP] = "runner-up",
        [REMARK_COUNTED_NOT_REPLAYED] = "the gain is estimated from counters, not replayed",
        [REMARK_BOUND_NOT_REPLAYED] = "the gain is an upper bound, not a prediction",
        [REMARK_ALL_MAY_LACK] =
            "%t is %.0f %% of the ranks' time: all hosts may be short of the same",
        [REMARK_MOVING_WITHOUT_LIMIT] =
            "moving data is %.0f %% of the ranks' time, though no link of these hosts was seen to "
            "be full: a limit may lie between them",
        [REMARK_WAITING_NEEDS_DIVISION] =
            "waiting for each other is %.0f %% of the ranks' time: less of it needs another "
            "division of the work, not another machine",
        [REMARK_PROCESS_MAY_SPIN] = "a process that spins while it waits would look the same",
        [REMARK_UNSEEN_WAITS] = "not visible: which process waits for which other, since it is no "
                                "MPI program; confidence is capped",
        [REMARK_UNSEEN_IN_MPI] = "not visible: what ranks do inside MPI, so waiting for a peer and "
                                 "computing look alike; confidence is capped",
        [REMARK_UNSEEN_MATCHES] =
            "not visible: who waited for whom, since too few MPI calls could be matched",
        [REMARK_UNSEEN_CALLS] = "not visible: %.0f MPI calls on %s, which are missing",
        [REMARK_UNSEEN_MARKS] = "not visible: %.0f marks on %s, which are missing",
        [REMARK_UNSEEN_SHORT_WAITS] =
            "not visible: short waits between hosts, whose clocks could not be compared",
        [REMARK_SOURCES_DISAGREE] =
            "sources disagree about %s on %s: %t is %.0f %% of its time by its %s, which hold, and "
            "%.0f %% by its %s",
        [REMARK_ONE_SOURCE] =
            "%[only connections tell that it was waited for: no process is known to have waited "
            "for "
            "others so long|only counters of waiting tasks tell it: no process is known to have "
            "waited so long, and who had the cores was not seen]",
        [REMARK_MORE_UNEXPLAINED] =
            "%t on %s is %.0f %% of the run, which is more, and nothing explains it",
        [REMARK_BUDGETS_OPEN] = "the time of %.0f %% of the ranks does not add up within %.0f %%",
        [REMARK_HOST_UNSEEN] = "some host was recorded for only %.0f %% of the run",
        /* ---- the verdict: advice ---- */
        [REMARK_ADVISE_NAME_JOB] =
            "if what runs on %s serves the job, record it as part of the job: `--job "
            "%s:unit=NAME`, port=N or pid=N",
        [REMARK_ADVISE_ASK] = "the gain is computed by",
        [REMARK_ADVISE_COMPARE] =
            "then run it again: %{compare last~1 last} says whether it helped",
        [REMARK_ADVISE_REPEAT] = "run it again: %{compare last~1 last} says what holds",
        [REMARK_ADVISE_MARK_PROGRAM] =
            "mark iterations in the program (chokepoint.h): then what each of them takes is known",
        [REMARK_ADVISE_RECORD_LONGER] = "to be surer, record %.0f s or more",
        [REMARK_ADVISE_MORE_ITERATIONS] = "run at least %.0f iterations",
        [REMARK_ADVISE_SEE_AGENT] =
            "look why %s was hardly seen: its agent, or its way to the collector",
        [REMARK_ADVISE_SEE_RANK] = "look what rank %d on %s does that its peers do not: its part "
                                   "of the data, its core, its files",
        [REMARK_ADVISE_SEE_OUTPUT] = "its output says why; record a run that succeeds",
        [REMARK_ADVISE_MORE_GROUP_MEMORY] =
            "give it more than %.4g MB: on %s, memory.max of the control group %s, or "
            "memory.limit_in_bytes of cgroup v1",
        [REMARK_ADVISE_LESS_AT_A_TIME] = "run less at a time on %s, or give it more memory",
        [REMARK_ADVISE_FIND_MEMORY_LIMIT] = "raise the memory limit of the control group on %s in "
                                            "which it ran: that of a container, "
                                            "a batch job or a unit",
        [REMARK_ADVISE_LESS_MEMORY] = "or have it need less: most was held by %s on %s, %.4g MB",
        [REMARK_ADVISE_MAKE_ROOM] = "make room on %s of %s, or write elsewhere",
        [REMARK_ADVISE_WHO_KILLED] =
            "find who sent SIGKILL: a limit of CPU time (`ulimit -t`; its busiest process had used "
            "%.2g s), a person, or a batch system",
        [REMARK_ADVISE_RAISE_CPU_LIMIT] = "raise the limit: `ulimit -t unlimited` before it starts",
        [REMARK_ADVISE_RAISE_FILE_LIMIT] =
            "raise the limit: `ulimit -f unlimited` before it starts",
        [REMARK_ADVISE_SEE_CORE] =
            "its output may say why; after `ulimit -c unlimited` a crash leaves a core file, in "
            "which `gdb PROGRAM CORE` shows the place",
        [REMARK_ADVISE_SEE_GPU] =
            "see with the GPU's own tools whether it is busy (`nvidia-smi dmon`, "
            "`rocm-smi`), before anything is done about the CPU",
        [REMARK_ADVISE_FASTER_COMPUTING] =
            "to go faster, look into the program's own computing (`perf top` on a host), or "
            "compute with more ranks or faster cores: %{whatif {run} --cpu all=2x} says "
            "what "
            "those would bring",
        [REMARK_ADVISE_FASTER_PROCESSES] =
            "to go faster, look into the program's own computing (`perf top` on a host), or "
            "compute on more or faster cores",
        [REMARK_ADVISE_FEWER_BYTES] = "send fewer or larger messages",
        [REMARK_ADVISE_MEASURE_LINKS] = "measure what the links can carry (%{calibrate}, into the "
                                        "same database), which shows a full one next time",
        [REMARK_ADVISE_MEASURE_MESSAGES] =
            "%{calibrate --only net} on these hosts measures what the links can carry "
            "and how long a message takes; then run it again",
        [REMARK_ADVISE_OVERLAP] =
            "let ranks compute while they wait: smaller pieces, or MPI_Isend and MPI_Irecv ahead "
            "of time; %{whatif {run} --balanced} says what an even division would bring",
        [REMARK_ADVISE_AT_ONCE] =
            "let processes work while others answer: ask ahead, or several at "
            "once",
        [REMARK_ADVISE_SEE_PAGE] = "see which %[ranks|processes] that is, and when: %{report {run} "
                                   "-o run-{run}.html} shows their time iteration by iteration",
        [REMARK_ADVISE_ALL_CALLS] = "record all calls of MPI (%{run --call-spool-limit "
                                    "1g}), or a shorter part of the program",
        [REMARK_ADVISE_SEE_RANK_PAGE] = "look at rank %d on %s first: %{report {run} "
                                        "-o run-{run}.html} shows its time iteration by iteration",
        [REMARK_ADVISE_TRACE_ANY] =
            "record it again with --wait-clocks: these tell what each process waits for",
        [REMARK_ADVISE_RECORD_CALLS] = "record what the ranks do inside MPI (without --no-shim)",
    };
    return templates[code];
}
