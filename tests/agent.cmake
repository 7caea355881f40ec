# SPDX-License-Identifier: MIT
add_executable(frame-dump tools/frame_dump.c)
target_link_libraries(frame-dump PRIVATE chokepoint_common)
