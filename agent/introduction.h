/* SPDX-License-Identifier: MIT */
/*
 * Facts that an agent tells `run` before it samples, as lines on the standard error of the
 * connection that started it; cli/launch/launch.c reads them. So `run` need not know beforehand
 * where things are on a host, and nobody else learns it.
 */
#ifndef CHOKEPOINT_AGENT_INTRODUCTION_H
#define CHOKEPOINT_AGENT_INTRODUCTION_H

#include "agent/options.h"

/* The MPI library that may be preloaded here, or why there is none: the one beside this program, or
 * the delivered one, which is installed first. Nothing, if nobody asked. */
void introduce_library(const struct agent_options *options);

/* The spool's directory. */
void introduce_spool(const char *path);

#endif
