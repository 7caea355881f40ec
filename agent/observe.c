/* SPDX-License-Identifier: MIT */
/*
 * Connects the parts. Two threads: this one samples and appends to the spool, the other one pushes.
 * Three things stop it (a signal, the collector, a collector that is silent too long), always in
 * the same way: a last sample, a last push, exit.
 */
#include "agent/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent/base/job.h"
#include "agent/base/lineage.h"
#include "agent/base/privileges.h"
#include "agent/base/source.h"
#include "agent/probes/call_watch.h"
#include "agent/probes/gpu/gpu.h"
#include "agent/probes/wait/wait_watch.h"
#include "agent/push/push.h"
#include "agent/ring/ring.h"
#include "agent/sampler/idle.h"
#include "agent/sampler/sampler.h"
#include "agent/sampler/wake.h"
#include "agent/spool/spool.h"
#include "agent/spool/spool_dir.h"
#include "agent/supervise/page_drop.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"

#define PUSH_INTERVAL_NS NS_PER_S

struct observer {
    const struct agent_options *options;
    struct agent_memory *memory;
    struct scope scope;
    struct job job;
    struct call_watch calls;
    struct gpu_watch gpus;
    struct wait_watch *waits; /* large, and only used pages are touched; NULL: turned off */
    struct probe_env env;
    struct sampler *sampler;
    struct spool *spool;
    struct spool *bulk; /* for single events; NULL: there are none */
    struct frame_sink bulk_sink;
    struct ring *ring;       /* NULL: samples are pushed, or stay in the spool */
    struct lineage *lineage; /* of a ring */
    char ring_token[17];     /* a run that no process is of */
    int64_t packed_ns;       /* of the monotonic clock: when a file of the ring was begun */
    int ring_error;          /* of the last file; told when it changes */
    bool told_shed;
    struct push *push; /* NULL with --no-push */
    struct wake wake;
    struct idle_watch idle; /* for the calls of ranks; closed: there are none */
    int signal_fd, told_fd; /* readable: a signal came; the collector asks to stop */
    int64_t looked_ns;      /* time of the last check of the collector's silence */
    bool orphaned, sampled, settled;
    pid_t parent; /* the supervisor; once it is dead, another process takes its place */
    enum probe_end ending;
};

void agent_say(const struct agent_options *options, const char *text) {
    fprintf(stderr, "chokepoint-agent: %s: %s\n", options->host, text);
}

static int fail(const struct observer *observer, const char *what, int error) {
    fprintf(stderr, "chokepoint-agent: %s: %s: %s\n", observer->options->host, what,
            strerror(-error));
    return 1;
}

static void say_note(void *ctx, enum note_level level, const char *subject, const char *text) {
    const struct observer *observer = ctx;
    if (level == NOTE_INFO && (observer->options->push || observer->options->ring))
        return; /* the report shows it once for the run */
    fprintf(stderr, "chokepoint-agent: %s: %s: %s\n", observer->options->host, subject, text);
}

/* ---- the sampler's clock and sink ---- */

static bool collector_is_silent(struct observer *observer) {
    struct push_status status;
    int64_t now = clock_monotonic_ns();
    if (!observer->push || now - observer->looked_ns < NS_PER_S)
        return false;
    observer->looked_ns = now;
    push_status(observer->push, &status);
    return now - status.last_answer_ns > observer->options->orphan_after_ns;
}

/* Opening the sources, libbpf's reading of the kernel's types and the first push leave freed memory
 * and pages of libraries behind that are not needed again. They are given back once, after the
 * first answer of the collector. */
static void give_back_memory(struct observer *observer) {
    struct push_status status = {.pushes = 1};
    if (observer->settled || !observer->sampled)
        return;
    if (observer->push)
        push_status(observer->push, &status);
    observer->settled = status.pushes > 0;
    if (!observer->settled)
        return;
    malloc_trim(0);
    page_drop_files(observer->options->proc);
}

