/* SPDX-License-Identifier: MIT */
/*
 * Each colour has one meaning, in every picture and on the page (formats/page/page.css has the
 * same). Only a limit is red; ranks and groups get the remaining colours (script_colour()).
 */
#ifndef CHOKEPOINT_REPORTS_COLOUR_H
#define CHOKEPOINT_REPORTS_COLOUR_H

#define COLOUR_COMPUTING "#2e9e4f"
#define COLOUR_KERNEL "#8bcf9f"  /* computing in the kernel */
#define COLOUR_CORE "#e6a100"    /* waiting for a core */
#define COLOUR_QUOTA "#b87f00"   /* waiting for a core: the quota is used up */
#define COLOUR_STEAL "#f5d27a"   /* waiting for a core: another machine has it */
#define COLOUR_PEER "#9aa1aa"    /* waiting for a peer */
#define COLOUR_UNSPLIT "#5f6670" /* inside MPI, reason not known */
#define COLOUR_TRANSFER "#2b78c2"
#define COLOUR_RECEIVE "#7fb2e0" /* transfer in the other direction */
#define COLOUR_OVERHEAD "#b3d1ec"
#define COLOUR_DISK "#8a5bb5"
#define COLOUR_DISK_WRITE "#bb9ad8"
#define COLOUR_MEMORY "#e07bb0"
#define COLOUR_MEMORY_JOB "#a8437a"
#define COLOUR_GPU "#a5682a"      /* a GPU at work, and waiting for it */
#define COLOUR_GPU_COPY "#d2ab84" /* copying to or from it */
#define COLOUR_GPU_PART "#6b3f12" /* a part of its units */
#define COLOUR_GPU_ANY "#8c6d53"  /* anything on it */
#define COLOUR_ASLEEP "#ffffff"
#define COLOUR_STOPPED "#ededed"
#define COLOUR_LIMIT "#d1242f"

#endif
