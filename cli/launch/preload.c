/* SPDX-License-Identifier: MIT */
#include "cli/launch/preload.h"
#include "cli/launch/program_file.h"
#include "common/mpi_library.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define USER_LIST "mca_base_env_list" /* with this parameter OpenMPI takes no other variables */

static bool file_sets_list(const char *path) {
    char line[1024];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = strncmp(line + strspn(line, " \t"), USER_LIST, sizeof USER_LIST - 1) == 0;
    if (file)
        fclose(file);
    return found;
}

/* Set in the environment, on mpirun's command line, or in OpenMPI's files of parameters. */
static bool user_has_list(char *const *command) {
    const char *home = getenv("HOME");
    char path[PATH_MAX];
    if (getenv("OMPI_MCA_" USER_LIST) || file_sets_list("/etc/openmpi/openmpi-mca-params.conf"))
        return true;
    for (size_t i = 0; command[i]; i++)
        if (strcmp(command[i], USER_LIST) == 0)
            return true;
    int n = snprintf(path, sizeof path, "%s/.openmpi/mca-params.conf", home ? home : "");
    return home && n > 0 && (size_t)n < sizeof path && file_sets_list(path);
}

/* "a" and "b" joined by a colon, or the one that is not empty. */
static bool join(char *to, size_t size, const char *a, const char *b) {
    bool both = a && *a && b && *b;
    int n = snprintf(to, size, "%s%s%s", a ? a : "", both ? ":" : "", b ? b : "");
    return n >= 0 && (size_t)n < size;
}

static bool fill(struct preload *to, const char *library) {
    snprintf(to->library, sizeof to->library, "%s", library);
    snprintf(to->plugin, sizeof to->plugin, "%s", library);
    if (!join(to->here, sizeof to->here, library, getenv("LD_PRELOAD")))
        return false;
    int n = snprintf(to->ranks, sizeof to->ranks, "LD_PRELOAD=%s", to->here);
    return n > 0 && (size_t)n < sizeof to->ranks && !strchr(to->here, ';');
}

/* Whether LD_PRELOAD goes into the command's own environment: see preload.h. */
static bool is_rank_itself(const struct command_words *words, const char *path) {
    return words->kind == COMMAND_SRUN || words->kind == COMMAND_HYDRA ||
           (words->kind == COMMAND_PLAIN && path[0] && program_needs(path, "libmpi"));
}

int preload_make(struct preload *to, const char *program, char *const *command,
                 const struct command_words *words, char *why, size_t why_size) {
    char library[PATH_MAX], path[PATH_MAX] = "";
    int takes = words->program ? program_takes_preload(words->program, path, why, why_size) : 0;
    if (takes == PROGRAM_REFUSES && words->kind != COMMAND_PLAIN)
        return PRELOAD_NONE;
    if (mpi_library_beside(program, library) < 0)
        snprintf(why, why_size, "libchokepoint-mpi.so is not installed");
    else if (strpbrk(library, " :;"))
        snprintf(why, why_size, "no library can be preloaded from a path like %s", library);
    else if (words->hides_variables)
        snprintf(why, why_size, "%s keeps LD_PRELOAD from the ranks", words->hides_variables);
    else if (words->kind != COMMAND_HYDRA && user_has_list(command))
        snprintf(why, why_size,
                 "OpenMPI's " USER_LIST " is set, beside which it takes no other "
                 "variables; use -x instead");
    else if (!fill(to, library))
        snprintf(why, why_size, "LD_PRELOAD is too long or has a ';'");
    else {
        if (takes == PROGRAM_REFUSES || !is_rank_itself(words, path))
            to->here[0] = '\0';
        return 0;
    }
    return PRELOAD_NONE;
}

int preload_move(struct preload *preload, const char *library) {
    struct preload moved;
    if (!fill(&moved, library))
        return PRELOAD_NONE;
    if (!preload->here[0])
        moved.here[0] = '\0';
    *preload = moved;
    return 0;
}

/* ---- the plug-in of NCCL ---- */

bool preload_may_name_plugin(void) {
    const char *own = getenv(NCCL_PLUGIN_VARIABLE);
    return !own || strcasecmp(own, "none") != 0;
}

void preload_list(const struct preload *preload, bool kernels, char ret_list[PRELOAD_LIST_SIZE]) {
    const char *own = getenv(NCCL_PLUGIN_VARIABLE);
    bool plugin = preload_may_name_plugin() && !(own && strchr(own, ';'));
    int n = snprintf(ret_list, PRELOAD_LIST_SIZE, "%s%s%s%s%s%s%s", preload->ranks,
                     plugin ? ";" NCCL_PLUGIN_VARIABLE "=" : "", plugin ? preload->library : "",
                     plugin && own ? ";" NCCL_NEXT_VARIABLE "=" : "", plugin && own ? own : "",
                     kernels ? ";" KERNELS_VARIABLE "=" : "", kernels ? preload->library : "");
    if (n >= PRELOAD_LIST_SIZE)
        snprintf(ret_list, PRELOAD_LIST_SIZE, "%s", preload->ranks);
}
