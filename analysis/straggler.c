/* SPDX-License-Identifier: MIT */
/* Who is compared with whom, by what, and why the slow one is slow. */
#include "analysis/straggler.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/saturation.h"
#include "analysis/stats.h"

/* ---- who is compared with whom, by what ---- */

/* Own times of every rank over the same steps: own[rank * steps + step]; NAN where unknown. */
struct board {
    const struct scene *scene;
    size_t ranks, steps;
    double *own;
    double *traffic; /* bytes of the rank's host: who moves many more plays another role */
    bool by_time;    /* iteration times; otherwise processor and disk time within a step */
};

static void board_release(struct board *board) {
    free(board->own);
    free(board->traffic);
}

static int board_init(struct board *board, const struct scene *scene, size_t steps) {
    *board = (struct board){.scene = scene, .ranks = scene->iterations.n, .steps = steps};
    board->own = malloc((board->ranks * steps + 1) * sizeof *board->own);
    board->traffic = calloc(board->ranks + 1, sizeof *board->traffic);
    if (!board->own || !board->traffic) {
        board_release(board);
        return -ENOMEM;
    }
    struct windows windows = phase_windows(&scene->groups[scene->main_group]);
    for (size_t r = 0; r < board->ranks; r++) {
        const struct scene_host *host = &scene->hosts[scene->iterations.ranks[r].host];
        board->traffic[r] = rate_amount(&host->metrics[METRIC_NET_SEND], windows) +
                            rate_amount(&host->metrics[METRIC_NET_RECV], windows);
    }
    return 0;
}

/* Free-running ranks: iteration k of each, by its place in the rank's own order. */
static int board_of_times(const struct scene *scene, struct board *board) {
    size_t steps = 0;
    for (size_t r = 0; r < scene->iterations.n; r++)
        if (scene->iterations.ranks[r].n > steps)
            steps = scene->iterations.ranks[r].n;
    int result = board_init(board, scene, steps);
    if (result < 0)
        return result;
    board->by_time = true;
    for (size_t r = 0; r < board->ranks; r++)
        for (size_t i = 0; i < steps; i++) {
            const struct rank_iterations *rank = &scene->iterations.ranks[r];
            board->own[r * steps + i] =
                i < rank->n ? (double)rank->items[i].duration_ns / 1e9 : NAN;
        }
    return 0;
}

/* Stretches of whole iterations, each at least as long as two rows of the process table. */
#define STEP_MIN_NS INT64_C(2000000000)

static size_t make_steps(const struct rank_iterations *rank, struct window *steps) {
    size_t n = 0;
    int64_t begin = rank->n ? rank->items[0].end_ns - rank->items[0].duration_ns : 0;
    for (size_t i = 0; i < rank->n; i++) {
        const struct iteration *it = &rank->items[i];
        if (it->end_ns - it->duration_ns > begin + 2 * STEP_MIN_NS)
            begin = it->end_ns - it->duration_ns; /* after a pause between iterations */
        if (it->end_ns - begin < STEP_MIN_NS)
            continue;
        steps[n++] = (struct window){begin, it->end_ns};
        begin = it->end_ns;
    }
    return n;
}

static const struct scene_process *process_of(const struct scene *scene,
                                              const struct rank_iterations *rank) {
    const struct series_set *set = &scene->recording->tables[RECORDING_PROCESS];
    for (size_t p = 0; p < scene->n_processes; p++) {
        const struct scene_process *process = &scene->processes[p];
        if (process->host == rank->host && process->rank == rank->rank && process->job &&
            series_last(set, process->series, PROCESS_PID) == rank->pid)
            return process;
    }
    return NULL;
}

static double or_zero(double value) {
    return isnan(value) ? 0 : value;
}

static double own_share(const struct scene *scene, const struct scene_process *process,
                        struct window window) {
    if (!process)
        return NAN;
    struct process_use use = scene_process_use(scene, process, (struct windows){&window, 1});
    return (use.cpu_s + or_zero(use.run_queue_s) + or_zero(use.disk_s)) / use.wall_s;
}

static int board_of_use(const struct scene *scene, struct board *board) {
    const struct rank_iterations *reference = iterations_reference(&scene->iterations);
    struct window *steps = malloc((reference->n + 1) * sizeof *steps);
    if (!steps)
        return -ENOMEM;
    size_t n = make_steps(reference, steps);
    int result = board_init(board, scene, n);
    for (size_t r = 0; result == 0 && r < board->ranks; r++) {
        const struct scene_process *process = process_of(scene, &scene->iterations.ranks[r]);
        for (size_t i = 0; i < n; i++)
            board->own[r * n + i] = own_share(scene, process, steps[i]);
    }
    free(steps);
    return result;
}

