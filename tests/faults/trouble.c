/* SPDX-License-Identifier: MIT */
/*
 * fault-trouble: a program that is not of the job and takes something away from it. Prints
 * "ready PID" once it is under way; ends with its parent, when killed, or after five minutes.
 *
 *     cpu THREADS           spins
 *     part PERCENT          spins for that share of each tenth of a second, by the clock
 *     fsync PATH            writes 64 KiB and waits for the disk, again and again
 *     read PATH MB PERCENT  reads a file past the page cache, MiB by MiB, for that share of time
 *     burst PATH MB         writes MB into the page cache each second, over the same file
 *     cache PATH MB         writes a file once and reads it again and again, a piece at a time
 *     bandwidth MB          copies memory to and fro
 *     sink PORT             takes connections and swallows what comes
 *     send ADDRESS PORT MB  sends to a sink, MB a second (0: as fast as it goes)
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LIFE_S 300
#define BLOCK (64 << 10)

static char block[BLOCK];

static void die(const char *what) {
    fprintf(stderr, "fault-trouble: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void ready(void) {
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
}

static long number(const char *text) {
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < 0 || n > 1000000) {
        fprintf(stderr, "fault-trouble: expected a number, not \"%s\"\n", text);
        exit(2);
    }
    return n;
}

static void nap_ms(long ms) {
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void *spin(void *unused) {
    (void)unused;
    for (volatile unsigned long n = 0;; n++)
        ;
    return NULL;
}

static int trouble_cpu(char **words) {
    pthread_t thread;
    for (long i = number(words[0]); i > 1; i--)
        if (pthread_create(&thread, NULL, spin, NULL) != 0)
            die("thread");
    ready();
    spin(NULL);
    return 0;
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* By the clock, not by CPU time: programs that share its core keep running meanwhile. */
static int trouble_part(char **words) {
    double spinning_s = .001 * (double)number(words[0]);
    ready();
    for (double begin = now_s();; begin += .1) {
        while (now_s() < begin + spinning_s)
            ;
        double rest_s = begin + .1 - now_s();
        if (rest_s > 0)
            nap_ms((long)(rest_s * 1000));
    }
    return 0;
}

static int open_file(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        die(path);
    return fd;
}

static void put(int fd, off_t at) {
    if (pwrite(fd, block, sizeof block, at) != (ssize_t)sizeof block)
        die("write");
}

static int trouble_fsync(char **words) {
    int fd = open_file(words[0]);
    ready();
    for (off_t i = 0;; i = (i + 1) % 64) {
        put(fd, i * BLOCK);
        if (fsync(fd) < 0)
            die("fsync");
    }
    return 0;
}

static int trouble_read(char **words) {
    int fd = open_file(words[0]);
    long blocks = number(words[1]) * 16, share = number(words[2]);
    char *into = aligned_alloc(4096, 1 << 20);
    for (long i = 0; i < blocks; i++)
        put(fd, (off_t)i * BLOCK);
    fsync(fd);
    close(fd);
    fd = open(words[0], O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (fd < 0 || !into || share == 0)
        die(words[0]);
    ready();
    for (off_t at = 0;; at = (at + (1 << 20)) % ((off_t)blocks * BLOCK)) {
        double begin = now_s();
        if (pread(fd, into, 1 << 20, at) < 0)
            die("read");
        if (share < 100)
            nap_ms((long)((now_s() - begin) * 1e3 * (double)(100 - share) / (double)share));
    }
    return 0;
}

static int trouble_burst(char **words) {
    int fd = open_file(words[0]);
    long blocks = number(words[1]) * 16;
    ready();
    for (;; nap_ms(1000))
        for (long i = 0; i < blocks; i++)
            put(fd, (off_t)i * BLOCK);
    return 0;
}

static int trouble_cache(char **words) {
    int fd = open_file(words[0]);
    long blocks = number(words[1]) * 16;
    for (long i = 0; i < blocks; i++)
        put(fd, (off_t)i * BLOCK);
    ready();
    for (long i = 0;; i = (i + 1) % blocks, nap_ms(10))
        if (pread(fd, block, sizeof block, (off_t)i * BLOCK) < 0)
            die("read");
    return 0;
}

static int trouble_bandwidth(char **words) {
    size_t bytes = (size_t)number(words[0]) << 20;
    char *a = malloc(bytes), *b = malloc(bytes);
    if (!a || !b)
        die("memory");
    memset(a, 1, bytes);
    memset(b, 2, bytes);
    ready();
    for (;;) {
        memcpy(a, b, bytes);
        b[(unsigned char)a[bytes - 1]]++;
        memcpy(b, a, bytes);
    }
    return 0;
}

static void *swallow(void *argument) {
    static _Thread_local char into[BLOCK];
    int fd = *(int *)argument;
    while (read(fd, into, sizeof into) > 0)
        ;
    close(fd);
    free(argument);
    return NULL;
}

static int trouble_sink(char **words) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number(words[0]))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 8) < 0)
        die("listen");
    ready();
    for (;;) {
        int *one = malloc(sizeof *one);
        pthread_t thread;
        if (!one || (*one = accept(fd, NULL, NULL)) < 0)
            die("accept");
        if (pthread_create(&thread, NULL, swallow, one) != 0)
            die("thread");
        pthread_detach(thread);
    }
    return 0;
}

static int trouble_send(char **words) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number(words[1]))};
    double rate = (double)number(words[2]) * 1e6, sent = 0, start = now_s();
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (inet_pton(AF_INET, words[0], &to.sin_addr) != 1 || fd < 0 ||
        connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
        die(words[0]);
    ready();
    for (;;) {
        ssize_t n = send(fd, block, sizeof block, MSG_NOSIGNAL);
        if (n < 0)
            die("send");
        sent += (double)n;
        while (rate > 0 && sent > rate * (now_s() - start + .01))
            nap_ms(1);
    }
    return 0;
}

static const struct {
    const char *name;
    int n_words;
    int (*run)(char **words);
} troubles[] = {
    {"cpu", 1, trouble_cpu},
    {"part", 1, trouble_part},
    {"fsync", 1, trouble_fsync},
    {"read", 3, trouble_read},
    {"burst", 2, trouble_burst},
    {"cache", 2, trouble_cache},
    {"bandwidth", 1, trouble_bandwidth},
    {"sink", 1, trouble_sink},
    {"send", 3, trouble_send},
};

int main(int argc, char **argv) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(LIFE_S);
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++)
        if (argc > 1 && strcmp(argv[1], troubles[i].name) == 0 && argc == troubles[i].n_words + 2)
            return troubles[i].run(argv + 2);
    fprintf(stderr,
            "usage: fault-trouble cpu|part|fsync|read|burst|cache|bandwidth|sink|send ...\n");
    return 2;
}
