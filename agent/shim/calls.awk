# SPDX-License-Identifier: MIT
# Makes C of calls.def. -v out=list: enum and names, for reader and writer; out=entries: the functions that
# programs call; out=wrappers: the functions that watch a call, for one interface; out=fortran: the functions before Fortran's entry points. Plain awk: mawk, gawk, busybox.
BEGIN {
    FS = " [|] "
    split("_ _f08_ _f08ts_", suffixes, " ") # mpif.h and use mpi; use mpi_f08, where buffers are addresses; or descriptors
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"
    print "/* SPDX-License-Identifier: MIT */"
    print "/* Made from calls.def by calls.awk. */"
}
function trim(s) { sub(/^ +/, "", s); sub(/ +$/, "", s); return s }
# "int *flag, MPI_Status statuses[]" -> "flag, statuses"
function names(parameters,    n, i, piece, list) {
    if (parameters == "void") return ""
    n = split(parameters, piece, ",")
    for (i = 1; i <= n; i++) {
        sub(/(\[[^]]*\])+ *$/, "", piece[i]); sub(/^.*[ *]/, "", piece[i])
        list = list (i > 1 ? ", " : "") piece[i]
    }
    return list
}
# "send(comm, tag); end()" -> "note_send(c, comm, tag); note_end(c);"
function notes(text,    n, i, one, made) {
    n = split(text, one, ";")
    for (i = 1; i <= n; i++) {
        one[i] = trim(one[i])
        if (one[i] == "") continue
        sub(/\(/, "(c, ", one[i]); sub(/\(c, \)$/, "(c)", one[i])
        made = made "        note_" one[i] ";\n"
    }
    return made
}
function hash_in(text,    i) {
    for (i = 1; i <= length(text); i++) hash = (hash * 67 + index(letters, substr(text, i, 1))) % 2147483647
}
/^#/ || /^ *$/ { next }
/^NCCL / {
    class = trim(substr($1, 6)); name = trim($2)
    hash_in(class name)
    gpu = gpu sprintf("    X(%s, %s) \\\n", class, name)
    next
}
{
    class = trim($1)
    open = index($2, "(")
    name = trim(substr($2, 1, open - 1))
    parameters = trim(substr($2, open + 1)); sub(/\) *$/, "", parameters)
    arguments = names(parameters)
    before = notes($3); after = notes($4)
    hash_in(class name)
    if (out == "list") list = list sprintf("    X(%s, %s) \\\n", class, name)
    else if (out == "wrappers") wrapper()
    else if (out == "entries") entries()
    else if (out == "fortran") fortran()
}
function wrapper() {
    printf "\n/* ---- %s ---- */\n\n", name
    printf "static inline int watch_%s(int profiled, const void *site%s) {\n", name, \
        parameters == "void" ? "" : ", " parameters
    printf "    int (*next)(%s) = (int (*)(%s))shim_next(CALL_%s, profiled);\n", parameters, parameters, name
    printf "    struct call call, *c = &call;\n"
    printf "    if (!next)\n        return MPI_ERR_OTHER;\n"
    printf "    if (!call_enter(c, CALL_%s, site))\n        return next(%s);\n", name, arguments
    if (before != "") printf "    {\n%s    }\n", before
    printf "    call_begin(c);\n    int r = next(%s);\n    call_end(c, r == MPI_SUCCESS);\n", arguments
    if (after != "") printf "    if (r == MPI_SUCCESS) {\n%s    }\n", after
    printf "    call_leave(c);\n    return r;\n}\n"
    for (p = 0; p < 2; p++) {
        printf "static int enter_%s%s(%s) {\n", p ? "P" : "", name, parameters
        printf "    return watch_%s(%d, __builtin_return_address(0)%s);\n}\n", name, p, \
            arguments == "" ? "" : ", " arguments
    }
}
# Functions that pass the words of their arguments on: see entry.c.
function entries(    n, i, pieces, declared, types, passed) {
    n = parameters == "void" ? 0 : split(parameters, pieces, ",")
    for (i = 1; i <= n; i++) {
        types = types (i > 1 ? ", " : "") "word"
        declared = declared (i > 1 ? ", " : "") "word a" i
        passed = passed (i > 1 ? ", " : "") "a" i
    }
    if (n == 0) types = declared = "void"
    for (p = 0; p < 2; p++) {
        symbol = (p ? "PMPI_" : "MPI_") name
        printf "\nEXPORT int %s(%s);\nstatic int first_%s(%s);\n", symbol, types, symbol, types
        printf "static void *entry_%s = (void *)first_%s;\n", symbol, symbol
        printf "static int first_%s(%s) {\n", symbol, declared
        printf "    return ((int (*)(%s))entry_find(CALL_%s, %d, &entry_%s))(%s);\n}\n", types, name, p, symbol, passed
        printf "int %s(%s) {\n", symbol, declared
        printf "    return ((int (*)(%s))__atomic_load_n(&entry_%s, __ATOMIC_RELAXED))(%s);\n}\n", types, symbol, passed
    }
}
# All arguments by reference, then ierror, then the length of each string.
function fortran(    n, i, pieces, strings, declared, passed, symbol, suffix) {
    if (parameters ~ /argv\)?$/ || parameters ~ /char \*\*\*argv/) return
    n = parameters == "void" ? 0 : split(parameters, pieces, ",")
    for (i = 1; i <= n; i++) if (pieces[i] ~ /char /) strings++
    n += 1 + strings
    for (i = 1; i <= n; i++) {
        declared = declared (i > 1 ? ", " : "") "long a" i
        passed = passed (i > 1 ? ", " : "") "a" i
    }
    for (suffix = 1; suffix <= 3; suffix++) {
        symbol = "mpi_" tolower(name) suffixes[suffix]
        printf "\nEXPORT void %s(%s);\nvoid %s(%s) {\n", symbol, declared, symbol, declared
        printf "    static void *next;\n"
        printf "    const void *outer = fortran_enter(&next, \"%s\", __builtin_return_address(0));\n", symbol
        printf "    ((void (*)(%s))next)(%s);\n", declared, passed
        printf "    fortran_leave(outer);\n}\n"
    }
}
END {
    if (out != "list") exit
    print "#ifndef CHOKEPOINT_AGENT_SHIM_CALL_LIST_H"
    print "#define CHOKEPOINT_AGENT_SHIM_CALL_LIST_H"
    printf "#define CALL_TABLE_HASH %dU\n", hash
    print "#define CALL_LIST(X) \\"
    printf "%s", list
    print "\n#define CALL_NCCL_LIST(X) \\"
    printf "%s", gpu
    print "\n/* CALL_Send, ..., CALL_ncclAllReduce, ... */"
    print "#define CALL_ENUM_(class, name) CALL_##name,"
    print "enum call_function { CALL_LIST(CALL_ENUM_) CALL_NCCL_LIST(CALL_ENUM_) CALL_COUNT };"
    print "#undef CALL_ENUM_"
    print "#endif"
}