static size_t known_steps(const struct board *board, size_t rank) {
    size_t n = 0;
    while (n < board->steps && !isnan(board->own[rank * board->steps + n]))
        n++;
    return n;
}

static bool are_peers(const struct board *board, size_t a, size_t b) {
    const struct rank_iterations *ranks = board->scene->iterations.ranks;
    double low = fmin(board->traffic[a], board->traffic[b]);
    double high = fmax(board->traffic[a], board->traffic[b]);
    return a != b && ranks[a].role == ranks[b].role && (high < 10e6 || high < 2 * low) &&
           known_steps(board, b) > 0;
}

/* Medians of the peers' own times, each over all its steps. Returns how many peers. */
static size_t peers_of(const struct board *board, size_t rank, double *medians) {
    size_t n = 0;
    for (size_t p = 0; p < board->ranks; p++)
        if (are_peers(board, rank, p))
            medians[n++] = stats_median(board->own + p * board->steps, known_steps(board, p));
    return n;
}

/* The peers' median at every step; free-running ranks are not in step, so theirs over the run. */
static void references_of(const struct board *board, size_t rank, double overall, size_t n,
                          double *room, double *references) {
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        for (size_t p = 0; !board->by_time && p < board->ranks; p++)
            if (are_peers(board, rank, p) && !isnan(board->own[p * board->steps + i]))
                room[k++] = board->own[p * board->steps + i];
        references[i] = k ? stats_median(room, k) : overall;
    }
}

/* ---- why ---- */

enum { TERM_RUN_QUEUE, TERM_DISK, TERM_CPU, TERM_COUNT };

/* Seconds an iteration that the rank spent so; NAN if its process is not known. */
static double use_of(const struct board *board, size_t rank, size_t term) {
    const struct scene *scene = board->scene;
    const struct rank_iterations *iterations = &scene->iterations.ranks[rank];
    const struct scene_process *process = process_of(scene, iterations);
    if (!process)
        return NAN;
    struct process_use use =
        scene_process_use(scene, process, phase_windows(&scene->groups[scene->main_group]));
    double terms[TERM_COUNT] = {use.run_queue_s, use.disk_s, use.cpu_s};
    return or_zero(terms[term]) / (double)iterations->n;
}

static double peers_use(const struct board *board, size_t rank, size_t term, double *room) {
    size_t n = 0;
    for (size_t p = 0; p < board->ranks; p++)
        if (are_peers(board, rank, p) && !isnan(use_of(board, p, term)))
            room[n++] = use_of(board, p, term);
    return stats_median(room, n);
}

static void explain(const struct board *board, size_t rank, double excess_s, double *room,
                    struct straggler *s) {
    static const char *const words[] = {
        "contention: it waits for a core", "disk: it waits for block I/O",
        "more CPU time: more work, or a slower core (cannot be told apart yet)"};
    static const char *const names[] = {"run queue", "block I/O", "CPU"};
    double most = 0;
    size_t cause = 0;
    for (size_t t = 0; t < TERM_COUNT; t++) {
        double own = use_of(board, rank, t), peers = peers_use(board, rank, t, room);
        if (isnan(own) || isnan(peers))
            continue;
        if (fabs(own - peers) >= 0.02 * excess_s)
            text_list_add(&s->evidence, "%s: %.3g s an iteration, its peers %.3g s", names[t], own,
                          peers);
        if (own - peers > most) {
            most = own - peers;
            cause = t;
        }
    }
    bool enough = most >= 0.5 * excess_s;
    s->explained = excess_s > 0 ? fmin(1, most / excess_s) : NAN;
    s->cause = text_format("%s", enough ? words[cause]
                                        : "waiting, for the network, its server or in its own code "
                                          "(cannot be told apart yet)");
}

