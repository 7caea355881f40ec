/* SPDX-License-Identifier: MIT */
/* Reads the table of dynamic symbols (elf(5)) by pread: a file that is cut meanwhile ends the
 * search, not the agent. */
#include "agent/wait/driver_symbols.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/wait/wait_shared.h"
#include "common/error.h"

#define SECTIONS_MAX 256
#define SEGMENTS_MAX 32
#define SYMBOLS_MAX 65536 /* that are looked at */
#define NAME_SIZE 64
#define CHUNK 64

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

static const char *const prefixes[] = {
#define DRIVER_LIBRARY(ID, prefix) [DRIVER_##ID] = prefix,
#include "agent/base/driver_calls.def"
};

static const struct {
    enum driver_library library;
    const char *symbol;
    uint64_t cookie;
} calls[] = {
#define DRIVER_CALL(ID, symbol, state) {DRIVER_##ID, symbol, WAIT_##state},
#define DRIVER_COPY(ID, symbol) {DRIVER_##ID, symbol, WAIT_GPU | WAIT_DRIVER_BY_KIND},
#include "agent/base/driver_calls.def"
};

struct library_file {
    int fd;
    uint64_t size;
    ElfW(Shdr) symbols, names;
    ElfW(Phdr) segments[SEGMENTS_MAX]; /* of code */
    size_t n_segments;
};

/* ---- names ---- */

enum driver_library driver_library_of(const char *path, size_t size) {
    const char *slash = memrchr(path, '/', size), *name = slash ? slash + 1 : path;
    size -= (size_t)(name - path);
    for (size_t i = 0; i < DRIVER_LIBRARIES; i++)
        if (size >= strlen(prefixes[i]) && memcmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return (enum driver_library)i;
    return DRIVER_LIBRARIES;
}

/* Whether only endings of versions follow: "_v2", "_ptsz" and the like. */
static bool is_version(const char *rest) {
    static const char *const endings[] = {"_ptsz", "_ptds", "_spt"};
    while (*rest) {
        size_t size = 0;
        for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
            if (strncmp(rest, endings[i], strlen(endings[i])) == 0)
                size = strlen(endings[i]);
        if (strncmp(rest, "_v", 2) == 0 && strspn(rest + 2, "0123456789") > 0)
            size = 2 + strspn(rest + 2, "0123456789");
        if (!size)
            return false;
        rest += size;
    }
    return true;
}

/* 0: not followed. */
static uint64_t cookie_of(enum driver_library library, const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        size_t size = strlen(calls[i].symbol);
        if (calls[i].library == library && strncmp(name, calls[i].symbol, size) == 0 &&
            is_version(name + size))
            return calls[i].cookie;
    }
    return 0;
}

/* ---- the file ---- */

static bool read_at(int fd, void *to, size_t size, uint64_t offset) {
    return offset <= INT64_MAX && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

static bool is_native(const ElfW(Ehdr) * head) {
    unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == class &&
           head->e_ident[EI_DATA] == ELFDATA2LSB && head->e_machine == MACHINE &&
           head->e_type == ET_DYN && head->e_phentsize == sizeof(ElfW(Phdr)) &&
           head->e_shentsize == sizeof(ElfW(Shdr));
}

static int read_segments(struct library_file *file, const ElfW(Ehdr) * head) {
    for (unsigned i = 0; i < head->e_phnum && file->n_segments < SEGMENTS_MAX; i++) {
        ElfW(Phdr) *segment = &file->segments[file->n_segments];
        if (!read_at(file->fd, segment, sizeof *segment, head->e_phoff + i * sizeof *segment))
            return -ENOEXEC;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X))
            file->n_segments++;
    }
    return file->n_segments ? 0 : -ENOEXEC;
}

static int read_sections(struct library_file *file, const ElfW(Ehdr) * head) {
    for (unsigned i = 0; i < head->e_shnum && i < SECTIONS_MAX; i++) {
        ElfW(Shdr) *section = &file->symbols;
        if (!read_at(file->fd, section, sizeof *section, head->e_shoff + i * sizeof *section))
            return -ENOEXEC;
        if (section->sh_type != SHT_DYNSYM)
            continue;
        bool good = section->sh_entsize == sizeof(ElfW(Sym)) && section->sh_link < head->e_shnum &&
                    read_at(file->fd, &file->names, sizeof file->names,
                            head->e_shoff + section->sh_link * sizeof file->names);
        return good && file->names.sh_type == SHT_STRTAB ? 0 : -ENOEXEC;
    }
    return -ENOEXEC;
}

