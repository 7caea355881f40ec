/* SPDX-License-Identifier: MIT */
/*
 * fault-store: a key-value server and its clients, neither with MPI nor with marks: a thread a
 * connection, a table behind one lock, values in a file that is read past the page cache.
 *
 *     fault-store serve PORT CONNECTIONS FILE     serves that many connections, then ends
 *     fault-store ask ADDRESS PORT CONNECTIONS REQUESTS POOL
 *
 * The clients' threads share a pool of connections; each request is answered before the thread
 * asks the next. They print "loop SECONDS" and the rate. A plant of the server is a variable:
 * STORE_HOLD=HELD/FREE: a collector takes the lock for so many ms, then leaves it for so many;
 * STORE_NAP=US: the answering thread sleeps before each answer.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
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

enum {
    LIFE_S = 150,
    MOST = 16,           /* connections */
    VALUE = 16 << 10,    /* bytes of an answer */
    VALUES = 512,        /* in the file */
    OUTSIDE = 100 << 10, /* steps of arithmetic before the lock */
    INSIDE = 20 << 10,   /* steps while it holds the lock */
    CLIENT = 110 << 10   /* steps of a client for each answer */
};

static void die(const char *what) {
    fprintf(stderr, "fault-store: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void nap_us(long us) {
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

static double work(long steps) {
    double x = 1;
    for (long i = 0; i < steps; i++)
        x = x * 1.0000001 + 1e-9;
    return x;
}

static bool all(ssize_t (*move)(int, void *, size_t), int fd, char *buffer, size_t n) {
    for (size_t done = 0; done < n;) {
        ssize_t r = move(fd, buffer + done, n - done);
        if (r == 0 || (r < 0 && errno != EINTR))
            return false;
        done += r > 0 ? (size_t)r : 0;
    }
    return true;
}

static ssize_t out(int fd, void *buffer, size_t n) {
    return send(fd, buffer, n, MSG_NOSIGNAL);
}

/* ---- the server ---- */

struct store {
    pthread_mutex_t lock;
    volatile double table[256];
    int file;
    long held_ms, free_ms, nap_us;
};

struct session {
    struct store *store;
    int fd;
    pthread_t thread;
};

static void *collect(void *of) {
    struct store *store = of;
    for (;;) {
        nap_us(store->free_ms * 1000);
        pthread_mutex_lock(&store->lock);
        nap_us(store->held_ms * 1000);
        pthread_mutex_unlock(&store->lock);
    }
    return NULL;
}

static void *serve_one(void *of) {
    struct session *session = of;
    struct store *store = session->store;
    char *value = aligned_alloc(4096, VALUE);
    uint32_t key;
    while (value && all(read, session->fd, (char *)&key, sizeof key)) {
        double x = work(OUTSIDE);
        if (pread(store->file, value, VALUE, (off_t)(key % VALUES) * VALUE) != VALUE)
            die("the values");
        pthread_mutex_lock(&store->lock);
        store->table[key % 256] = x + work(INSIDE);
        pthread_mutex_unlock(&store->lock);
        if (store->nap_us)
            nap_us(store->nap_us);
        if (!all(out, session->fd, value, VALUE))
            break;
    }
    free(value);
    close(session->fd);
    return NULL;
}

static void open_values(struct store *store, const char *path) {
    static char value[VALUE];
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (int i = 0; fd >= 0 && i < VALUES; i++)
        if (write(fd, value, sizeof value) < 0)
            die(path);
    if (fd < 0 || fdatasync(fd) < 0 || close(fd) < 0)
        die(path);
    store->file = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
    if (store->file < 0)
        die(path);
}

static int listening(int port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, MOST) < 0)
        die("listen");
    return fd;
}