static int observer_wait(void *ctx, int64_t wall_ns) {
    struct observer *observer = ctx;
    give_back_memory(observer);
    if (collector_is_silent(observer)) {
        observer->orphaned = true;
        agent_say(observer->options, "the collector has been silent for too long, stopping");
        return SAMPLER_STOP;
    }
    return wake_wait(&observer->wake, wall_ns);
}

static bool observer_ask_idle(void *ctx) {
    struct observer *observer = ctx;
    if (observer->idle.is_open)
        idle_watch_ask(&observer->idle);
    return observer->idle.is_open;
}

static int sink_append(void *ctx, const void *frame, size_t size, uint64_t seq) {
    return spool_append(ctx, frame, size, seq);
}

static uint64_t sink_lost(void *ctx) {
    return spool_lost(ctx);
}

/* ---- opening ---- */

/* Text of the kernel's boot id; "" if it cannot be read. */
static void read_boot_id(const char *proc, char *ret_id) {
    char path[PATH_MAX], text[BOOT_ID_SIZE + 2];
    int n = snprintf(path, sizeof path, "%s/sys/kernel/random/boot_id", proc);
    ret_id[0] = '\0';
    if (n < (int)sizeof path && file_read_small(AT_FDCWD, path, text, sizeof text) == BOOT_ID_SIZE)
        text_sanitize(ret_id, BOOT_ID_SIZE + 1, text, BOOT_ID_SIZE);
}

static int open_stops(struct observer *observer) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    observer->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    observer->told_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (observer->signal_fd < 0 || observer->told_fd < 0)
        return negative_errno();
    return wake_open(&observer->wake, (int[]){observer->signal_fd, observer->told_fd}, 2);
}

/* A stream without a file has kept nothing, if the other stream of the same agent has files. */
static uint64_t kept_by_others(const struct observer *observer, uint64_t stream) {
    uint64_t seq = 0, other;
    int r = spool_last_kept(observer->options->spool, stream, &seq);
    if (r == -ENOENT)
        r = spool_last_kept(observer->options->spool, stream ^ 1, &other);
    return r < 0 ? UINT64_MAX : seq;
}

/* Number of frames from before, for a continued stream. */
static uint64_t kept(void *ctx, uint64_t stream) {
    const struct observer *observer = ctx;
    struct frame_head samples = {0}, calls = {0};
    if ((stream ^ observer->memory->stream_id) > 1)
        return kept_by_others(observer, stream);
    bool any = spool_recovered(observer->spool, &samples);
    any |= observer->bulk && spool_recovered(observer->bulk, &calls);
    return !any ? UINT64_MAX : stream & 1 ? calls.seq : samples.seq;
}

static void fill_env(struct observer *observer) {
    const struct agent_options *options = observer->options;
    observer->env = (struct probe_env){.proc = options->proc,
                                       .sys = options->sys,
                                       .run_token_id = options->ring     ? observer->ring_token
                                                       : options->run[0] ? options->run
                                                                         : NULL,
                                       .watches_busiest = options->ring != NULL,
                                       .lineage = observer->lineage,
                                       .choices = options->choices,
                                       .n_choices = options->n_choices,
                                       .job_parent = options->job_parent,
                                       .marks = options->marks,
                                       .host = options->host,
                                       .scope = &observer->scope,
                                       .job = &observer->job,
                                       .calls = &observer->calls,
                                       .gpus = &observer->gpus,
                                       .waits = observer->waits,
                                       .ticks_per_s = sysconf(_SC_CLK_TCK),
                                       .page_size = sysconf(_SC_PAGESIZE),
                                       .foreign_processes = (size_t)options->foreign_processes,
                                       .no_command_lines = options->no_command_lines,
                                       .flows = options->flows,
                                       .kept = kept,
                                       .kept_ctx = observer,
                                       .stream = &observer->memory->stream_id,
                                       .ending = &observer->ending};
}