static int open_library(int fd, struct library_file *ret_file) {
    ElfW(Ehdr) head;
    struct stat status;
    *ret_file = (struct library_file){.fd = fd};
    if (fstat(fd, &status) < 0)
        return negative_errno();
    ret_file->size = status.st_size > 0 ? (uint64_t)status.st_size : 0;
    if (!read_at(fd, &head, sizeof head, 0) || !is_native(&head))
        return -ENOEXEC;
    int r = read_segments(ret_file, &head);
    return r < 0 ? r : read_sections(ret_file, &head);
}

/* False: the address is in no code of the file. */
static bool find_offset(const struct library_file *file, uint64_t address, uint64_t *ret_offset) {
    for (size_t i = 0; i < file->n_segments; i++) {
        const ElfW(Phdr) *segment = &file->segments[i];
        uint64_t in = address - segment->p_vaddr;
        if (address < segment->p_vaddr || in >= segment->p_filesz ||
            segment->p_offset > file->size || in >= file->size - segment->p_offset)
            continue;
        *ret_offset = segment->p_offset + in;
        return true;
    }
    return false;
}

/* "" for a name that is no function's here, or too long to be followed. */
static void read_name(const struct library_file *file, const ElfW(Sym) * symbol,
                      char ret_name[NAME_SIZE]) {
    ret_name[0] = '\0';
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_name >= file->names.sh_size || file->names.sh_offset > INT64_MAX)
        return;
    ssize_t n =
        pread(file->fd, ret_name, NAME_SIZE, (off_t)(file->names.sh_offset + symbol->st_name));
    if (n <= 0 || !memchr(ret_name, '\0', (size_t)n))
        ret_name[0] = '\0';
}

/* ---- the search ---- */

static bool has_offset(const struct driver_symbol *symbols, size_t n, uint64_t offset) {
    for (size_t i = 0; i < n; i++)
        if (symbols[i].offset == offset)
            return true;
    return false;
}

/* Sets the offset behind endbr64, if the function begins with it: the instruction behind it is more
 * often one that the kernel emulates (a push), and the stack is still that of the entry. */
static void look_at_code(const struct library_file *file, struct driver_symbol *symbol) {
#if defined(__x86_64__)
    static const unsigned char endbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa};
    unsigned char code[6];
    if (!read_at(file->fd, code, sizeof code, symbol->offset))
        return;
    const unsigned char *first = code;
    if (memcmp(code, endbr64, sizeof endbr64) == 0) {
        first += sizeof endbr64;
        symbol->offset += sizeof endbr64;
    }
    first += *first == 0x41; /* push of r8 to r15 */
    if (*first < 0x50 || *first > 0x57)
        symbol->cookie |= WAIT_DRIVER_STEPPED;
#else
    (void)file;
    symbol->cookie |= WAIT_DRIVER_STEPPED;
#endif
}

/* Several names of one function are one symbol. Returns the new number of symbols. */
static size_t take_symbol(const struct library_file *file, enum driver_library library,
                          const ElfW(Sym) * symbol, struct driver_symbol *symbols, size_t n) {
    char name[NAME_SIZE];
    struct driver_symbol found;
    read_name(file, symbol, name);
    found.cookie = name[0] ? cookie_of(library, name) : 0;
    if (!found.cookie || n == DRIVER_SYMBOLS_MAX ||
        !find_offset(file, symbol->st_value, &found.offset))
        return n;
    look_at_code(file, &found);
    if (has_offset(symbols, n, found.offset))
        return n;
    symbols[n] = found;
    return n + 1;
}

int driver_symbols_find(int fd, enum driver_library library,
                        struct driver_symbol ret_symbols[DRIVER_SYMBOLS_MAX]) {
    struct library_file file;
    ElfW(Sym) chunk[CHUNK];
    size_t found = 0;
    int r = open_library(fd, &file);
    if (r < 0)
        return r;
    uint64_t n = file.symbols.sh_size / sizeof *chunk;
    for (uint64_t at = 0; at < n && at < SYMBOLS_MAX; at += CHUNK) {
        size_t here = n - at < CHUNK ? (size_t)(n - at) : CHUNK;
        if (!read_at(fd, chunk, here * sizeof *chunk, file.symbols.sh_offset + at * sizeof *chunk))
            return -ENOEXEC;
        for (size_t i = 0; i < here; i++)
            found = take_symbol(&file, library, &chunk[i], ret_symbols, found);
    }
    return (int)found;
}
