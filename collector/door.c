/* SPDX-License-Identifier: MIT */
#include "collector/door.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/error.h"

#define AT_ONCE 64      /* connections accepted before waiting ones are examined */
#define EXHAUSTED_MS 20 /* pause while no descriptor is free, instead of a busy loop */

enum { TLS_HANDSHAKE = 22, TLS_HEAD = 5, TLS_RECORD_MAX = 16384 };

struct guest {
    struct guest *before, *after; /* list of all waiting guests */
    int fd;
    size_t listener;
    struct visitor *visitor;
    bool ready; /* the handshake has begun; waits for a free slot */
    struct sockaddr_storage from;
    socklen_t from_size;
};

struct door {
    struct door_options options;
    struct gate *gate; /* owned */
    int epoll_fd, wake_fd;
    int listeners[DOOR_LISTENERS_MAX];
    size_t n_listeners;
    struct guest *waiting, *first; /* the newest guest and the oldest */
    atomic_bool ending;
    atomic_bool crowded; /* a guest waits for a free slot */
    pthread_t thread;
    bool started;
};

/* ---- waiting guests ---- */

static void unlink_guest(struct door *door, struct guest *guest) {
    *(guest->before ? &guest->before->after : &door->waiting) = guest->after;
    *(guest->after ? &guest->after->before : &door->first) = guest->before;
    epoll_ctl(door->epoll_fd, EPOLL_CTL_DEL, guest->fd, NULL);
    gate_leave(door->gate, guest->visitor);
}

static void turn_away(struct door *door, struct guest *guest) {
    unlink_guest(door, guest);
    close(guest->fd);
    free(guest);
}

static void let_in(struct door *door, struct guest *guest) {
    unlink_guest(door, guest);
    door->options.let_in(door->options.ctx, guest->listener, guest->fd,
                         (const struct sockaddr *)&guest->from, guest->from_size);
    free(guest);
}

static bool may_enter(const struct door *door, const struct guest *guest) {
    return !door->options.may_enter ||
           door->options.may_enter(door->options.ctx, (const struct sockaddr *)&guest->from);
}

/* 1: the first record of a handshake is there; 0: it is not complete yet; -EBADMSG: other bytes. */
static int peek_handshake(int fd) {
    unsigned char head[TLS_HEAD];
    int there = 0;
    ssize_t n = recv(fd, head, sizeof head, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0 || head[0] != TLS_HANDSHAKE)
        return -EBADMSG;
    if (n < TLS_HEAD)
        return 0;
    int size = head[3] << 8 | head[4];
    if (size > TLS_RECORD_MAX || ioctl(fd, FIONREAD, &there) < 0)
        return -EBADMSG;
    return there >= TLS_HEAD + size;
}

static void look_after(struct door *door, struct guest *guest) {
    int r = door->options.at_once ? 1 : peek_handshake(guest->fd);
    if (r < 0) {
        turn_away(door, guest);
    } else if (r > 0 && !may_enter(door, guest)) {
        guest->ready = true;
        atomic_store(&door->crowded, true);
    } else if (r > 0) {
        let_in(door, guest);
    }
}

/* Lets in the guests that wait for a slot, oldest first. The walk ends at the first guest that may
 * not enter: guests of addresses that may enter were let in when they came. */
static void let_in_more(struct door *door) {
    uint64_t count;
    if (read(door->wake_fd, &count, sizeof count) < 0)
        return;
    atomic_store(&door->crowded, false);
    for (struct guest *guest = door->first, *next; guest; guest = next) {
        next = guest->before;
        if (!guest->ready)
            continue;
        if (!may_enter(door, guest)) {
            atomic_store(&door->crowded, true);
            return;
        }
        let_in(door, guest);
    }
}

