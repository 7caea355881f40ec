# SPDX-License-Identifier: MIT
# gcc's analyzer, in the build itself, over everything but tests. Versions find different things, so only that one judges
# that the code was cleaned with: gcc 12 (Debian 12). Off, as gcc 12 forgets across functions what went together (r == 0
# and the pointer is there), and found nothing true:
#   malloc-leak: memory that an element of an array, or a struct handed up, owns; LeakSanitizer looks in every test.
#   null-dereference, null-argument, possible-null-dereference: a pointer that the loop's own condition tests.
#   use-of-uninitialized-value: arrays filled by a function that was called if and only if there was memory.
# On: use after free, double free and fclose, files left open, free of what is no heap, what signal handlers may not call.
if(CHOKEPOINT_ANALYZE)
  if(CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_C_COMPILER_VERSION MATCHES "^12\\.")
    set(analyzer_options -fanalyzer -Wno-analyzer-malloc-leak -Wno-analyzer-null-dereference
      -Wno-analyzer-null-argument -Wno-analyzer-possible-null-dereference
      -Wno-analyzer-use-of-uninitialized-value)
    add_compile_options(${analyzer_options})
  else()
    message(STATUS "gcc -fanalyzer is not run: this is not gcc 12")
  endif()
endif()
