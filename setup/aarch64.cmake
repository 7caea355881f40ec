# SPDX-License-Identifier: MIT
# The agent for hosts with another processor, from a machine without it (packages gcc-aarch64-linux-gnu and libc6-dev-arm64-cross,
# for wait clocks also libbpf-dev:arm64, libelf-dev:arm64, zlib1g-dev:arm64 and clang; qemu-user-static to try it):
#   cmake -G Ninja -B build/aarch64 -DCMAKE_TOOLCHAIN_FILE=$PWD/setup/aarch64.cmake -DCHOKEPOINT_AGENT_ALONE=ON -DCMAKE_BUILD_TYPE=Release
#   cmake --build build/aarch64 && cp -r build/aarch64/bin/agents/aarch64 build/release/bin/agents/
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_STRIP aarch64-linux-gnu-strip)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