static int open_sampler(struct observer *observer) {
    struct sampler_config config = {.probes = probe_list,
                                    .n_probes = probe_list_size,
                                    .env = &observer->env,
                                    .period_ns = observer->options->period_ns,
                                    .slow_period_ns = observer->options->process_period_ns,
                                    .max_frames = observer->options->max_frames,
                                    .clock = {.ctx = observer,
                                              .wall_ns = wake_wall_ns,
                                              .mono_ns = wake_mono_ns,
                                              .cpu_ns = wake_cpu_ns,
                                              .wait = observer_wait,
                                              .ask_idle = observer_ask_idle},
                                    .say = say_note,
                                    .say_ctx = observer};
    return sampler_open(&config, &observer->sampler);
}

static struct spool_config spool_config(const struct observer *observer) {
    struct spool_config config = {.dir = observer->options->spool,
                                  .limit_bytes = observer->options->spool_limit_bytes,
                                  .mode = observer->options->ring_group_reads ? 0640 : 0600,
                                  .stream = {.stream_id = observer->memory->stream_id,
                                             .period_ns = observer->options->period_ns},
                                  .memory = &observer->memory->samples};
    memcpy(config.stream.host, observer->options->host, sizeof config.stream.host);
    read_boot_id(observer->options->proc, config.stream.boot_id);
    return config;
}

int agent_memory_begin(struct agent_memory *memory) {
    uint64_t id;
    if (getrandom(&id, sizeof id, 0) != sizeof id)
        return -EIO;
    *memory = (struct agent_memory){.stream_id = id & ~UINT64_C(1)};
    return 0;
}

static struct wire_run run_of(const struct agent_options *options) {
    struct wire_run run;
    text_sanitize(run.id, sizeof run.id, options->run, strlen(options->run));
    text_sanitize(run.name, sizeof run.name, options->run_name, strlen(options->run_name));
    text_sanitize(run.command, sizeof run.command, options->run_command,
                  strlen(options->run_command));
    return run;
}

static int open_spool(struct observer *observer) {
    struct spool_config config = spool_config(observer);
    struct wire_run run = run_of(observer->options);
    config.run = &run;
    config.tables = sampler_tables(observer->sampler, &config.n_tables);
    return spool_open(&config, &observer->spool);
}

/* The bulk stream; its id follows from the first stream's id. */
static int open_bulk(struct observer *observer) {
    struct spool_config config = spool_config(observer);
    struct wire_run run = run_of(observer->options);
    config.run = &run;
    config.tables = sampler_bulk_tables(observer->sampler, &config.n_tables);
    if (!config.n_tables)
        return 0;
    config.stream.stream_id++;
    config.stream.period_ns = 0;
    config.memory = &observer->memory->calls;
    config.limit_bytes = observer->options->call_spool_limit_bytes;
    return spool_open(&config, &observer->bulk);
}

static void attach_bulk(struct observer *observer) {
    struct frame_head last;
    if (!observer->bulk)
        return;
    observer->bulk_sink = (struct frame_sink){observer->bulk, sink_append, sink_lost};
    sampler_set_bulk(observer->sampler, &observer->bulk_sink,
                     spool_recovered(observer->bulk, &last) ? &last : NULL);
    if (observer->calls.is_open && observer->calls.called_fd >= 0)
        wake_listen(&observer->wake, observer->calls.called_fd);
}

static int open_both(struct observer *observer) {
    int r = open_spool(observer);
    return r < 0 ? r : open_bulk(observer);
}

/* If a stream's files are gone, both streams begin anew with other ids: the collector accepts no
 * number twice, and one id follows from the other. */
static int leave_torn_stream(struct observer *observer) {
    bool torn = spool_is_torn(observer->spool) || (observer->bulk && spool_is_torn(observer->bulk));
    if (!torn)
        return 0;
    spool_close(observer->bulk, false);
    spool_close(observer->spool, false);
    observer->spool = observer->bulk = NULL;
    int r = agent_memory_begin(observer->memory);
    if (r == 0)
        r = open_both(observer);
    if (r == 0)
        sampler_note(observer->sampler, NOTE_WARNING, "agent",
                     "started again, and its spool was removed: samples may be missing");
    return r;
}