static int add(struct stragglers *found, const struct board *board, size_t rank,
               const struct straggler_judgement *j, size_t n, double excess_s, double *room) {
    const struct rank_iterations *ranks = board->scene->iterations.ranks;
    struct straggler *s = &found->items[found->n++];
    *s = (struct straggler){.host = ranks[rank].host,
                            .rank = ranks[rank].rank,
                            .kind = j->kind,
                            .slowdown = j->ratio,
                            .flagged = j->flagged};
    text_list_add(&s->evidence, "%s %.2f times its peers' median, above %.2f in %.0f %% of %zu %s",
                  board->by_time ? "its iterations take" : "the processor time it needs is",
                  j->ratio, STRAGGLER_RATIO, 100 * j->flagged, n,
                  board->by_time ? "iterations" : "steps of whole iterations");
    explain(board, rank, excess_s, room, s);
    return s->cause && !s->evidence.error ? 0 : -ENOMEM;
}

static int judge_rank(const struct board *board, size_t rank, double *room,
                      struct stragglers *found) {
    size_t n = known_steps(board, rank);
    double *medians = room, *references = room + board->ranks, *rest = references + board->steps;
    size_t n_peers = peers_of(board, rank, medians);
    if (!n_peers || !n)
        return 0;
    const double *own = board->own + rank * board->steps;
    double peers = stats_median(medians, n_peers);
    references_of(board, rank, peers, n, rest, references);
    struct straggler_judgement j = straggler_judge(own, references, n, medians, n_peers);
    /* A share of the step turns into seconds with the iteration's own length. */
    struct windows windows = phase_windows(&board->scene->groups[board->scene->main_group]);
    double iteration_s = iteration_median(&board->scene->iterations.ranks[rank], windows);
    double excess_s = (stats_median(own, n) - peers) * (board->by_time ? 1 : iteration_s);
    if (!j.kind || !(excess_s >= STRAGGLER_GAIN * iteration_s))
        return 0;
    return add(found, board, rank, &j, n, excess_s, rest);
}

static int compare(const void *a, const void *b) {
    double x = ((const struct straggler *)a)->slowdown, y = ((const struct straggler *)b)->slowdown;
    return (x < y) - (x > y);
}

static int judge_all(const struct board *board, struct stragglers *found) {
    double *room = malloc((2 * board->ranks + board->steps + 2) * sizeof *room);
    int result = room ? 0 : -ENOMEM;
    found->items = calloc(board->ranks + 1, sizeof *found->items);
    if (!found->items)
        result = -ENOMEM;
    for (size_t r = 0; result == 0 && r < board->ranks; r++)
        result = judge_rank(board, r, room, found);
    if (result == 0 && found->n)
        qsort(found->items, found->n, sizeof *found->items, compare);
    free(room);
    return result;
}

static char *describe(const struct scene *scene, const struct board *board) {
    if (scene->iterations.n < 2)
        return text_format("only one rank marks iterations: nothing to compare");
    if (board->steps < STRAGGLER_ITERATIONS)
        return text_format("too few %s to say (%zu, %d are needed)",
                           board->by_time ? "iterations" : "steps of at least 2 s", board->steps,
                           STRAGGLER_ITERATIONS);
    return text_format(board->by_time ? "judged by the iteration times of each rank"
                                      : "the ranks move together, so judged by the "
                                        "processor and disk time of each rank");
}

/* Ranks in step that all keep their cores busy: who works and who spins cannot be seen. */
static bool hidden_by_spinning(const struct scene *scene) {
    return scene->iterations.lockstep && ranks_busy(scene, scene->main_group) >= BUSY_RANK;
}

int straggler_find(const struct scene *scene, struct stragglers *ret_stragglers) {
    struct stragglers found = {0};
    struct board board;
    if (!scene->iterations.n) {
        *ret_stragglers = found;
        return 0;
    }
    int result =
        scene->iterations.lockstep ? board_of_use(scene, &board) : board_of_times(scene, &board);
    if (result < 0)
        return result;
    if (hidden_by_spinning(scene))
        found.note = text_format("the ranks move together and all keep their cores "
                                 "busy, computing or spinning: not judged");
    else {
        found.note = describe(scene, &board);
        result = judge_all(&board, &found);
    }
    board_release(&board);
    if (result < 0 || !found.note) {
        stragglers_release(&found);
        return -ENOMEM;
    }
    *ret_stragglers = found;
    return 0;
}

void stragglers_release(struct stragglers *stragglers) {
    for (size_t i = 0; i < stragglers->n; i++) {
        free(stragglers->items[i].cause);
        text_list_release(&stragglers->items[i].evidence);
    }
    free(stragglers->items);
    free(stragglers->note);
    *stragglers = (struct stragglers){0};
}
