/* SPDX-License-Identifier: MIT */
/*
 * bench_crowd PROCESSES CONNECTIONS: that many processes and TCP connections of a job (by
 * $CHOKEPOINT_RUN), for agent_beside.py. Each process works for a moment once a second; the
 * connections are spread over the processes, and each sends on one of its own once a second. The
 * other ends belong to a process outside the job. Prints "ready" when all exist, and ends when its
 * standard input does.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 64
#define SERVE "--serve"

static void die(const char *what) {
    perror(what);
    exit(1);
}

static pid_t begin(void) {
    pid_t pid = fork();
    if (pid < 0)
        die("bench_crowd: fork");
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

/* The other ends, from standard input: data are read and dropped. */
static void serve(void) {
    char text[4096];
    struct epoll_event events[EVENTS], event = {.events = EPOLLIN, .data.fd = STDIN_FILENO};
    int epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &event);
    for (;;) {
        int n = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            event.data.fd = fd == STDIN_FILENO ? accept(fd, NULL, NULL) : -1;
            if (event.data.fd >= 0)
                epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
            else if (read(fd, text, sizeof text) <= 0)
                close(fd);
        }
    }
}

static int listen_somewhere(struct sockaddr_in *ret_address) {
    socklen_t size = sizeof *ret_address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    *ret_address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)ret_address, size) < 0 || listen(fd, 4096) < 0 ||
        getsockname(fd, (struct sockaddr *)ret_address, &size) < 0)
        die("bench_crowd: listen");
    return fd;
}

static void work(const struct sockaddr_in *address, int connections, int told) {
    static const char text[100];
    int *ends = calloc((size_t)connections + 1, sizeof *ends);
    for (int i = 0; ends && i < connections; i++) {
        ends[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(ends[i], (const struct sockaddr *)address, sizeof *address) < 0)
            die("bench_crowd: connect");
    }
    if (write(told, "", 1) < 0)
        die("bench_crowd: pipe");
    for (unsigned turn = 0;; turn++) {
        sleep(1);
        for (volatile int i = 0; i < 10000; i++)
            ;
        if (ends && connections && write(ends[turn % (unsigned)connections], text, sizeof text) < 0)
            die("bench_crowd: write");
    }
}

static void start_server(const char *self, int listener) {
    if (begin())
        return;
    dup2(listener, STDIN_FILENO);
    unsetenv("CHOKEPOINT_RUN");
    execl(self, self, SERVE, (char *)NULL);
    die("bench_crowd: exec");
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], SERVE) == 0)
        serve();
    int n = argc == 3 ? atoi(argv[1]) : 0, connections = argc == 3 ? atoi(argv[2]) : 0, told[2];
    if (n < 1 || n > 100000 || connections < 0 || connections > 100000)
        return 2;
    struct rlimit files;
    struct sockaddr_in address;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    int listener = listen_somewhere(&address);
    if (pipe(told) < 0)
        die("bench_crowd: pipe");
    if (connections)
        start_server(argv[0], listener);
    for (int i = 0; i < n; i++)
        if (begin() == 0)
            work(&address, connections / n + (i < connections % n), told[1]);
    char text[4096];
    for (ssize_t seen = 0, got; seen < n; seen += got)
        if ((got = read(told[0], text, sizeof text)) <= 0)
            die("bench_crowd: pipe");
    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, text, sizeof text) > 0)
        ;
    return 0; /* the other processes die with this one */
}
