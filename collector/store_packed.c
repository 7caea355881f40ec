/* SPDX-License-Identifier: MIT */
/*
 * A packed file states the size of its database. The size of the packed file limits that number: a
 * small file that would fill the disk with zeros is refused before its first byte is written.
 */
#include "collector/store_packed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "collector/store_pack.h"
#include "collector/store_private.h"
#include "common/error.h"
#include "common/transfer.h"

#define LEVEL 9
#define WINDOW_LOG_MAX 23  /* window for reading: 8 MiB, more than LEVEL uses */
#define RATIO_MAX 512      /* highest ratio; full pages of a store have 3 to 10 */
#define SMALL (1u << 20)   /* files below this size may have any ratio */
#define PIECE (256u << 10) /* bytes read and written at once */

enum { HEAD_SIZE = 24, HEAD_PAYLOAD = 16 };
static const uint8_t head_begins[][HEAD_PAYLOAD] = {[PACKED_PLAIN] = "\x5c\x2a\x4d\x18\x10\0\0\0"
                                                                     "CHKPACK1",
                                                    [PACKED_COLD] = "\x5c\x2a\x4d\x18\x10\0\0\0"
                                                                    "CHKPACK2"};
/* The first bytes of a database, and those in their place in PACKED_COLD. */
static const uint8_t magic[16] = "SQLite format 3", cold_magic[16] = "Chokepoint cold";

static void put_head(uint8_t head[HEAD_SIZE], enum packed_form form, uint64_t size) {
    memcpy(head, head_begins[form], HEAD_PAYLOAD);
    for (size_t i = 0; i < 8; i++)
        head[HEAD_PAYLOAD + i] = (uint8_t)(size >> 8 * i);
}

static bool read_head(const uint8_t head[HEAD_SIZE], uint64_t *ret_size,
                      enum packed_form *ret_form) {
    *ret_size = 0;
    for (size_t i = 0; i < 8; i++)
        *ret_size |= (uint64_t)head[HEAD_PAYLOAD + i] << 8 * i;
    for (int form = PACKED_PLAIN; form <= PACKED_COLD; form++) {
        *ret_form = (enum packed_form)form;
        if (memcmp(head, head_begins[form], HEAD_PAYLOAD) == 0)
            return true;
    }
    return false;
}

bool store_is_packed(const char *path) {
    uint8_t head[HEAD_SIZE];
    uint64_t size;
    enum packed_form form;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool is =
        fd >= 0 && read(fd, head, sizeof head) == sizeof head && read_head(head, &size, &form);
    if (fd >= 0)
        close(fd);
    return is;
}

bool store_find_packed(const char *path, char ret_packed[4096]) {
    int n = snprintf(ret_packed, 4096, "%s", path);
    if (n < 0 || n >= 4096)
        return false;
    if (access(path, F_OK) == 0)
        return store_is_packed(path);
    n = snprintf(ret_packed, 4096, "%s" PACK_ENDING, path);
    return n > 0 && n < 4096 && store_is_packed(ret_packed);
}

/* Buffers, and the state of the library. */
struct work {
    uint8_t *in, *out;
    ZSTD_CCtx *pack;
    ZSTD_DCtx *unpack;
};

static void release_work(struct work *work) {
    free(work->in);
    free(work->out);
    ZSTD_freeCCtx(work->pack);
    ZSTD_freeDCtx(work->unpack);
}

static int allocate_work(struct work *work, bool pack) {
    work->in = malloc(PIECE);
    work->out = malloc(PIECE);
    if (pack)
        work->pack = ZSTD_createCCtx();
    else
        work->unpack = ZSTD_createDCtx();
    return work->in && work->out && (work->pack || work->unpack) ? 0 : -ENOMEM;
}

/* ---- packing ---- */

static int pack_piece(struct work *work, size_t size, bool last, int out) {
    ZSTD_inBuffer in = {work->in, size, 0};
    size_t left;
    do {
        ZSTD_outBuffer to = {work->out, PIECE, 0};
        left = ZSTD_compressStream2(work->pack, &to, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        int r = ZSTD_isError(left) ? -EIO : transfer_write(out, work->out, to.pos);
        if (r)
            return r;
    } while (last ? left > 0 : in.pos < in.size);
    return 0;
}

/* Before the first piece is compressed. -EIO: it is of no database. */
static int change_magic(struct work *work, size_t size) {
    if (size < sizeof magic || memcmp(work->in, magic, sizeof magic) != 0)
        return -EIO;
    memcpy(work->in, cold_magic, sizeof cold_magic);
    return 0;
}

static int pack_pieces(struct work *work, int in, uint64_t size, enum packed_form form, int out) {
    uint8_t head[HEAD_SIZE];
    bool first = true;
    put_head(head, form, size);
    int r = transfer_write(out, head, sizeof head);
    if (r == 0 &&
        (lseek(in, 0, SEEK_SET) < 0 ||
         ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(work->pack, size)) ||
         ZSTD_isError(ZSTD_CCtx_setParameter(work->pack, ZSTD_c_checksumFlag, 1)) ||
         ZSTD_isError(ZSTD_CCtx_setParameter(work->pack, ZSTD_c_compressionLevel, LEVEL))))
        r = -EIO;
    while (r == 0 && size) {
        size_t piece = size < PIECE ? (size_t)size : PIECE;
        ssize_t n = transfer_read(in, work->in, piece);
        r = n < 0 ? (int)n : (size_t)n < piece ? -EIO : 0;
        size -= piece;
        if (r == 0 && first && form == PACKED_COLD)
            r = change_magic(work, piece);
        first = false;
        if (r == 0)
            r = pack_piece(work, piece, size == 0, out);
    }
    return r;
}

