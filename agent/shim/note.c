/* SPDX-License-Identifier: MIT */
/* Point to point: messages, all requests, and the results of waits and tests. */
#include "agent/shim/note.h"

/* ---- life ---- */

void note_world(struct call *c, int thread_level) {
    int rank = -1, size = -1;
    shim_mpi.comm_rank(MPI_COMM_WORLD, &rank);
    shim_mpi.comm_size(MPI_COMM_WORLD, &size);
    shim_file->world_size = size;
    shim_file->rank = rank;
    shim_file->thread_level =
        shim_is_shared ? CALL_FILE_THREAD_MULTIPLE : abi_thread_level(thread_level);
    __atomic_store_n(&shim_file->initialized_ns, c->exit_ns, __ATOMIC_RELEASE);
    comm_begin();
    c->comm = CALL_COMM_WORLD;
}

void note_leave_world(struct call *c) {
    comm_end();
    c->comm = CALL_COMM_WORLD;
}

void note_end(struct call *c) {
    __atomic_store_n(&shim_file->finalized_ns, c->exit_ns, __ATOMIC_RELEASE);
}

/* ---- starting ---- */

static struct request request_of(const struct call *c, enum request_kind kind, uint64_t bytes) {
    return (struct request){.function = (enum call_function)c->function,
                            .kind = kind,
                            .active = true,
                            .flags = c->flags & (CALL_WILDCARD | CALL_UNKNOWN_PEER),
                            .comm = c->comm,
                            .peer = c->peer,
                            .tag = c->tag,
                            .bytes = bytes,
                            .start_ns = c->enter_ns,
                            .since_ns = c->exit_ns};
}

/* False if there is no room. */
static bool keep(MPI_Request request, const struct request *r) {
    return abi_is_shared_request(request) || request_put(abi_key(request), r);
}

void note_recv_part(struct call *c, MPI_Comm comm, int source, int tag, const MPI_Status *status) {
    struct call part = *c;
    note_recv(&part, comm, source, tag, status);
    shim_record_message(c, &(struct message){.function = (enum call_function)c->function,
                                             .flags = (uint16_t)(part.flags | CALL_PART),
                                             .comm = part.comm,
                                             .peer = part.peer,
                                             .tag = part.tag,
                                             .bytes = part.received,
                                             .received = part.received,
                                             .enter_ns = c->enter_ns});
}

void note_send_start(struct call *c, MPI_Comm comm, int dest, int tag, int count, MPI_Datatype type,
                     MPI_Request request) {
    note_send(c, comm, dest, tag, count, type);
    struct request r = request_of(c, REQUEST_SEND, c->sent);
    keep(request, &r);
}

/* The posted part of a receive: the sender, if known, and the size of the buffer. */
static struct request posted(struct call *c, MPI_Comm comm, int source, int tag, int count,
                             MPI_Datatype type) {
    about(c, abi_key(comm), COMM_GROUP, source);
    c->tag = tag_of(tag);
    c->posted = source == MPI_PROC_NULL ? 0 : bytes_of(count, type);
    c->flags |= source == MPI_ANY_SOURCE ? CALL_WILDCARD | CALL_AT_MOST : CALL_AT_MOST;
    struct request r = request_of(c, REQUEST_RECV, c->posted);
    r.comm_handle = abi_key(comm);
    return r;
}

void note_recv_start(struct call *c, MPI_Comm comm, int source, int tag, int count,
                     MPI_Datatype type, MPI_Request request) {
    struct request r = posted(c, comm, source, tag, count, type);
    if (UNLIKELY(!keep(request, &r))) {
        c->received = c->posted; /* no status will tell */
        shim_add(&shim_total(CALL_Irecv)->unsized, 1);
    }
}

/* A new persistent request sends nothing yet: only the request has its bytes. */
void note_send_init(struct call *c, MPI_Comm comm, int dest, int tag, int count, MPI_Datatype type,
                    MPI_Request request) {
    note_send(c, comm, dest, tag, count, type);
    struct request r = request_of(c, REQUEST_SEND, c->sent);
    r.persistent = true;
    r.active = false;
    c->sent = 0;
    keep(request, &r);
}

void note_recv_init(struct call *c, MPI_Comm comm, int source, int tag, int count,
                    MPI_Datatype type, MPI_Request request) {
    struct request r = posted(c, comm, source, tag, count, type);
    r.persistent = true;
    r.active = false;
    c->posted = 0;
    keep(request, &r);
}

