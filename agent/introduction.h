/* SPDX-License-Identifier: MIT */
/*
 * An agent tells `run` something before it samples, in lines on standard error, over the connection
 * that the agent was started by, which cli/launch/launch.c reads. So `run` need not foresee, and
 * nobody else can, where things lie on a host.
 */
#ifndef CHOKEPOINT_AGENT_INTRODUCTION_H
#define CHOKEPOINT_AGENT_INTRODUCTION_H

#include "agent/options.h"

/* Which MPI library may be preloaded here: the one beside this program, or the one that came behind
 * it, which is put into its place first. Or why there is none. Nothing, if nobody asked. */
void introduce_library(const struct agent_options *options);

/* The directory in which samples wait. */
void introduce_spool(const char *path);

#endif
