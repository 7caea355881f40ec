/* SPDX-License-Identifier: MIT */
/* The columns of the probes that libproc2 also reads. */
#include <libproc2/diskstats.h>
#include <libproc2/meminfo.h>
#include <libproc2/stat.h>
#include <libproc2/vmstat.h>
#include <stdlib.h>

#include "common/error.h"
#include "tests/bench/sample_cost.h"

struct libproc2 {
    struct stat_info *stat;
    struct meminfo_info *meminfo;
    struct vmstat_info *vmstat;
    struct diskstats_info *diskstats;
};

static enum stat_item stat_items[] = {STAT_TIC_ID,     STAT_TIC_USER,    STAT_TIC_NICE,
                                      STAT_TIC_SYSTEM, STAT_TIC_IDLE,    STAT_TIC_IOWAIT,
                                      STAT_TIC_IRQ,    STAT_TIC_SOFTIRQ, STAT_TIC_STOLEN};
static enum meminfo_item meminfo_items[] = {
    MEMINFO_MEM_TOTAL,  MEMINFO_MEM_FREE,   MEMINFO_MEM_AVAILABLE, MEMINFO_MEM_BUFFERS,
    MEMINFO_MEM_CACHED, MEMINFO_MEM_SLAB,   MEMINFO_MEM_ANON,      MEMINFO_MEM_SHARED,
    MEMINFO_MEM_DIRTY,  MEMINFO_SWAP_TOTAL, MEMINFO_SWAP_FREE};
static enum vmstat_item vmstat_items[] = {
    VMSTAT_PGFAULT, VMSTAT_PGMAJFAULT, VMSTAT_PSWPIN,   VMSTAT_PSWPOUT,
    VMSTAT_PGPGIN,  VMSTAT_PGPGOUT,    VMSTAT_OOM_KILL, VMSTAT_WORKINGSET_REFAULT};
static enum diskstats_item diskstats_items[] = {
    DISKSTATS_NAME,      DISKSTATS_TYPE,         DISKSTATS_READS,         DISKSTATS_READ_SECTORS,
    DISKSTATS_READ_TIME, DISKSTATS_WRITES,       DISKSTATS_WRITE_SECTORS, DISKSTATS_WRITE_TIME,
    DISKSTATS_IO_TIME,   DISKSTATS_WEIGHTED_TIME};

void *libproc2_open(void) {
    struct libproc2 *all = calloc(1, sizeof *all);
    if (all && procps_stat_new(&all->stat) == 0 && procps_meminfo_new(&all->meminfo) == 0 &&
        procps_vmstat_new(&all->vmstat) == 0 && procps_diskstats_new(&all->diskstats) == 0)
        return all;
    libproc2_close(all);
    return NULL;
}

void libproc2_run(void *ctx) {
    struct libproc2 *all = ctx;
    if (!procps_stat_reap(all->stat, STAT_REAP_CPUS_ONLY, stat_items, ARRAY_SIZE(stat_items)) ||
        !procps_meminfo_select(all->meminfo, meminfo_items, ARRAY_SIZE(meminfo_items)) ||
        !procps_vmstat_select(all->vmstat, vmstat_items, ARRAY_SIZE(vmstat_items)) ||
        !procps_diskstats_reap(all->diskstats, diskstats_items, ARRAY_SIZE(diskstats_items)))
        abort();
}

void libproc2_close(void *ctx) {
    struct libproc2 *all = ctx;
    if (!all)
        return;
    if (all->stat)
        procps_stat_unref(&all->stat);
    if (all->meminfo)
        procps_meminfo_unref(&all->meminfo);
    if (all->vmstat)
        procps_vmstat_unref(&all->vmstat);
    if (all->diskstats)
        procps_diskstats_unref(&all->diskstats);
    free(all);
}
