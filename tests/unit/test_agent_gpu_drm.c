/* SPDX-License-Identifier: MIT */
/* Cards of AMD and Intel, by the files of their drivers: fixtures/gpus, and texts that no kernel
 * writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/probes/gpu/gpu_private.h"
#include "common/error.h"
#include "tests/probe_harness.h"

#define HOST TEST_SOURCE_DIR "/fixtures/gpus"
#define S NS_PER_S

static struct gpus *begin(void) {
    struct gpus *gpus = calloc(1, sizeof *gpus);
    strcpy(gpus->sys, HOST "/sys");
    drm_find(gpus);
    return gpus;
}

static const struct gpu_part *part(const struct gpus *gpus, const char *name) {
    for (size_t i = 0; i < gpus->n_parts; i++)
        if (strcmp(gpus->parts[i].name, name) == 0)
            return &gpus->parts[i];
    return NULL;
}

static void cards_of_known_drivers_are_found(void **state) {
    struct gpus *gpus = begin();
    (void)state;
    assert_int_equal(gpus->n_parts, 3);
    assert_null(part(gpus, "card3")); /* NVIDIA's is NVML's */
    assert_null(part(gpus, "card0-DP-1"));
    assert_string_equal(part(gpus, "card0")->fact, "card0 amdgpu 0x1002:0x740f 0000:03:00.0");
    assert_string_equal(part(gpus, "card2")->address, "0000:83:00.0");
    free(gpus);
}

static void a_card_of_amd_tells_its_figures(void **state) {
    struct gpus *gpus = begin();
    const struct gpu_part *card = part(gpus, "card0");
    (void)state;
    gpus_read_fast(gpus, S);
    gpus_read_fast(gpus, 3 * S);
    assert_int_equal(card->values[GPU_BUSY], 1740000000);
    assert_int_equal(card->values[GPU_MEMORY_BUSY], 820000000);
    assert_int_equal(card->values[GPU_MEMORY_USED], 9876543488);
    assert_int_equal(card->values[GPU_WATTS], 243000000000);
    assert_int_equal(card->values[GPU_CELSIUS], 61);
    assert_int_equal(card->values[GPU_SM_CLOCK], 1700000000);
    assert_int_equal(card->values[GPU_MEMORY_CLOCK], 1600000000);
    assert_int_equal(card->values[GPU_PCIE_REPLAYS], 2);
    assert_int_equal(card->values[GPU_SM], VALUE_ABSENT);
    assert_int_equal(card->values[GPU_LOST], VALUE_ABSENT);
    assert_int_equal(card->facts[GPU_DEVICE_MEMORY], 17163091968);
    assert_int_equal(card->facts[GPU_DEVICE_WATTS_LIMIT], 300000000000);
    assert_int_equal(card->facts[GPU_DEVICE_SM_CLOCK], 1700000000);
    assert_int_equal(card->facts[GPU_DEVICE_PCIE_LANES], 16);
    free(gpus);
}

static void cards_of_intel_tell_clock_and_energy(void **state) {
    struct gpus *gpus = begin();
    const struct gpu_part *i915 = part(gpus, "card1"), *xe = part(gpus, "card2");
    (void)state;
    gpus_read_fast(gpus, S);
    assert_int_equal(i915->values[GPU_SM_CLOCK], 2050000000);
    assert_int_equal(i915->values[GPU_JOULES], 123456789000);
    assert_int_equal(i915->values[GPU_BUSY], VALUE_ABSENT);
    assert_int_equal(i915->facts[GPU_DEVICE_SM_CLOCK], 2400000000);
    assert_int_equal(i915->facts[GPU_DEVICE_WATTS_LIMIT], 190000000000);
    assert_int_equal(xe->values[GPU_SM_CLOCK], 1550000000);
    assert_int_equal(xe->values[GPU_JOULES], VALUE_ABSENT);
    free(gpus);
}

static const struct drm_client *of_card(const struct drm_client *all, size_t n,
                                        const char *address) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].address, address) == 0)
            return &all[i];
    return NULL;
}

/* Two descriptors of one file count once, two files of one card together. */
static void a_process_uses_cards_through_its_files(void **state) {
    struct drm_client all[DRM_CLIENTS_MAX];
    (void)state;
    size_t n = drm_clients_read(HOST "/proc", 4711, all);
    assert_int_equal(n, 2);
    const struct drm_client *amd = of_card(all, n, "0000:03:00.0");
    const struct drm_client *intel = of_card(all, n, "0000:00:02.0");
    assert_non_null(amd);
    assert_non_null(intel);
    assert_int_equal(amd->busy_ns, 75000000000);
    assert_int_equal(amd->memory, (INT64_C(2) << 30) + (INT64_C(2) << 20));
    assert_int_equal(intel->busy_ns, 25662044495);
    assert_int_equal(intel->memory, INT64_C(16) << 20);
    assert_int_equal(drm_clients_read(HOST "/proc", 4712, all), 0);
}

static void a_client_needs_a_card_and_an_id(void **state) {
    struct drm_client client;
    static const char *const bad[] = {
        "",
        "drm-client-id:\t1\n",
        "drm-pdev:\t0000:03:00.0\n",
        "drm-pdev:\t0000:03:00.0:and:much:more:than:that\ndrm-client-id:\t1\n",
        "drm-pdev:\t0000:03:00.0\ndrm-client-id:\t-\n",
        "drm-pdev\ndrm-client-id\n"};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_false(drm_client_parse(bad[i], strlen(bad[i]), &client));
    static const char odd[] = "drm-pdev:\t0000:03:00.0\ndrm-client-id:\t1\n"
                              "drm-engine-gfx:\t99999999999999999999 ns\n"
                              "drm-engine-copy:\t-5 ns\ndrm-memory-vram:\t12 furlongs\n";
    assert_true(drm_client_parse(odd, sizeof odd - 1, &client));
    assert_int_equal(client.busy_ns, VALUE_ABSENT);
    assert_int_equal(client.memory, VALUE_ABSENT);
}

static void the_job_s_processes_have_rows(void **state) {
    struct harness gpu, h;
    struct gpu_watch watch = {0};
    struct job_process member = {.pid = 4711, .rank = -1, .name = "python3 train.py[4711]"};
    (void)state;
    assert_int_equal(harness_init(&gpu, "", SCOPE_HOST), 0);
    gpu.env.sys = HOST "/sys";
    gpu.env.gpus = &watch;
    assert_int_equal(harness_open(&gpu, &probe_gpu), 0);
    assert_int_equal(harness_init(&h, "", SCOPE_HOST), 0);
    h.env.proc = HOST "/proc";
    h.env.gpus = &watch;
    job_set(&h.job, 0, &member);
    job_end(&h.job, 1);
    assert_int_equal(harness_open(&h, &probe_gpu_process), 0);
    assert_int_equal(harness_sample(&h), 0);
    assert_int_equal(harness_value(&h, "card0 python3 train.py[4711]", "busy_ns"), 75000000000);
    assert_int_equal(harness_value(&h, "card1 python3 train.py[4711]", "job"), 1);
    harness_close(&h);
    harness_close(&gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cards_of_known_drivers_are_found),
        cmocka_unit_test(a_card_of_amd_tells_its_figures),
        cmocka_unit_test(cards_of_intel_tell_clock_and_energy),
        cmocka_unit_test(a_process_uses_cards_through_its_files),
        cmocka_unit_test(a_client_needs_a_card_and_an_id),
        cmocka_unit_test(the_job_s_processes_have_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