static struct message message_of(const struct request *r, uint16_t flag) {
    return (struct message){.function = r->function,
                            .flags = (uint16_t)(r->flags | flag),
                            .comm = r->comm,
                            .peer = r->peer,
                            .tag = r->tag,
                            .bytes = r->bytes,
                            .enter_ns = r->start_ns};
}

static void start_one(struct call *c, void *handle) {
    struct request r;
    if (!request_take(handle, INT64_MAX, &r))
        return;
    r.active = true;
    r.start_ns = c->enter_ns;
    r.since_ns = c->exit_ns;
    request_put(handle, &r);
    struct message m = message_of(&r, CALL_PART);
    if (r.kind == REQUEST_SEND)
        m.sent = r.bytes;
    else
        m.flags |= CALL_AT_MOST;
    shim_record_message(c, &m);
}

void note_start(struct call *c, int n, MPI_Request *requests) {
    for (int i = 0; i < n; i++)
        start_one(c, abi_key(requests[i]));
}

/* ---- probing ---- */

void note_probe(struct call *c, MPI_Comm comm, int source, int tag, int found,
                const MPI_Status *status) {
    about(c, abi_key(comm), COMM_GROUP, found ? status->MPI_SOURCE : source);
    c->tag = tag_of(found ? status->MPI_TAG : tag);
    if (source == MPI_ANY_SOURCE)
        c->flags |= CALL_WILDCARD;
    if (found)
        c->posted = abi_status_bytes(status);
    c->found_nothing = !found;
}

void note_match(struct call *c, MPI_Message message) {
    struct request r = request_of(c, REQUEST_MATCHED, c->posted);
    request_put(abi_key(message), &r);
}

/* The message from note_handles(); fills in its sender. */
static struct request matched(struct call *c, enum request_kind kind) {
    struct request r = {.comm = CALL_COMM_UNKNOWN,
                        .peer = CALL_NO_PEER,
                        .tag = CALL_NO_TAG,
                        .flags = CALL_UNKNOWN_PEER};
    if (c->thread->n_handles)
        request_take(c->thread->handles[0], c->enter_ns, &r);
    c->comm = r.comm;
    c->peer = r.peer;
    c->tag = r.tag;
    c->flags = (uint16_t)((c->flags & ~CALL_UNKNOWN_PEER) | r.flags);
    return request_of(c, kind, r.bytes);
}

void note_recv_matched(struct call *c, const MPI_Status *status) {
    matched(c, REQUEST_MATCHED);
    c->received = abi_status_bytes(status);
}

void note_recv_matched_start(struct call *c, int count, MPI_Datatype type, MPI_Request request) {
    struct request r = matched(c, REQUEST_RECV);
    c->posted = r.bytes = bytes_of(count, type);
    c->flags |= CALL_AT_MOST;
    r.flags &= (uint16_t)~CALL_WILDCARD;
    keep(request, &r);
}

/* ---- completing ---- */

/* Received bytes: from the status, or at most the posted ones. A receive that was cancelled without
 * a status counts as empty. */
static void received(struct message *m, const struct request *r, const MPI_Status *status) {
    if (status ? abi_status_cancelled(status) : r->cancelled) {
        m->flags |= CALL_CANCELLED;
        m->bytes = 0;
        return;
    }
    if (!status) {
        m->flags |= CALL_AT_MOST;
        m->received = r->bytes;
        return;
    }
    m->bytes = m->received = abi_status_bytes(status);
    m->tag = tag_of(status->MPI_TAG);
    const struct comm *comm = r->flags & CALL_WILDCARD ? comm_peek(r->comm_handle) : NULL;
    if (!comm)
        return;
    m->peer = comm_peer(comm, status->MPI_SOURCE);
    if (m->peer >= 0)
        m->flags &= (uint16_t)~CALL_UNKNOWN_PEER;
}

static void moved(struct message *m, const struct request *r, const MPI_Status *status) {
    m->bytes = status ? abi_status_bytes(status) : r->bytes;
    m->flags |= status ? 0 : CALL_AT_MOST;
    *(r->kind == REQUEST_READ ? &m->received : &m->sent) = m->bytes;
}