int packed_write(int in, uint64_t size, enum packed_form form, int out) {
    struct work work = {0};
    int r = size ? allocate_work(&work, true) : -EIO;
    if (r == 0)
        r = pack_pieces(&work, in, size, form, out);
    release_work(&work);
    return r;
}

/* ---- unpacking ---- */

struct unpacking {
    struct work work;
    packed_sink sink;
    void *ctx;
    enum packed_form form;
    uint64_t size, done;
    size_t wanted; /* bytes that the library expects next; 0: a frame has ended */
};

/* A piece that begins the database has its magic whole: the library fills its buffer. */
static int restore_magic(struct unpacking *u, size_t size) {
    if (size < sizeof magic || memcmp(u->work.out, cold_magic, sizeof magic) != 0)
        return -EBADMSG;
    memcpy(u->work.out, magic, sizeof magic);
    return 0;
}

static int give_piece(struct unpacking *u, size_t size) {
    int r = u->form == PACKED_COLD && u->done == 0 ? restore_magic(u, size) : 0;
    return r ? r : u->sink(u->ctx, u->done, u->work.out, size);
}

static int unpack_piece(struct unpacking *u, size_t size) {
    ZSTD_inBuffer in = {u->work.in, size, 0};
    ZSTD_outBuffer to = {u->work.out, PIECE, PIECE};
    while (in.pos < in.size || to.pos == PIECE) {
        to.pos = 0;
        u->wanted = ZSTD_decompressStream(u->work.unpack, &to, &in);
        if (ZSTD_isError(u->wanted) || to.pos > u->size - u->done)
            return -EBADMSG;
        int r = to.pos ? give_piece(u, to.pos) : 0;
        if (r < 0)
            return r;
        u->done += to.pos;
        if (u->wanted == 0 && in.pos == in.size)
            break;
    }
    return 0;
}

static int unpack_pieces(struct unpacking *u, int in) {
    ssize_t n;
    int r = 0;
    if (ZSTD_isError(ZSTD_DCtx_setParameter(u->work.unpack, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
        return -EIO;
    while (r == 0 && (n = transfer_read(in, u->work.in, PIECE)) > 0)
        r = unpack_piece(u, (size_t)n);
    if (r == 0 && n < 0)
        r = (int)n;
    return r ? r : u->done == u->size && u->wanted == 0 ? 0 : -EBADMSG;
}

int packed_read(int in, packed_sink sink, void *ctx, uint64_t *ret_size) {
    struct unpacking u = {.sink = sink, .ctx = ctx, .wanted = 1};
    uint8_t head[HEAD_SIZE];
    struct stat st;
    if (lseek(in, 0, SEEK_SET) < 0 || fstat(in, &st) < 0)
        return negative_errno();
    ssize_t n = transfer_read(in, head, sizeof head);
    if (n < 0)
        return (int)n;
    if (n < HEAD_SIZE || !read_head(head, &u.size, &u.form) || u.size == 0 ||
        (u.size > SMALL && u.size / RATIO_MAX > (uint64_t)st.st_size))
        return -EBADMSG;
    int r = allocate_work(&u.work, false);
    if (r == 0)
        r = unpack_pieces(&u, in);
    release_work(&u.work);
    *ret_size = u.size;
    return r;
}

int packed_to_file(void *ctx, uint64_t offset, const void *data, size_t size) {
    (void)offset; /* seek first: the descriptor may be anywhere */
    return transfer_write(*(int *)ctx, data, size);
}

int packed_compare(void *ctx, uint64_t offset, const void *data, size_t size) {
    char piece[4096];
    for (size_t at = 0; at < size;) {
        size_t wanted = size - at < sizeof piece ? size - at : sizeof piece;
        ssize_t n = pread(*(int *)ctx, piece, wanted, (off_t)(offset + at));
        if (n <= 0)
            return n < 0 ? negative_errno() : -EBADMSG;
        if (memcmp(piece, (const char *)data + at, (size_t)n) != 0)
            return -EBADMSG;
        at += (size_t)n;
    }
    return 0;
}

/* ---- a copy to read ---- */

/* A packed database whose header says WAL gets a log when it is opened. */
void packed_copy_remove(const struct packed_copy *copy) {
    static const char *const endings[] = {"", "-wal", "-shm"};
    char name[sizeof copy->path + 8];
    for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
        snprintf(name, sizeof name, "%s%s", copy->path, endings[i]);
        unlink(name);
    }
    rmdir(copy->directory);
}

int packed_copy_make(const char *path, struct packed_copy *ret_copy) {
    uint64_t size;
    int in = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (in < 0)
        return negative_errno();
    int r = private_directory(ret_copy->directory);
    if (r == 0) {
        snprintf(ret_copy->path, sizeof ret_copy->path, "%s/db", ret_copy->directory);
        int out = open(ret_copy->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        r = out < 0 ? negative_errno() : packed_read(in, packed_to_file, &out, &size);
        if (out >= 0 && close(out) < 0 && r == 0)
            r = negative_errno();
        if (r)
            packed_copy_remove(ret_copy);
    }
    close(in);
    return r;
}

int packed_connect(const char *path, struct store **ret_store) {
    struct packed_copy copy;
    int r = packed_copy_make(path, &copy);
    if (r)
        return r;
    r = connect_file(copy.path, SQLITE_OPEN_READONLY, ret_store);
    if (!r && (r = sql_exec(*ret_store, "SELECT count(*) FROM sqlite_schema"))) /* opens it */
        store_close(*ret_store);
    packed_copy_remove(&copy);
    return r;
}
