/* SPDX-License-Identifier: MIT */
/* How a report shows and uses the ceilings of a database. */
#include <jansson.h>

#include "reports/facts/alerts.h"
#include "reports/model/layout.h"
#include "reports/model/reported.h"
#include "reports/writer.h"
#include "tests/unit/recorded_run.h"

static const char *const hosts[] = {"vm1", "vm2"};
static const struct recorded_run planned = {"sync", "./train", hosts, 2, 44, 110, true, 0};

struct ceilings {
    const struct store_ceiling *items;
    size_t n;
};

static void add_ceilings(const char *path, const void *ctx) {
    const struct ceilings *ceilings = ctx;
    struct store *store;
    char why[200];
    assert_int_equal(store_open_write(path, &store, why, sizeof why), 0);
    assert_int_equal(store_ceilings_add(store, ceilings->items, ceilings->n), 0);
    store_close(store);
}

static struct report *build(const struct store_ceiling *ceilings, size_t n) {
    return report_of_run(&planned, add_ceilings, &(struct ceilings){ceilings, n});
}

static char *write_text(const struct report *report, const struct format *format) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(report_write(report, format, out), 0);
    fclose(out);
    return text;
}

/* vm1 sends 110 MB/s for half of the time: 50 % of 110 on average. */
static void tables_show_shares_of_what_was_measured(void **state) {
    const struct store_ceiling list[] = {recorded_ceiling("vm1", NULL, "net_egress", 110),
                                         recorded_ceiling("vm1", NULL, "net_egress_wire", 112),
                                         recorded_ceiling("vm9", NULL, "net_egress", 5)};
    struct report *report = build(list, 3);
    struct layout_row rows[LAYOUT_ROWS_MAX];
    (void)state;
    size_t n = layout_expand(report, layout_averages, layout_averages_size, rows);
    assert_int_equal(n, 7 + 1); /* none of a GPU */
    for (size_t i = 0; i < n; i++)
        if (rows[i].of_ceiling) {
            assert_int_equal(rows[i].metric, METRIC_NET_SEND);
            double share = layout_value(report, &report->resources[0], 0, &rows[i], false);
            assert_true(fabs(share - 100 * 55.0 / 112) < 0.5); /* of the higher one */
            assert_true(isnan(layout_value(report, &report->resources[0], 1, &rows[i], false)));
        }
    static const struct format *const formats[] = {&format_text, &format_md};
    for (size_t f = 0; f < 2; f++) {
        char *text = write_text(report, formats[f]);
        assert_non_null(strstr(text, "of what was measured (%)"));
        assert_null(strstr(text, "vm9"));
        free(text);
    }
    report_free(report);
}

/* The other host can receive at the rate at which the first one sends. */
static void a_pair_speaks_of_both_its_ends(void **state) {
    const struct store_ceiling pair = recorded_ceiling("vm1", "vm2", "net_pair", 111);
    struct report *report = build(&pair, 1);
    (void)state;
    assert_true(report->metric_ceilings[METRIC_NET_SEND] == 111);
    assert_true(report->metric_ceilings[METRIC_COUNT_ + METRIC_NET_RECV] == 111);
    assert_true(isnan(report->metric_ceilings[METRIC_NET_RECV]));
    assert_true(isnan(report->metric_ceilings[METRIC_DISK_READ]));
    report_free(report);
}

static void the_json_tells_ceilings_and_what_they_were_used_for(void **state) {
    const struct store_ceiling list[] = {recorded_ceiling("vm1", NULL, "net_egress", 110.5),
                                         recorded_ceiling("vm9", NULL, "net_egress", 5),
                                         recorded_ceiling("vm1", "vm9", "net_pair", 100)};
    struct report *report = build(list, 3);
    char *text = write_text(report, &format_json);
    json_t *object = json_loads(text, 0, NULL), *ceilings = json_object_get(object, "ceilings"),
           *item;
    size_t i, n_calibrated = 0;
    (void)state;
    assert_int_equal(json_array_size(ceilings), 2);
    item = json_array_get(ceilings, 0);
    assert_string_equal(json_string_value(json_object_get(item, "host")), "vm1");
    assert_true(json_is_null(json_object_get(item, "peer")));
    assert_true(json_real_value(json_object_get(item, "value")) == 110.5);
    assert_string_equal(json_string_value(json_object_get(item, "measured_at")),
                        "1970-01-01T00:00:01.000Z");
    json_array_foreach(json_object_get(object, "arithmetic"), i, item) {
        bool calibrated = json_is_true(json_object_get(item, "calibrated"));
        n_calibrated += calibrated;
        if (calibrated)
            assert_true(json_number_value(json_object_get(item, "bandwidth_mb_s")) == 110.5);
    }
    assert_int_equal(n_calibrated, 1);
    json_decref(object);
    free(text);
    report_free(report);
}

static void without_ceilings_nothing_is_said_of_them(void **state) {
    struct report *report = build(NULL, 0);
    (void)state;
    char *text = write_text(report, &format_text);
    assert_null(strstr(text, "of what was measured"));
    assert_null(strstr(text, "was measured to carry"));
    free(text);
    struct alerts log;
    assert_int_equal(alerts_find(&report->run->model, &log), 0);
    for (size_t i = 0; i < log.n; i++)
        assert_memory_not_equal(log.items[i].resource, "NET", 3);
    free(log.items);
    report_free(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_show_shares_of_what_was_measured),
        cmocka_unit_test(a_pair_speaks_of_both_its_ends),
        cmocka_unit_test(the_json_tells_ceilings_and_what_they_were_used_for),
        cmocka_unit_test(without_ceilings_nothing_is_said_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
