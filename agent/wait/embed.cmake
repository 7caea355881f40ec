# SPDX-License-Identifier: MIT
# Makes a C file that holds an object file as an array. cmake -DOBJECT=wait.bpf.o -DOUT=wait_object.c -P embed.cmake
file(READ "${OBJECT}" hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE "${OUT}" "/* made by embed.cmake */\n#include \"agent/wait/wait_object.h\"\n\n_Alignas(8) const unsigned char wait_object[] = {\n${bytes}};\nconst size_t wait_object_size = sizeof wait_object;\n")