static int open_spools(struct observer *observer) {
    int r = open_both(observer);
    if (r == 0)
        r = leave_torn_stream(observer);
    if (r < 0) {
        fprintf(stderr, "chokepoint-agent: %s: %s: %s\n", observer->options->host,
                observer->options->spool, spool_dir_words(r));
        return 1;
    }
    attach_bulk(observer);
    return 0;
}

static void resume(struct observer *observer) {
    struct frame_head last;
    char text[80];
    if (!spool_recovered(observer->spool, &last))
        return;
    sampler_resume(observer->sampler, &last);
    snprintf(text, sizeof text, "started again, goes on after frame %llu",
             (unsigned long long)last.seq);
    sampler_note(observer->sampler, NOTE_WARNING, "agent", text);
}

static struct push_config push_config(const struct observer *observer, struct spool *spool) {
    const struct agent_options *options = observer->options;
    return (struct push_config){.url = options->collector,
                                .token = options->token[0] ? options->token : NULL,
                                .host = options->host,
                                .pin = options->pin,
                                .spool = spool,
                                .interval_ns = PUSH_INTERVAL_NS,
                                .notify_fd = -1};
}

/* ---- the ring ---- */

#define RING_FILE_NS (60 * NS_PER_S)

static int prepare_ring(struct observer *observer) {
    uint64_t id;
    observer->lineage = calloc(1, sizeof *observer->lineage);
    if (!observer->lineage)
        return -ENOMEM;
    if (getrandom(&id, sizeof id, 0) != sizeof id)
        return -EIO;
    snprintf(observer->ring_token, sizeof observer->ring_token, "%016llx", (unsigned long long)id);
    return 0;
}

static int open_ring(struct observer *observer) {
    const struct agent_options *options = observer->options;
    const struct ring_config config = {options->ring, options->ring_limit_bytes,
                                       options->ring_span_ns, options->ring_group_reads};
    if (!options->ring)
        return 0;
    observer->packed_ns = clock_monotonic_ns();
    return ring_open(&config, observer->memory->stream_id, clock_wall_ns(), &observer->ring);
}

static void tell_ring(struct observer *observer, int error) {
    if (error != observer->ring_error)
        sampler_note(observer->sampler, NOTE_WARNING, "ring",
                     error ? strerror(-error) : "takes samples again");
    observer->ring_error = error;
}

static void pack_ring(struct observer *observer) {
    observer->packed_ns = clock_monotonic_ns();
    tell_ring(observer,
              ring_pack(observer->ring, observer->spool, observer->lineage, clock_wall_ns()));
}

/* Frames of many processes fill the spool before a minute is over. */
static bool is_time_to_pack(const struct observer *observer) {
    struct spool_counts counts;
    int64_t since_ns = clock_monotonic_ns() - observer->packed_ns;
    spool_counts(observer->spool, &counts);
    return since_ns >= RING_FILE_NS ||
           (since_ns >= NS_PER_S && counts.bytes > observer->options->spool_limit_bytes / 2);
}

/* Gives up the older half of the frames that are in no file yet. */
static void shed_spool(struct spool *spool) {
    struct spool_counts counts;
    spool_counts(spool, &counts);
    if (counts.waiting > 1)
        spool_refuse(spool, counts.last_seq - counts.waiting / 2);
}

/* A full disk costs the oldest samples first. */
static int append_to_ring(struct observer *observer, const void *frame, size_t size, uint64_t seq) {
    int r = spool_append(observer->spool, frame, size, seq);
    if (r == -ENOSPC || r == -EDQUOT) {
        if (!ring_shed(observer->ring))
            shed_spool(observer->spool);
        r = spool_append(observer->spool, frame, size, seq);
        if (!observer->told_shed)
            sampler_note(observer->sampler, NOTE_WARNING, "ring",
                         "the disk is full: the oldest samples are removed for new ones");
        observer->told_shed = true;
    }
    int kept = ring_keep_lineage(observer->ring, observer->lineage);
    if (kept == -ENOMEM)
        tell_ring(observer, kept);
    if (is_time_to_pack(observer))
        pack_ring(observer);
    return r;
}

