# SPDX-License-Identifier: MIT
# gcc's analyzer, in the build itself, over everything but tests. Versions report different things, so only gcc 12
# (Debian 12) is used, with which the code was cleaned. Three checks are off: gcc 12 forgets across functions that r == 0
# means a valid pointer, and all their reports were false:
#   malloc-leak: memory that an element of an array, or a struct handed up, owns; LeakSanitizer looks in every test.
#   null-dereference, null-argument, possible-null-dereference: a pointer that the loop's own condition tests.
#   use-of-uninitialized-value: arrays filled by a function that was called if and only if there was memory.
# On: use after free, double free and fclose, files left open, free of memory outside the heap, unsafe calls in signal handlers.
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