/* Edge-triggered: bytes that have been examined do not wake the thread again. */
static void take(struct door *door, struct guest *guest) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = guest};
    guest->visitor = gate_enter(door->gate, guest->fd, (const struct sockaddr *)&guest->from);
    guest->after = door->waiting;
    *(guest->after ? &guest->after->before : &door->first) = guest;
    door->waiting = guest;
    if (!guest->visitor || epoll_ctl(door->epoll_fd, EPOLL_CTL_ADD, guest->fd, &event) < 0)
        turn_away(door, guest);
    else if (door->options.at_once)
        look_after(door, guest);
}

/* ---- the thread ---- */

static bool accept_one(struct door *door, size_t listener) {
    struct guest *guest = calloc(1, sizeof *guest);
    if (!guest)
        return false;
    guest->listener = listener;
    guest->from_size = sizeof guest->from;
    guest->fd = accept4(door->listeners[listener], (struct sockaddr *)&guest->from,
                        &guest->from_size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (guest->fd >= 0) {
        take(door, guest);
        return true;
    }
    bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    bool more = errno == ECONNABORTED || errno == EINTR;
    free(guest);
    if (exhausted)
        poll(NULL, 0, EXHAUSTED_MS);
    return more;
}

/* Pointers to guests and to listeners are distinct: both are addresses in this process. */
static void serve_event(struct door *door, void *what) {
    for (size_t i = 0; i < door->n_listeners; i++) {
        if (what != &door->listeners[i])
            continue;
        for (int k = 0; k < AT_ONCE && accept_one(door, i); k++)
            ;
        return;
    }
    if (what == &door->wake_fd)
        let_in_more(door);
    else
        look_after(door, what);
}

/* One event a round: its handling may drop the guest of a later event. */
static void *door_main(void *arg) {
    struct door *door = arg;
    struct epoll_event event;
    while (!atomic_load(&door->ending))
        if (epoll_wait(door->epoll_fd, &event, 1, -1) == 1)
            serve_event(door, event.data.ptr);
    return NULL;
}

/* ---- life ---- */

static int watch_fd(struct door *door, int fd, void *what) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
    return epoll_ctl(door->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? negative_errno() : 0;
}

int door_new(const struct door_options *options, struct door **ret_door) {
    struct door *door = calloc(1, sizeof *door);
    if (!door)
        return -ENOMEM;
    door->options = *options;
    door->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    door->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    int r = door->epoll_fd < 0 || door->wake_fd < 0 ? negative_errno()
                                                    : watch_fd(door, door->wake_fd, &door->wake_fd);
    if (r == 0)
        r = gate_new(&options->waiting, &door->gate);
    if (r < 0)
        door_free(door);
    else
        *ret_door = door;
    return r;
}

int door_listen(struct door *door, int fd) {
    if (door->n_listeners == DOOR_LISTENERS_MAX)
        return -ENOSPC;
    door->listeners[door->n_listeners] = fd;
    int r = watch_fd(door, fd, &door->listeners[door->n_listeners]);
    door->n_listeners += r == 0;
    return r;
}

int door_start(struct door *door) {
    int error = pthread_create(&door->thread, NULL, door_main, door);
    door->started = error == 0;
    return -error;
}

void door_room(struct door *door) {
    const uint64_t one = 1;
    if (atomic_load(&door->crowded) && write(door->wake_fd, &one, sizeof one) < 0)
        return; /* the counter is full: the thread is awake already */
}

void door_stop(struct door *door) {
    const uint64_t one = 1;
    if (!door)
        return;
    atomic_store(&door->ending, true);
    if (door->started && write(door->wake_fd, &one, sizeof one) == sizeof one)
        pthread_join(door->thread, NULL);
    door->started = false;
    while (door->waiting)
        turn_away(door, door->waiting);
    for (size_t i = 0; i < door->n_listeners; i++)
        close(door->listeners[i]);
    door->n_listeners = 0;
}

void door_free(struct door *door) {
    if (!door)
        return;
    door_stop(door);
    gate_free(door->gate);
    if (door->wake_fd >= 0)
        close(door->wake_fd);
    if (door->epoll_fd >= 0)
        close(door->epoll_fd);
    free(door);
}