/* Waits for the first scan only. */
static int append_sample(void *ctx, const void *frame, size_t size, uint64_t seq) {
    struct observer *observer = ctx;
    if (observer->ring) {
        observer->sampled = true;
        return append_to_ring(observer, frame, size, seq);
    }
    int r = spool_append(observer->spool, frame, size, seq);
    if (observer->push && !observer->sampled)
        push_hurry(observer->push);
    observer->sampled = true;
    return r;
}

static uint64_t lost_samples(void *ctx) {
    const struct observer *observer = ctx;
    return spool_lost(observer->spool);
}

static int start_push(struct observer *observer) {
    const struct agent_options *options = observer->options;
    if (!options->push)
        return 0;
    struct push_config config = push_config(observer, observer->spool);
    config.notify_fd = observer->told_fd;
    return push_start(&config, &observer->push);
}

/* Drops capabilities: all sources are open, and the pushing thread, which inherits them, is not
 * started. If that fails, the agent goes on as before. */
static void drop_privileges(struct observer *observer) {
    const struct privileges_kept kept = {.processes = true,
                                         .packets = observer->options->flows,
                                         .programs = observer->waits && observer->waits->is_open};
    if (privileges_drop(&kept) < 0)
        sampler_note(observer->sampler, NOTE_WARNING, "agent",
                     "goes on with the capabilities that it had: it cannot give them up");
}

/* Once capabilities are dropped: its thread needs none. */
static void watch_idle_cores(struct observer *observer) {
    if (observer->wake.called_fd < 0 || idle_watch_open(&observer->idle) < 0)
        return; /* then calls are taken as soon as there are some */
    wake_listen_for_idle(&observer->wake, observer->idle.tell_fd);
}

static int observer_open(struct observer *observer) {
    char why[256] = "";
    const struct agent_options *options = observer->options;
    int r =
        scope_open(options->scope, options->proc, options->sys, &observer->scope, why, sizeof why);
    if (r < 0)
        return fail(observer, why[0] ? why : "cannot tell what this host is", r);
    if (options->wait_clocks && !(observer->waits = calloc(1, sizeof *observer->waits)))
        return fail(observer, "wait clocks", -ENOMEM);
    if (options->ring && (r = prepare_ring(observer)) < 0)
        return fail(observer, options->ring, r);
    fill_env(observer);
    if ((r = open_stops(observer)) < 0)
        return fail(observer, "cannot wait for signals", r);
    if ((r = open_sampler(observer)) < 0)
        return fail(observer, "cannot open the probes", r);
    if ((r = open_spools(observer)))
        return r;
    if ((r = open_ring(observer)) < 0)
        return fail(observer, options->ring, r);
    resume(observer);
    drop_privileges(observer);
    watch_idle_cores(observer);
    if ((r = start_push(observer)) < 0)
        return fail(observer, options->collector, r);
    return 0;
}

/* ---- closing ---- */

/* A command to paste, if the database is known: on the host of `run`. */
static void import_words(const struct agent_options *options, char *to, size_t size) {
    char spool[PATH_MAX], database[PATH_MAX];
    if (options->run_database[0] && text_shell_word(spool, sizeof spool, options->spool) &&
        text_shell_word(database, sizeof database, options->run_database))
        snprintf(to, size, "`chokepoint import %s --db %s` brings them in", spool, database);
    else
        snprintf(to, size,
                 "copied to where the database is, they are brought in by `chokepoint import"
                 " DIRECTORY --db FILE`");
}