static int serve(int port, int n, const char *path) {
    static struct store store = {.lock = PTHREAD_MUTEX_INITIALIZER};
    static struct session sessions[MOST];
    const char *hold = getenv("STORE_HOLD"), *nap = getenv("STORE_NAP");
    pthread_t collector;
    int yes = 1;
    open_values(&store, path);
    store.nap_us = nap ? atol(nap) : 0;
    int listener = listening(port);
    if (hold) {
        char *end;
        store.held_ms = strtol(hold, &end, 10);
        store.free_ms = *end == '/' ? strtol(end + 1, NULL, 10) : 0;
        pthread_create(&collector, NULL, collect, &store);
    }
    for (int i = 0; i < n; i++) {
        sessions[i] = (struct session){.store = &store, .fd = accept(listener, NULL, NULL)};
        setsockopt(sessions[i].fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (sessions[i].fd < 0 ||
            pthread_create(&sessions[i].thread, NULL, serve_one, &sessions[i]))
            die("a connection");
    }
    for (int i = 0; i < n; i++)
        pthread_join(sessions[i].thread, NULL);
    return 0;
}

/* ---- the clients ---- */

struct clients {
    pthread_mutex_t lock;
    pthread_cond_t returned;
    int pool[MOST], n_pool; /* unused connections */
    long left;              /* requests left */
};

static int take(struct clients *clients, uint32_t *ret_key) {
    int fd = -1;
    pthread_mutex_lock(&clients->lock);
    while (clients->left > 0 && !clients->n_pool)
        pthread_cond_wait(&clients->returned, &clients->lock);
    if (clients->left > 0) {
        fd = clients->pool[--clients->n_pool];
        *ret_key = (uint32_t)clients->left-- * 2654435761u;
    }
    pthread_mutex_unlock(&clients->lock);
    return fd;
}

static void give_back(struct clients *clients, int fd) {
    pthread_mutex_lock(&clients->lock);
    clients->pool[clients->n_pool++] = fd;
    pthread_cond_broadcast(&clients->returned);
    pthread_mutex_unlock(&clients->lock);
}

static void *ask_all(void *of) {
    static _Thread_local char value[VALUE];
    struct clients *clients = of;
    volatile double sum = 0;
    uint32_t key;
    for (int fd; (fd = take(clients, &key)) >= 0;) {
        if (!all(out, fd, (char *)&key, sizeof key) || !all(read, fd, value, VALUE))
            die("the server");
        give_back(clients, fd);
        sum = sum + work(CLIENT);
    }
    return NULL;
}

/* It may not listen yet. */
static int connected(const char *address, int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int yes = 1;
    if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
        die(address);
    for (int attempt = 0; attempt < 500; attempt++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            return fd;
        }
        close(fd);
        nap_us(20000);
    }
    die(address);
    return -1;
}

static int ask(const char *address, int port, int n, long requests, int pool) {
    static struct clients clients = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                     .returned = PTHREAD_COND_INITIALIZER};
    pthread_t threads[MOST];
    clients.left = requests;
    for (int i = 0; i < pool; i++)
        clients.pool[clients.n_pool++] = connected(address, port);
    double start = now_s();
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, ask_all, &clients))
            die("a thread");
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    double took = now_s() - start;
    printf("loop %.6f\nrate %.1f requests/s\n", took, (double)requests / took);
    return 0;
}

static bool is_size(const char *text) {
    return atoi(text) > 0 && atoi(text) <= MOST;
}

int main(int argc, char **argv) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(LIFE_S);
    if (argc == 5 && strcmp(argv[1], "serve") == 0 && is_size(argv[3]))
        return serve(atoi(argv[2]), atoi(argv[3]), argv[4]);
    if (argc == 7 && strcmp(argv[1], "ask") == 0 && is_size(argv[4]) && is_size(argv[6]))
        return ask(argv[2], atoi(argv[3]), atoi(argv[4]), atol(argv[5]), atoi(argv[6]));
    fprintf(stderr, "usage: fault-store serve PORT CONNECTIONS FILE | "
                    "ask ADDRESS PORT CONNECTIONS REQUESTS POOL\n");
    return 2;
}
