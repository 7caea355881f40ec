/* SPDX-License-Identifier: MIT */
/* One-sided, communicators, files: bytes moved, and new handles. */
#include "agent/shim/note.h"

#include <stdlib.h>

/* ---- one-sided ---- */

void note_window(struct call *c, MPI_Win win, int target) {
    about(c, abi_key(win), COMM_WINDOW, target);
}

static void tell(const struct call *c, uint32_t comm, int32_t peer) {
    shim_record_message(
        c, &(struct message){.function = (enum call_function)c->function,
                             .flags = (uint16_t)(CALL_PART | (peer < 0 ? CALL_UNKNOWN_PEER : 0)),
                             .comm = comm,
                             .peer = peer,
                             .tag = CALL_NO_TAG,
                             .enter_ns = c->enter_ns});
}

void note_members(struct call *c, MPI_Group group) {
    int32_t world[COMM_MEMBERS_MAX];
    for (int first = 0, n; (n = comm_members(group, first, COMM_MEMBERS_MAX, world)) > 0;
         first += n)
        for (int i = 0; i < n; i++)
            tell(c, c->comm, world[i]);
}

void note_put(struct call *c, MPI_Win win, int target, int count, MPI_Datatype type) {
    note_window(c, win, target);
    if (target != MPI_PROC_NULL)
        c->sent = bytes_of(count, type);
}

void note_get(struct call *c, MPI_Win win, int target, int count, MPI_Datatype type) {
    note_window(c, win, target);
    if (target != MPI_PROC_NULL)
        c->received = bytes_of(count, type);
}

/* With MPI_NO_OP the arguments of the origin are ignored. */
void note_get_accumulate(struct call *c, MPI_Win win, int target, int count, MPI_Datatype type,
                         int result_count, MPI_Datatype result_type, MPI_Op op) {
    note_get(c, win, target, result_count, result_type);
    if (target != MPI_PROC_NULL && op != MPI_NO_OP)
        c->sent = bytes_of(count, type);
}

void note_make_window(struct call *c, MPI_Comm comm, MPI_Win win) {
    about(c, abi_key(comm), COMM_GROUP, MPI_PROC_NULL);
    comm_add(abi_key(win), COMM_WINDOW, c->comm);
}

/* ---- communicators ---- */

void note_neighbours(const struct call *c, MPI_Comm made) {
    int n = 0;
    int32_t *sources = comm_sources(made, &n);
    for (int i = 0; i < n; i++)
        tell(c, comm_peek(abi_key(made))->id, sources[i]);
    free(sources);
}

void note_make(struct call *c, MPI_Comm parent, MPI_Comm made) {
    about(c, abi_key(parent), COMM_GROUP, MPI_PROC_NULL);
    comm_add(abi_key(made), COMM_GROUP, c->comm);
    note_neighbours(c, made);
}

void note_make_between(struct call *c, MPI_Comm local, MPI_Comm made) {
    about(c, abi_key(local), COMM_GROUP, MPI_PROC_NULL);
    comm_add(abi_key(made), COMM_GROUP, CALL_COMM_UNKNOWN);
}

void note_meet(struct call *c, MPI_Comm made) {
    const struct comm *comm = comm_peek(abi_key(made));
    c->comm = comm ? comm->id : CALL_COMM_UNKNOWN;
}

/* ---- files ---- */

void note_make_file(struct call *c, MPI_Comm comm, MPI_File file) {
    about(c, abi_key(comm), COMM_GROUP, MPI_PROC_NULL);
    comm_add(file, COMM_FILE, c->comm);
}

void note_file(struct call *c, MPI_File file) {
    about(c, file, COMM_FILE, MPI_PROC_NULL);
}

void note_read(struct call *c, MPI_File file, const MPI_Status *status) {
    note_file(c, file);
    c->received = abi_status_bytes(status);
}

void note_write(struct call *c, MPI_File file, const MPI_Status *status) {
    note_file(c, file);
    c->sent = abi_status_bytes(status);
}