static int undelivered(struct observer *observer) {
    struct push_status status;
    struct spool_counts samples, calls = {0};
    const struct agent_options *options = observer->options;
    if (options->forgets)
        return EXIT_UNDELIVERED;
    char batches[64] = "", place[64] = "", words[2 * PATH_MAX + 64];
    push_status(observer->push, &status);
    spool_counts(observer->spool, &samples);
    if (observer->bulk)
        spool_counts(observer->bulk, &calls);
    if (calls.waiting) {
        snprintf(batches, sizeof batches, " and %llu batches of MPI calls",
                 (unsigned long long)calls.waiting);
        snprintf(place, sizeof place, " and %016llx-*.spool",
                 (unsigned long long)(observer->memory->stream_id + 1));
    }
    import_words(options, words, sizeof words);
    fprintf(stderr,
            "chokepoint-agent: %s: %llu samples%s were not delivered to %s (%s); they are kept in "
            "%s/%016llx-*.spool%s: %s\n",
            options->host, (unsigned long long)samples.waiting, batches, options->collector,
            status.trouble[0] ? status.trouble : "no answer in time", options->spool,
            (unsigned long long)observer->memory->stream_id, place, words);
    return EXIT_UNDELIVERED;
}

/* Single events wait for the end of the command: their push begins here. The last push of samples
 * comes afterwards, as it says that everything is delivered. */
static bool drain_bulk(const struct observer *observer, int64_t patience_ns) {
    struct spool_counts counts;
    struct push *push;
    if (!observer->bulk)
        return true;
    spool_counts(observer->bulk, &counts);
    if (!counts.waiting)
        return true;
    struct push_config config = push_config(observer, observer->bulk);
    config.patience_ns = patience_ns;
    config.never_final = true;
    if (push_start(&config, &push) < 0)
        return false;
    int r = push_finish(push, clock_monotonic_ns() + observer->options->call_drain_ns);
    push_free(push);
    return r == 0;
}

static int drain(struct observer *observer) {
    if (!observer->push)
        return 0;
    int64_t patience = observer->orphaned ? NS_PER_S : observer->options->drain_ns;
    bool all = drain_bulk(observer, patience);
    int r = push_finish(observer->push, clock_monotonic_ns() + patience);
    return r == 0 && all ? 0 : undelivered(observer);
}

/* If a supervisor was killed, its run starts another agent. That agent can continue the stream at
 * once if it does not have to wait until this process has delivered its frames. */
static enum probe_end ending_of(const struct observer *observer) {
    struct push_status status = {0};
    if (observer->options->supervise && observer->options->run[0] && getppid() != observer->parent)
        return ENDING_REPLACED;
    if (observer->push)
        push_status(observer->push, &status);
    return status.stop && !status.severed ? ENDING_WITH_RUN : ENDING_ALONE;
}

static int finish(struct observer *observer) {
    observer->ending = ending_of(observer);
    sampler_close_probes(observer->sampler);
    if (observer->ring)
        pack_ring(observer);
    return observer->ending == ENDING_REPLACED ? 0 : drain(observer);
}

static void release_spool(const struct observer *observer, struct spool *spool) {
    if (observer->ending == ENDING_REPLACED)
        spool_leave(spool);
    else
        spool_close(spool, observer->options->forgets);
}

static void observer_release(struct observer *observer) {
    push_free(observer->push);
    release_spool(observer, observer->bulk);
    release_spool(observer, observer->spool);
    sampler_free(observer->sampler);
    ring_close(observer->ring);
    free(observer->lineage);
    free(observer->waits);
    idle_watch_close(&observer->idle);
    if (observer->wake.n)
        wake_close(&observer->wake);
    if (observer->told_fd >= 0)
        close(observer->told_fd);
    if (observer->signal_fd >= 0)
        close(observer->signal_fd);
}

int observe(const struct agent_options *options, struct agent_memory *memory) {
    struct observer observer = {
        .options = options, .memory = memory, .signal_fd = -1, .told_fd = -1, .parent = getppid()};
    int status = observer_open(&observer);
    if (status == 0) {
        struct frame_sink sink = {&observer, append_sample, lost_samples};
        int r = sampler_run(observer.sampler, &sink);
        status = finish(&observer);
        if (r < 0)
            status = fail(&observer, "cannot wait for the next sample", r);
    }
    observer_release(&observer);
    return status;
}