static bool complete_one(struct call *c, int i, const MPI_Status *status, struct message *ret_m) {
    struct request r;
    if (i < 0 || i >= c->thread->n_handles || !request_take(c->thread->handles[i], c->enter_ns, &r))
        return false;
    struct message m = message_of(&r, CALL_REQUEST);
    bool was_active = r.active;
    if (r.persistent) {
        struct request idle = r;
        idle.active = idle.cancelled = false;
        request_put(c->thread->handles[i], &idle);
    }
    if (!was_active)
        return false;
    if (r.kind == REQUEST_RECV)
        received(&m, &r, status);
    else if (r.kind == REQUEST_READ || r.kind == REQUEST_WRITE)
        moved(&m, &r, status);
    else if (r.kind == REQUEST_COMM && r.new_comm) {
        MPI_Comm made = *(const MPI_Comm *)r.new_comm;
        comm_add(abi_key(made), COMM_GROUP, r.comm);
        note_neighbours(c, made);
    }
    shim_record_message(c, &m);
    *ret_m = m;
    return true;
}

/* A wait that completes one message gets the message's peer and tag. */
static void take_over(struct call *c, const struct message *m) {
    c->comm = m->comm;
    c->peer = m->peer;
    c->tag = m->tag;
    c->posted = m->bytes;
    c->flags = (uint16_t)((c->flags & ~CALL_UNKNOWN_PEER) |
                          (m->flags & (CALL_UNKNOWN_PEER | CALL_WILDCARD | CALL_AT_MOST)));
}

void note_complete(struct call *c, int index, const MPI_Status *status) {
    struct message m;
    c->found_nothing = index == -1;
    if (index >= 0 && complete_one(c, index, status, &m))
        take_over(c, &m);
}

static void count_beyond(const struct call *c, int count) {
    if (count > c->thread->n_handles)
        shim_add(&shim_file->lost_requests, (uint64_t)(count - c->thread->n_handles));
}

void note_complete_all(struct call *c, int count, const MPI_Status *statuses) {
    struct message m = {.bytes = 0};
    int n = 0;
    uint64_t bytes = 0;
    c->found_nothing = count < 0;
    count_beyond(c, count);
    for (int i = 0; i < count && i < c->thread->n_handles; i++) {
        if (!complete_one(c, i, statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[i], &m))
            continue;
        n++;
        bytes += m.bytes;
    }
    if (n == 1)
        take_over(c, &m);
    c->posted = bytes;
}

void note_complete_some(struct call *c, int count, const int *indices, const MPI_Status *statuses) {
    struct message m = {.bytes = 0};
    int n = 0;
    uint64_t bytes = 0;
    c->found_nothing = count == 0;
    for (int i = 0; i < count; i++) {
        if (!complete_one(c, indices[i], statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[i], &m))
            continue;
        n++;
        bytes += m.bytes;
    }
    if (n == 1)
        take_over(c, &m);
    c->posted = bytes;
}

void note_cancel(struct call *c, MPI_Request request) {
    struct request r;
    if (!request_take(abi_key(request), c->enter_ns, &r))
        return;
    r.cancelled = true;
    keep(request, &r);
}

void note_free_request(struct call *c) {
    struct request r;
    if (c->thread->n_handles)
        request_take(c->thread->handles[0], c->enter_ns, &r);
}

/* ---- requests of other calls ---- */

static void keep_kind(struct call *c, MPI_Request request, enum request_kind kind, uint64_t bytes,
                      MPI_Comm *new_comm) {
    struct request r = request_of(c, kind, bytes);
    r.new_comm = new_comm;
    keep(request, &r);
}

void note_request(struct call *c, MPI_Request request) {
    uint64_t bytes = c->sent > c->received ? c->sent : c->received;
    keep_kind(c, request, REQUEST_OTHER, bytes, NULL);
}

void note_make_later(struct call *c, MPI_Comm parent, MPI_Comm *made, MPI_Request request) {
    about(c, abi_key(parent), COMM_GROUP, MPI_PROC_NULL);
    keep_kind(c, request, REQUEST_COMM, 0, made);
}

void note_read_start(struct call *c, MPI_File file, int count, MPI_Datatype type,
                     MPI_Request request) {
    note_file(c, file);
    c->posted = bytes_of(count, type);
    keep_kind(c, request, REQUEST_READ, c->posted, NULL);
}

void note_write_start(struct call *c, MPI_File file, int count, MPI_Datatype type,
                      MPI_Request request) {
    note_file(c, file);
    c->posted = bytes_of(count, type);
    keep_kind(c, request, REQUEST_WRITE, c->posted, NULL);
}
