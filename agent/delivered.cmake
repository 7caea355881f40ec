# SPDX-License-Identifier: MIT
# The agent for hosts on which nothing is installed, and the relay that brings it there. It is static, so that the host's
# C library does not matter; with sanitizers, which need theirs, it is built for the tests alone.
if(NOT CHOKEPOINT_AGENT_ALONE)
  add_library(chokepoint_relay STATIC
    relay/cksum.c
    relay/handshake.c
    relay/launcher.c
    relay/pump.c)
  target_link_libraries(chokepoint_relay PUBLIC chokepoint_push)
  add_executable(chokepoint-relay relay/main.c)
  target_link_libraries(chokepoint-relay PRIVATE chokepoint_relay)
  install(TARGETS chokepoint-relay RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/chokepoint)
endif()

include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -static)
check_c_source_compiles("int main(void) { return 0; }" CHOKEPOINT_STATIC_LIBC)
set(CMAKE_REQUIRED_LINK_OPTIONS -static-pie)
check_c_source_compiles("int main(void) { return 0; }" CHOKEPOINT_STATIC_PIE)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(CHOKEPOINT_SANITIZE OR CHOKEPOINT_TSAN OR CHOKEPOINT_FUZZ)
  set(delivered_static OFF)
elseif(CHOKEPOINT_STATIC_LIBC)
  set(delivered_static ON)
else()
  message(STATUS "no static C library: no agent can be delivered to hosts that have none")
  return()
endif()

# These objects come before the archive, whose functions of the same names load libraries at run time.
add_executable(chokepoint-agent-delivered
  capture/capture_without.c
  main.c
  observe.c
  options.c
  probes/gpu/nvml_without.c
  push/echo_client.c
  push/push.c
  push/push_pipe.c
  push/push_reply.c
  push/push_tables.c
  push/stream.c
  send_ring.c
  supervise/delivered_names.c
  supervise/page_drop.c)
target_link_libraries(chokepoint-agent-delivered PRIVATE chokepoint_agent)
set_target_properties(chokepoint-agent-delivered PROPERTIES OUTPUT_NAME chokepoint-agent
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/agents/${CMAKE_SYSTEM_PROCESSOR})
if(delivered_static)
  set(static_kind -static)
  if(CHOKEPOINT_HARDEN AND CHOKEPOINT_STATIC_PIE)
    set(static_kind -static-pie)
  endif()
  target_link_options(chokepoint-agent-delivered PRIVATE ${static_kind} -s -Wl,--gc-sections)
  if(NOT TARGET chokepoint_wait_object OR NOT STATIC_LIBBPF OR NOT STATIC_LIBELF OR NOT STATIC_LIBZ)
    target_sources(chokepoint-agent-delivered PRIVATE wait/wait_without.c)
  endif()
endif()
install(TARGETS chokepoint-agent-delivered
  RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/chokepoint/agents/${CMAKE_SYSTEM_PROCESSOR})

# The shim lies beside the agent, without the symbols that only debuggers read.
if(TARGET chokepoint-mpi)
  set(delivered_shim ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/agents/${CMAKE_SYSTEM_PROCESSOR}/libchokepoint-mpi.so)
  add_custom_command(OUTPUT ${delivered_shim}
    COMMAND ${CMAKE_STRIP} -o ${delivered_shim} $<TARGET_FILE:chokepoint-mpi>
    DEPENDS chokepoint-mpi chokepoint-agent-delivered VERBATIM)
  add_custom_target(chokepoint-mpi-delivered ALL DEPENDS ${delivered_shim})
  install(FILES ${delivered_shim} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/chokepoint/agents/${CMAKE_SYSTEM_PROCESSOR})
endif()
