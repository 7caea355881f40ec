/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/model_private.h"
#include "reports/model/prediction_private.h"
#include "reports/says/refusal_words.h"

static int put_text(const struct prediction_word *words, size_t n, char **ret_text) {
    size_t size = 1;
    for (size_t i = 0; i < n; i++)
        size += 4 + strlen(words[i].option) + (words[i].value ? strlen(words[i].value) : 0);
    char *text = malloc(size), *at = text;
    if (!text)
        return -ENOMEM;
    *at = 0;
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "%s--%s%s%s", i ? " " : "", words[i].option, words[i].value ? " " : "",
                      words[i].value ? words[i].value : "");
    *ret_text = text;
    return 0;
}

/* Asks one question: words[0..n) together. */
static int ask(struct prediction *p, struct prediction_reader *reader, const struct whatif *whatif,
               const struct prediction_word *words, size_t n) {
    struct whatif_scenario *scenarios = calloc(n + 1, sizeof *scenarios);
    struct prediction_answer *to = &p->answers[p->n_answers];
    int result = scenarios ? 0 : -ENOMEM;
    for (size_t i = 0; result == 0 && i < n; i++)
        result = prediction_read_word(reader, &words[i], &scenarios[i]);
    if (result == 0) {
        result = whatif_ask(whatif, scenarios, n, &to->answer);
        if (result == -EINVAL)
            snprintf(
                reader->why, reader->why_size,
                "--workers is for programs in which all ranks speak with one of them only, and "
                "that many are left");
    }
    free(scenarios);
    if (result < 0)
        return result;
    p->n_answers++;
    if (to->answer.refused.code) {
        to->refused = refusal_words(&to->answer.refused);
        to->answer.refused.call = NULL; /* the recording owns it */
        result = to->refused ? 0 : -ENOMEM;
    }
    return result < 0 ? result : put_text(words, n, &to->text);
}

static int ask_all(struct prediction *p, struct prediction_reader *reader,
                   const struct prediction_word *words, size_t n_words, bool together) {
    const struct whatif *whatif = reader->judgement->whatif;
    p->answers = calloc(n_words + 1, sizeof *p->answers);
    int result = p->answers ? 0 : -ENOMEM;
    if (result == 0 && together)
        result = ask(p, reader, whatif, words, n_words);
    for (size_t i = 0; result == 0 && !together && i < n_words; i++)
        result = ask(p, reader, whatif, &words[i], 1);
    return result;
}

static int fill_head(struct prediction *p, const struct report_input *input,
                     const struct run_model *model) {
    p->run_id = input->run.id;
    p->run_name = strdup(input->run.name ? input->run.name : "");
    p->command = strdup(input->run.command ? input->run.command : "");
    p->phase = strdup(model->groups[model->main_group].name);
    p->run_s = (double)input->run.duration_ns / 1e9;
    p->events = input->recording.calls.n > 0;
    return p->run_name && p->command && p->phase ? 0 : -ENOMEM;
}

int prediction_build(struct store *store, const char *which, const struct prediction_word *words,
                     size_t n_words, bool together, char *ret_why, size_t size,
                     struct prediction **ret_prediction) {
    struct report_input input;
    struct run_model model;
    struct judgement judgement;
    int result = report_load(store, which, REPORT_CALLS, &input);
    if (result < 0)
        return result;
    struct prediction *p = calloc(1, sizeof *p);
    result = p ? model_build(&input.recording, &model) : -ENOMEM;
    if (result == 0) {
        struct prediction_reader reader = {&judgement, &model, ret_why, size};
        result = fill_head(p, &input, &model);
        if (result == 0)
            result = judgement_prepare(&model, &judgement);
        if (result == 0) {
            result = ask_all(p, &reader, words, n_words, together);
            judgement_release(&judgement);
        }
        model_release(&model);
    }
    report_input_release(&input);
    if (result < 0)
        prediction_free(p);
    else
        *ret_prediction = p;
    return result;
}

void prediction_free(struct prediction *p) {
    if (!p)
        return;
    for (size_t i = 0; i < p->n_answers; i++) {
        free(p->answers[i].text);
        free(p->answers[i].refused);
    }
    free(p->answers);
    free(p->run_name);
    free(p->command);
    free(p->phase);
    free(p);
}
