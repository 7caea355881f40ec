/* SPDX-License-Identifier: MIT */
/*
 * A layer between SQLite and its files: it seals each page of the database when it is written and
 * checks the seal when it is read. SQLite gets an error for a damaged page, so that no query reads
 * it.
 */
#include "collector/store_seal.h"
#include "collector/store_private.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <zlib.h>

#define MARK_BROKEN UINT32_MAX
#define AT_COUNTER 24
#define AT_PAGES 28
#define AT_FREE 32
#define AT_VALID_FOR 92 /* value of the change counter for which the number of pages is valid */

struct seal_file {
    sqlite3_file base;
    uint32_t page_size; /* 0: not known yet, or not sealed */
    uint32_t bad_page;  /* the first damaged page found; 0: none */
    /* the underlying file follows */
};

static sqlite3_file *below(sqlite3_file *file) {
    return (sqlite3_file *)((struct seal_file *)file + 1);
}

/* ---- pages ---- */

static uint32_t big_endian(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t little_endian(const uint8_t *p) {
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void put_little_endian(uint8_t *p, uint32_t value) {
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

struct seal_header seal_header_read(const uint8_t header[SEAL_HEADER_BYTES]) {
    struct seal_header h = {0};
    if (memcmp(header, "SQLite format 3", 16) != 0)
        return h;
    uint32_t size = (uint32_t)header[16] << 8 | header[17];
    h.page_size = size == 1 ? 65536 : size;
    h.sealed = header[20] == SEAL_BYTES;
    h.counter = big_endian(header + AT_COUNTER);
    h.free_page = big_endian(header + AT_FREE);
    h.n_pages = big_endian(header + AT_VALID_FOR) == h.counter ? big_endian(header + AT_PAGES) : 0;
    if (h.page_size < 512 || h.page_size & (h.page_size - 1))
        h.page_size = 0;
    return h;
}

static uint32_t checksum(const uint8_t *page, size_t size, uint32_t number) {
    uint8_t seed[4];
    put_little_endian(seed, number);
    return (uint32_t)crc32(crc32(0, seed, sizeof seed), page, (uInt)(size - 4));
}

bool seal_matches(const uint8_t *page, size_t size, uint32_t number) {
    return little_endian(page + size - 4) == checksum(page, size, number);
}

enum seal_state seal_state_of(const struct seal_header *header, const uint8_t *first) {
    if (!header->sealed || !header->page_size)
        return SEAL_NONE;
    uint32_t mark = little_endian(first + header->page_size - SEAL_BYTES);
    return mark == header->counter ? SEAL_HOLDS : SEAL_BROKEN;
}

static void seal(uint8_t *page, size_t size, uint32_t number, uint32_t mark) {
    put_little_endian(page + size - SEAL_BYTES, mark);
    put_little_endian(page + size - 4, checksum(page, size, number));
}

/* ---- the file ---- */

static void learn_pages(struct seal_file *file, const void *data) {
    struct seal_header header = seal_header_read(data);
    if (header.page_size)
        file->page_size = header.sealed ? header.page_size : 0;
}

static bool is_page(const struct seal_file *file, int size, sqlite3_int64 at) {
    return file->page_size && (uint32_t)size == file->page_size && at % size == 0;
}

/* State of the file on the disk; SEAL_NONE: there is no file yet. */
static enum seal_state state_now(sqlite3_file *file, uint32_t page_size) {
    uint8_t header[SEAL_HEADER_BYTES], mark[4];
    sqlite3_file *disk = below(file);
    if (disk->pMethods->xRead(disk, header, sizeof header, 0) != SQLITE_OK ||
        disk->pMethods->xRead(disk, mark, sizeof mark, page_size - SEAL_BYTES) != SQLITE_OK)
        return SEAL_NONE;
    struct seal_header h = seal_header_read(header);
    if (!h.sealed || h.page_size != page_size)
        return SEAL_NONE;
    return little_endian(mark) == h.counter ? SEAL_HOLDS : SEAL_BROKEN;
}

static int file_read(sqlite3_file *base, void *data, int size, sqlite3_int64 at) {
    struct seal_file *file = (struct seal_file *)base;
    int code = below(base)->pMethods->xRead(below(base), data, size, at);
    if (code == SQLITE_IOERR_CORRUPTFS) /* an I/O error: SQLite would call the file malformed */
        return SQLITE_IOERR_READ;
    if (code != SQLITE_OK)
        return code;
    if (at == 0 && size >= SEAL_HEADER_BYTES)
        learn_pages(file, data);
    if (!is_page(file, size, at))
        return SQLITE_OK;
    uint32_t number = (uint32_t)(at / size) + 1;
    if (seal_matches(data, (size_t)size, number) || state_now(base, file->page_size) != SEAL_HOLDS)
        return SQLITE_OK;
    file->bad_page = file->bad_page ? file->bad_page : number;
    return SQLITE_IOERR_DATA;
}

/* SQLite leaves the place of the seal unused. The seal is put into SQLite's own buffer, so that a
 * journal holds the same bytes of a page as the file. */
static void seal_page(sqlite3_file *base, uint8_t *page, int size, sqlite3_int64 at) {
    uint32_t mark = 0;
    if (at == 0)
        mark = state_now(base, (uint32_t)size) == SEAL_BROKEN ? MARK_BROKEN
                                                              : big_endian(page + AT_COUNTER);
    seal(page, (size_t)size, (uint32_t)(at / size) + 1, mark);
}

static int file_write(sqlite3_file *base, const void *data, int size, sqlite3_int64 at) {
    struct seal_file *file = (struct seal_file *)base;
    if (at == 0 && size >= SEAL_HEADER_BYTES)
        learn_pages(file, data);
    if (is_page(file, size, at))
        seal_page(base, (uint8_t *)(uintptr_t)data, size, at);
    return below(base)->pMethods->xWrite(below(base), data, size, at);
}

/* ---- calls that are passed on ---- */

static int file_close(sqlite3_file *f) {
    return below(f)->pMethods->xClose(below(f));
}
static int file_truncate(sqlite3_file *f, sqlite3_int64 size) {
    return below(f)->pMethods->xTruncate(below(f), size);
}
static int file_sync(sqlite3_file *f, int flags) {
    return below(f)->pMethods->xSync(below(f), flags);
}
static int file_size(sqlite3_file *f, sqlite3_int64 *ret_size) {
    return below(f)->pMethods->xFileSize(below(f), ret_size);
}
static int file_lock(sqlite3_file *f, int level) {
    return below(f)->pMethods->xLock(below(f), level);
}
static int file_unlock(sqlite3_file *f, int level) {
    return below(f)->pMethods->xUnlock(below(f), level);
}
static int file_check_lock(sqlite3_file *f, int *ret_reserved) {
    return below(f)->pMethods->xCheckReservedLock(below(f), ret_reserved);
}
static int file_control(sqlite3_file *f, int op, void *arg) {
    return below(f)->pMethods->xFileControl(below(f), op, arg);
}
static int file_sector_size(sqlite3_file *f) {
    return below(f)->pMethods->xSectorSize(below(f));
}
static int file_characteristics(sqlite3_file *f) {
    return below(f)->pMethods->xDeviceCharacteristics(below(f));
}
static int file_shm_map(sqlite3_file *f, int region, int size, int extend, void volatile **ret) {
    return below(f)->pMethods->xShmMap(below(f), region, size, extend, ret);
}
static int file_shm_lock(sqlite3_file *f, int offset, int n, int flags) {
    return below(f)->pMethods->xShmLock(below(f), offset, n, flags);
}
static void file_shm_barrier(sqlite3_file *f) {
    below(f)->pMethods->xShmBarrier(below(f));
}
static int file_shm_unmap(sqlite3_file *f, int remove) {
    return below(f)->pMethods->xShmUnmap(below(f), remove);
}

/* Version 2: without mapped memory, so that no page bypasses the check. */
static const sqlite3_io_methods methods = {2,
                                           file_close,
                                           file_read,
                                           file_write,
                                           file_truncate,
                                           file_sync,
                                           file_size,
                                           file_lock,
                                           file_unlock,
                                           file_check_lock,
                                           file_control,
                                           file_sector_size,
                                           file_characteristics,
                                           file_shm_map,
                                           file_shm_lock,
                                           file_shm_barrier,
                                           file_shm_unmap,
                                           NULL,
                                           NULL};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
                     int *ret_flags) {
    sqlite3_vfs *disk = vfs->pAppData; /* for a log only errors are adapted */
    if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)))
        return disk->xOpen(disk, name, base, flags, ret_flags);
    struct seal_file *file = (struct seal_file *)base;
    *file = (struct seal_file){0};
    int code = disk->xOpen(disk, name, below(base), flags, ret_flags);
    if (below(base)->pMethods)
        file->base.pMethods = &methods;
    return code;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int registered; /* written under pthread_once alone */

static void register_vfs(void) {
    static sqlite3_vfs vfs;
    sqlite3_vfs *disk = sqlite3_vfs_find(NULL);
    if (!disk) {
        registered = -EIO;
        return;
    }
    vfs = *disk;
    vfs.pNext = NULL;
    vfs.zName = SEAL_VFS;
    vfs.pAppData = disk;
    vfs.szOsFile = (int)sizeof(struct seal_file) + disk->szOsFile;
    vfs.xOpen = open_file;
    registered = sql_errno(sqlite3_vfs_register(&vfs, 0));
}

int seal_register(void) {
    pthread_once(&once, register_vfs);
    return registered;
}

int64_t store_damaged_page(const struct store *store) {
    sqlite3_file *file = NULL;
    if (!store->db ||
        sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
        !file || file->pMethods != &methods)
        return 0;
    return ((struct seal_file *)file)->bad_page;
}
