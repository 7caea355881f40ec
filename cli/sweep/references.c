/* SPDX-License-Identifier: MIT */
/*
 * Five reports on small clusters that trained models while people watched: the sweeps that fill the
 * tables of those reports, and their published figures; and two sweeps without a report. Short
 * sizes take minutes on emulated hosts that share two cores; full sizes are the published ones. A
 * cell lasts at least two seconds: shorter runs are not judged.
 */
#include "cli/sweep/references.h"

#include <string.h>

#include "common/error.h"

#define FEATURES "33762578" /* of R1: 135 MB of weights */

static const struct reference_data clicks = {
    "clicks",
    {"{bin}/chokepoint-sgd generate --features " FEATURES
     " --examples 100000 --files 5 --test-examples 5000 --seed 1 --out {out}",
     "{bin}/chokepoint-sgd generate --features " FEATURES
     " --examples 2000000 --files 5 --test-examples 10000 --seed 1 --out {out}"}};

static const struct reference_data digits = {
    "digits",
    {"{bin}/chokepoint-data generate digits --train 12000 --test 2000 --quiet --out {out}",
     "{bin}/chokepoint-data generate digits --quiet --out {out}"}};

static const struct reference_data textures = {
    "textures",
    {"{bin}/chokepoint-data generate textures --train 10000 --test 1000 --quiet --out {out}",
     "{bin}/chokepoint-data generate textures --quiet --out {out}"}};

/* A published figure that is not known here. */
#define NOT_AT_HAND "not at hand"

/* ---- R1 ---- */

static const struct sweep_theirs r1_theirs[] = {
    {"grid", "", "sync:dense", "iteration (s)", "7 to 8"},
    {"grid", "", "sync:dense-down", "iteration (s)", "3 to 4"},
    {"grid", "", "async:dense-down", "iteration (s)", "1 to 1.5 at vm1, 3 to 3.5 elsewhere"},
    {"grid", "", "async:dense-down", "updates a second (1/s)", "1.67"},
    {"grid", "", "sync:dense-down", "verdict", "network of vm1, straggler"},
    {"grid", "", "async:dense-down", "verdict", "network of vm1"},
    {"hosts", "", "avg_idle_cpu (%)", "sync:dense-down vm1", "73.99"},
    {"hosts", "", "avg_idle_cpu (%)", "sync:dense-down vm2", "93.88"},
    {"hosts", "", "avg_idle_cpu (%)", "async:dense-down vm1", "46.23"},
    {"hosts", "", "avg_idle_cpu (%)", "async:dense-down vm2", "77.36"},
    {"hosts", "", "avg_mem_used (GB)", "sync:dense-down vm1", "11.52"},
    {"hosts", "", "avg_mem_used (GB)", "sync:dense-down vm2", "2.23"},
    {"hosts", "", "avg_mem_used (GB)", "async:dense-down vm1", "15.63"},
    {"hosts", "", "avg_mem_used (GB)", "async:dense-down vm2", "2.62"},
    {"hosts", "", "avg_mem_free (GB)", "sync:dense-down vm1", "7.47"},
    {"hosts", "", "avg_mem_free (GB)", "sync:dense-down vm2", "17.08"},
    {"hosts", "", "avg_mem_free (GB)", "async:dense-down vm1", "3.76"},
    {"hosts", "", "avg_mem_free (GB)", "async:dense-down vm2", "16.81"},
    {"hosts", "", "avg_nw_rec (MB/s)", "sync:dense-down vm1", "1.39"},
    {"hosts", "", "avg_nw_rec (MB/s)", "sync:dense-down vm2", "40.62"},
    {"hosts", "", "avg_nw_rec (MB/s)", "async:dense-down vm1", "0.53"},
    {"hosts", "", "avg_nw_rec (MB/s)", "async:dense-down vm2", "78.79"},
    {"hosts", "", "avg_nw_send (MB/s)", "sync:dense-down vm1", "156.18"},
    {"hosts", "", "avg_nw_send (MB/s)", "sync:dense-down vm2", "0.08"},
    {"hosts", "", "avg_nw_send (MB/s)", "async:dense-down vm1", "288.19"},
    {"hosts", "", "avg_nw_send (MB/s)", "async:dense-down vm2", "0.15"},
    {"hosts", "", "avg_disk_read (MB/s)", "sync:dense-down vm1", "0.0134"},
    {"hosts", "", "avg_disk_read (MB/s)", "sync:dense-down vm2", "0.0058"},
    {"hosts", "", "avg_disk_read (MB/s)", "async:dense-down vm1", "0.0082"},
    {"hosts", "", "avg_disk_read (MB/s)", "async:dense-down vm2", "0.0037"},
    {"hosts", "", "avg_disk_write (MB/s)", "sync:dense-down vm1", "0.0218"},
    {"hosts", "", "avg_disk_write (MB/s)", "sync:dense-down vm2", "0.0047"},
    {"hosts", "", "avg_disk_write (MB/s)", "async:dense-down vm1", "0.0169"},
    {"hosts", "", "avg_disk_write (MB/s)", "async:dense-down vm2", "0.0020"},
};

/* ---- R2 ---- */

static const struct sweep_theirs softmax_theirs[] = {
    {"grid", "", "single:1", "training time (s)", "121"},
    {"grid", "", "single:1", "accuracy (%)", "92.63"},
    {"grid", "", "sync:3", "training time (s)", "103 to 104"},
    {"grid", "", "sync:3", "accuracy (%)", "92.02"},
    {"grid", "", "sync:3", "network write (MB/s)", "2.8 to 3.3 a worker"},
    {"grid", "", "async:3", "training time (s)", "48 to 51"},
    {"grid", "", "async:3", "accuracy (%)", "91.78 to 92.27"},
    {"grid", "", "async:3", "network write (MB/s)", "next to none"},
    {"roles", "", "single:1: rank 0 on vm1", "accuracy (%)", "92.63"},
    {"roles", "", "single:1: rank 0 on vm1", "time (s)", "121"},
    {"roles", "", "single:1: rank 0 on vm1", "CPU (%)", NOT_AT_HAND},
    {"roles", "", "single:1: rank 0 on vm1", "memory (GB)", NOT_AT_HAND},
    {"roles", "", "sync:3: server, rank 0 on vm1", "accuracy (%)", "NA"},
    {"roles", "", "sync:3: server, rank 0 on vm1", "CPU (%)", NOT_AT_HAND},
    {"roles", "", "sync:3: server, rank 0 on vm1", "memory (GB)", NOT_AT_HAND},
    {"roles", "", "sync:3: worker, rank 1 on vm2", "accuracy (%)", "92.02"},
    {"roles", "", "sync:3: worker, rank 1 on vm2", "time (s)", "103 to 104"},
    {"roles", "", "sync:3: worker, rank 1 on vm2", "CPU (%)", NOT_AT_HAND},
    {"roles", "", "sync:3: worker, rank 1 on vm2", "memory (GB)", NOT_AT_HAND},
    {"roles", "", "sync:3: worker, rank 1 on vm2", "network write (MB/s)", "2.8 to 3.3"},
    {"roles", "", "async:3: server, rank 0 on vm1", "accuracy (%)", "NA"},
    {"roles", "", "async:3: server, rank 0 on vm1", "CPU (%)", NOT_AT_HAND},
    {"roles", "", "async:3: server, rank 0 on vm1", "memory (GB)", NOT_AT_HAND},
    {"roles", "", "async:3: worker, rank 1 on vm2", "accuracy (%)", "91.78 to 92.27"},
    {"roles", "", "async:3: worker, rank 1 on vm2", "time (s)", "48 to 51"},
    {"roles", "", "async:3: worker, rank 1 on vm2", "CPU (%)", NOT_AT_HAND},
    {"roles", "", "async:3: worker, rank 1 on vm2", "memory (GB)", NOT_AT_HAND},
    {"roles", "", "async:3: worker, rank 1 on vm2", "network write (MB/s)", "next to none"},
};

/* The report has twelve cells. */
#define LENET(measure, nodes, batch_64)                                                            \
    {"grid", measure, nodes, "64", batch_64}, {"grid", measure, nodes, "128", NOT_AT_HAND},        \
        {"grid", measure, nodes, "256", NOT_AT_HAND}, {                                            \
        "grid", measure, nodes, "512", NOT_AT_HAND                                                 \
    }

static const struct sweep_theirs lenet_theirs[] = {
    LENET("training", "1", "178.8"), LENET("training", "2", "162.3"),
    LENET("training", "3", "169.7"), LENET("accuracy", "1", "98.0"),
    LENET("accuracy", "2", "97.2"),  LENET("accuracy", "3", "96.8"),
};

/* ---- R3 ---- */

#define BATCHES "for:1000000"

static const struct sweep_theirs batches_theirs[] = {
    {"grid", BATCHES, "sync", "1", "135.7"},    {"grid", BATCHES, "sync", "100", "67.9"},
    {"grid", BATCHES, "sync", "1000", "63.4"},  {"grid", BATCHES, "sync", "10000", "64.8"},
    {"grid", BATCHES, "async", "1", "145.5"},   {"grid", BATCHES, "async", "100", "65.5"},
    {"grid", BATCHES, "async", "1000", "62.3"}, {"grid", BATCHES, "async", "10000", "62.1"},
};

static const struct sweep_theirs r3_theirs[] = {
    {"grid", "", "sync", "accuracy (%)", "72.48 after 23.75 min"},
    {"grid", "", "async", "accuracy (%)", "74.73 after 4.75 min"},
    {"grid", "", "sync", "verdict", "CPU, stragglers"},
    {"grid", "", "async", "verdict", "network"},
    {"job", "", "sync", "CPU (%)", "129"},
    {"job", "", "sync", "network read (MB/s)", "92"},
    {"job", "", "sync", "network write (MB/s)", "92"},
    {"job", "", "sync", "disk read (MB/s)", "1.3"},
    {"job", "", "sync", "disk write (MB/s)", "2.1"},
    {"job", "", "async", "CPU (%)", "58"},
    {"job", "", "async", "network read (MB/s)", "248"},
    {"job", "", "async", "network write (MB/s)", "248"},
    {"job", "", "async", "disk read (MB/s)", "0.31"},
    {"job", "", "async", "disk write (MB/s)", "12.13"},
    /* features of R1, whose program this is */
    {"differences", "async", "vm1 avg_idle_cpu (%)", "sync", "73.99"},
    {"differences", "async", "vm1 avg_idle_cpu (%)", "async", "46.23"},
    {"differences", "async", "vm2 avg_idle_cpu (%)", "sync", "93.88"},
    {"differences", "async", "vm2 avg_idle_cpu (%)", "async", "77.36"},
    {"differences", "async", "vm1 avg_mem_used (GB)", "sync", "11.52"},
    {"differences", "async", "vm1 avg_mem_used (GB)", "async", "15.63"},
    {"differences", "async", "vm2 avg_mem_used (GB)", "sync", "2.23"},
    {"differences", "async", "vm2 avg_mem_used (GB)", "async", "2.62"},
    {"differences", "async", "vm1 avg_mem_free (GB)", "sync", "7.47"},
    {"differences", "async", "vm1 avg_mem_free (GB)", "async", "3.76"},
    {"differences", "async", "vm2 avg_mem_free (GB)", "sync", "17.08"},
    {"differences", "async", "vm2 avg_mem_free (GB)", "async", "16.81"},
    {"differences", "async", "vm1 avg_nw_rec (MB/s)", "sync", "1.39"},
    {"differences", "async", "vm1 avg_nw_rec (MB/s)", "async", "0.53"},
    {"differences", "async", "vm2 avg_nw_rec (MB/s)", "sync", "40.62"},
    {"differences", "async", "vm2 avg_nw_rec (MB/s)", "async", "78.79"},
    {"differences", "async", "vm1 avg_nw_send (MB/s)", "sync", "156.18"},
    {"differences", "async", "vm1 avg_nw_send (MB/s)", "async", "288.19"},
    {"differences", "async", "vm2 avg_nw_send (MB/s)", "sync", "0.08"},
    {"differences", "async", "vm2 avg_nw_send (MB/s)", "async", "0.15"},
    {"differences", "async", "vm1 avg_disk_read (MB/s)", "sync", "0.0134"},
    {"differences", "async", "vm1 avg_disk_read (MB/s)", "async", "0.0082"},
    {"differences", "async", "vm2 avg_disk_read (MB/s)", "sync", "0.0058"},
    {"differences", "async", "vm2 avg_disk_read (MB/s)", "async", "0.0037"},
    {"differences", "async", "vm1 avg_disk_write (MB/s)", "sync", "0.0218"},
    {"differences", "async", "vm1 avg_disk_write (MB/s)", "async", "0.0169"},
    {"differences", "async", "vm2 avg_disk_write (MB/s)", "sync", "0.0047"},
    {"differences", "async", "vm2 avg_disk_write (MB/s)", "async", "0.0020"},
};

/* ---- R4 ---- */

static const struct sweep_theirs r4_theirs[] = {
    {"grid", "", "sync", "iteration (s)", "7.1"},
    {"peaks", "", "disk write (MB/s)", "sync vm1", "0.240"},
    {"peaks", "", "disk write (MB/s)", "async vm1", "0.235"},
    {"peaks", "", "fullest core (%)", "sync vm1", "38 (CPU)"},
    {"peaks", "", "fullest core (%)", "async vm1", "96 (CPU)"},
    {"peaks", "", "memory used (GB)", "sync vm1", "18 %"},
    {"peaks", "", "memory used (GB)", "async vm1", "46 %"},
    {"peaks", "", "network send (MB/s)", "sync vm1", "349"},
    {"peaks", "", "network send (MB/s)", "async vm1", "395"},
    {"operators", "", "sparse x dense", "sync", "2.02"},
    {"operators", "", "sigmoid", "sync", "0.009"},
    {"operators", "", "transposed sparse x dense", "sync", "80.9, dense output"},
    {"operators", "", "reduce and apply", "sync", "42.5"},
    {"operators", "", SWEEP_BESIDE ", three more operators", "sync", NOT_AT_HAND},
    {"arithmetic", "", "sync", "with the way back (s)", "about 7"},
    {"arithmetic", "", "sync", "an iteration comes every (s)", "7.1"},
};

/* ---- R5 ---- */

#define SPEED "examples a second (1/s)"
#define TIME_TO_85 "time to an accuracy of 85 % (s)"

/* Four of its five set-ups have a rate and a time, in the order of the study. */
static const struct sweep_theirs r5_theirs[] = {
    {"grid", "", "sync:1", SPEED, "40"},
    {"grid", "", "sync:1", TIME_TO_85, NOT_AT_HAND},
    {"grid", "", "async:4", SPEED, "1630 (with GPUs)"},
    {"grid", "", "async:4", TIME_TO_85, "1460"},
    {"grid", "", SWEEP_BESIDE ", another set-up, the 1st of four", SPEED, "1420"},
    {"grid", "", SWEEP_BESIDE ", another set-up, the 1st of four", TIME_TO_85, "1545"},
    {"grid", "", SWEEP_BESIDE ", another set-up, the 2nd of four", SPEED, "3200"},
    {"grid", "", SWEEP_BESIDE ", another set-up, the 2nd of four", TIME_TO_85, "735"},
    {"grid", "", SWEEP_BESIDE ", another set-up, the 4th of four", SPEED, "1970"},
    {"grid", "", SWEEP_BESIDE ", another set-up, the 4th of four", TIME_TO_85, "1210"},
};

static const struct sweep_theirs transports_theirs[] = {
    {"grid", "last:latency (us)", "vader", "8", "1 to 3 (MPI)"},
    {"grid", "last:latency (us)", SWEEP_BESIDE ", gRPC", "8", "100 to 200"},
};

#define THEIRS(list) list, ARRAY_SIZE(list)
#define SGD                                                                                        \
    "{mpirun} -np {ranks} {bin}/chokepoint-sgd --data {data} --features " FEATURES " --quiet "

#define R1_MODES "sync:dense,sync:dense-down,sync:sparse,async:dense-down,async:sparse"

/* clang-format off */
const struct reference references[] = {
    {"r1", "R1: sparse logistic regression on five hosts, the parameter server on the first",
     "Theirs: 33,762,578 weights in TensorFlow over links of 1.8 Gbit/s. Ours are the same weights over links of that "
     "rate. An iteration of dense transfer is bound by the server's link in both, and ours takes what the bytes take. "
     "Their other modes sent all weights to the workers and sparse gradients back (their vm1 sends 156 MB/s and receives 1.4): "
     "dense-down is the same traffic. Sparse sends only the weights that a batch touches, so the network does not bind it, and "
     "what is left is computing. Their memory is "
     "that of TensorFlow; of ours, idle CPU is of cores that all emulated hosts share. Tests take "
     "10 ms each, less than a sample of the recording, so that they have no averages of their own. Whether sync and async differ by more than chance is "
     "asked under R3, of the same program with repeats.",
     &clicks, 5, SGD "--mode {mode} --transfer {transfer} --batch 1000 {extent}",
     {"--iterations 1000000 --time-limit 60 --test-every 40", "--iterations 1000000 --time-limit 300 --test-every 100"},
     {1, 5}, {{"mode:transfer", {R1_MODES, R1_MODES}}},
     "iteration,updates,examples,staleness,accuracy", "grid,hosts,phases,job,arithmetic,pace,curves", THEIRS(r1_theirs)},
    {"r1-matmul", "R1: the product of two large matrices, cut into blocks",
     "Theirs was described without figures: each host multiplies the blocks whose operands it holds, and the traces are summed. "
     "In ours, one host and five find the same trace to the last digit. "
     "Five emulated hosts share two cores, so they compute hardly faster than one.",
     NULL, 5, "{mpirun} -np {nodes} {bin}/chokepoint-matmul --block 512 --quiet {extent}",
     {"--size 4096 --repeat 4", "--size 16384"}, {1, 5}, {{"nodes", {"1,5", "1,2,3,4,5"}}},
     "time,iteration,cpu,send,last:trace", "grid,operators", NULL, 0},
    {"r2-softmax", "R2: softmax regression on digits, three nodes, batch 200, rate 0.5",
     "Theirs: MNIST, 50 epochs, TensorFlow. Ours: drawn digits, made harder for a linear model than MNIST; the short size has 12,000 of them. "
     "Each of their synchronous workers sees all data, so three are hardly faster than one. Ours share the data, but a step of one rank computes for a millisecond, "
     "and three ranks on shared cores need longer than that to exchange it. Their asynchronous workers used next to no network, and no explanation is at hand; ours send every update. "
     "Network write in the first table is the sum of all hosts. The CPU and memory of their roles are not at hand. "
     "The time of a role lasts from its first iteration to its last, tests included, and its rates are of that time; training time leaves tests out, run time has the start.",
     &digits, 3, "{mpirun} -np {nodes} {bin}/chokepoint-sgd --model softmax --mode {mode} --data {data} --batch 200 --rate 0.5 --quiet {extent}",
     {"--epochs 50 --test-every 125", "--epochs 50 --test-every 100"}, {2, 5}, {{"mode:nodes", {"single:1,sync:3,async:3", "single:1,sync:3,async:3"}}},
     "time,training,accuracy,examples,send", "grid,roles,operators,pace,curves", THEIRS(softmax_theirs)},
    {"r2-lenet", "R2: LeNet on digits, 6 epochs, by nodes and batch",
     "Theirs: MNIST, 60,000 digits. Twelve cells were published; the figures of batch 64 are at hand. Ours: 12,000 drawn digits in the short size. "
     "More nodes are hardly faster in ours, since the emulated hosts share two cores. Accuracy falls with nodes and batch in both: each cell sees the same examples, "
     "so a larger joint batch means fewer steps. 512 images a node on three nodes are 42 steps in the short size, which is too few to learn. "
     "The full size has 234 steps there, as theirs, and reaches 98 %.",
     &digits, 3, "{mpirun} -np {nodes} {bin}/chokepoint-lenet --data {data} --batch {batch} --rate 0.02 --quiet {extent}",
     {"--epochs 6", "--epochs 6"}, {1, 5}, {{"nodes", {"1,2,3", "1,2,3"}}, {"batch", {"64,128,256,512", "64,128,256,512"}}},
     "training,accuracy,examples,send", "grid,verdicts,pace,curves", THEIRS(lenet_theirs)},
    {"r3-batches", "R3: run time for the same number of points, by mode and batch",
     "Compare the shape of a row: a batch of one point costs messages for each point, larger batches share them. Theirs is flat from "
     "100 on. Ours is flat from 1,000 on, since no framework adds to the cost of a point. Ours is the time that a million points take at the rate of a run of a set length: "
     "a million take about two seconds in the one cell and minutes in another. How many theirs had is not at hand. A message costs "
     "microseconds with MPI and more with gRPC and TensorFlow, but our ranks share cores and wait for them, too.",
     &clicks, 5, SGD "--mode {mode} --transfer sparse --batch {batch} {extent}",
     {"--iterations 1000000 --time-limit 5", "--iterations 1000000 --time-limit 60"}, {1, 5},
     {{"mode", {"sync,async", "sync,async"}}, {"batch", {"1,100,1000,10000", "1,100,1000,10000"}}},
     BATCHES ",examples,accuracy", "grid,verdicts", THEIRS(batches_theirs)},
    {"r3", "R3: sparse logistic regression, accuracy and resources by mode",
     "Ours runs for the same time in both modes (theirs: 50,000 iterations), on records drawn by program: compare accuracies between the modes, not with theirs. "
     "Seven repeats are made because with fewer the 35 averages of five hosts cannot pass Holm's correction. The averages of hosts beside ours are those of R1, which is the same program: "
     "at vm1, ours receives what a batch touched and sends what the next one needs; theirs sent all weights.",
     &clicks, 5, SGD "--mode {mode} --transfer sparse --batch 1000 {extent}",
     {"--iterations 1000000 --time-limit 10 --test-every 100", "--iterations 1000000 --time-limit 300 --test-every 500"}, {7, 7},
     {{"mode", {"sync,async", "sync,async"}}}, "time,accuracy,examples,staleness", "grid,job,differences,pace,curves", THEIRS(r3_theirs)},
    {"r4", "R4: four workers and a server apart, dense transfer: operators, peaks, the argument by arithmetic",
     "The argument is theirs: the bytes of all weights, there and back, at the measured rate, against the measured iteration. "
     "Our links carry 1.8 Gbit/s (224 MB/s), theirs reached 349 to 395 MB/s. Both tables have seven operators; the names and durations of four of theirs are at hand. "
     "Our transposed product is faster because its output is sparse; theirs was dense. Our server adds gradients while they arrive, so reduce and apply takes as long as the transfer. "
     "In sync the server's link carries one direction after the other, in theirs too, and an iteration takes both; "
     "in async it carries both at once, so an update costs little more than the longer one. The data that vm1 writes to its disk is the recording.",
     &clicks, 5, SGD "--mode {mode} --transfer dense --server apart --batch 1000 {extent}",
     {"--iterations 1000000 --time-limit 60 --test-every 4", "--iterations 1000000 --time-limit 300 --test-every 10"}, {1, 5},
     {{"mode", {"sync,async", "sync,async"}}}, "iteration,updates,examples,staleness,accuracy", "grid,peaks,operators,timeline,arithmetic,pace,curves", THEIRS(r4_theirs)},
    {"r5", "R5: a small convolutional net with Adam, images a second and time to an accuracy",
     "Theirs: CIFAR-10 with TensorFlow, time to 85 % as the mean of 10 runs, on one CPU (40 images a second), one GPU, several GPUs, distributed, and on Spark. "
     "Four rates and four times are at hand beside the CPU's. Rate and time of one place in the two lists are taken for one set-up: "
     "each product is 2.2 to 2.4 million images. The third is one parameter server with three workers; which the other three are is not at hand. "
     "Ours: drawn textures on CPUs, the net through oneDNN, batches of 32 a node; a run ends when it has reached 85 %. "
     "Theirs learn harder pictures and need more of them; ours have no GPU. Our repeats begin with the same weights: their times differ, and in async what they learn. "
     "Four emulated hosts share two cores, so they compute hardly faster than one.",
     &textures, 4, "{mpirun} -np {nodes} {bin}/chokepoint-cifar --mode {mode} --data {data} --batch 32 --quiet {extent}",
     {"--epochs 16 --target 85 --test-every 80", "--epochs 30 --target 85 --test-every 200"}, {2, 10}, {{"mode:nodes", {"sync:1,sync:4,async:4", "sync:1,sync:4,async:4"}}},
     "examples,to:85,accuracy,training,gpu-sm,gpu-tensor,gpu-dram,gpu-pcie,gpu-power,gpu-energy", "grid,means,operators,pace,curves", THEIRS(r5_theirs)},
    {"r5-transports", "R5: what a message costs, by transport",
     "Theirs: 100 to 200 us a message with gRPC, 1 to 3 us with MPI; the message size is not at hand. Ours: two ranks on one host, over shared memory (vader) and over TCP "
     "through the loopback. OpenMPI has these two transports on any network. Our figures include the cost of recording every call: without it, 8 bytes over shared memory take 0.2 us. "
     "chokepoint calibrate measures messages between two hosts.",
     NULL, 1, "mpirun --oversubscribe -np 2 --mca btl self,{transport} {bin}/chokepoint-messages --bytes {bytes} {extent}",
     {"--seconds 2.5", "--seconds 10"}, {1, 5}, {{"transport", {"vader,tcp", "vader,tcp"}}, {"bytes", {"8,65536,4194304", "8,65536,4194304"}}},
     "last:latency (us),last:bandwidth (MB/s)", "grid,verdicts", THEIRS(transports_theirs)},
    {"backup-workers", "Backup workers: synchronous training that does not wait for its slowest worker",
     "No published figures stand beside these. Rank 1 sleeps for 100 ms in each iteration. With a backup of 0 all wait for it; with 1 an iteration ends "
     "when all others have sent, and what rank 1 sends late is dropped.",
     &clicks, 5, SGD "--mode sync --transfer sparse --batch 1000 --plant sleep:1:100 --backup {backup} {extent}",
     {"--iterations 1000000 --time-limit 8 --test-every 20", "--iterations 1000000 --time-limit 300 --test-every 100"}, {1, 5},
     {{"backup", {"0,1", "0,1"}}}, "iteration,updates,examples,accuracy", "grid,pace,curves", NULL, 0},
    {"small-updates", "Small updates: one example an update, and nobody waits for another",
     "No published figures stand beside these. An update moves some hundred bytes, so what it costs is the latency of its messages, and the cores that ranks share. "
     "An iteration is one update of one rank.",
     &clicks, 5, "{mpirun} -np {nodes} {bin}/chokepoint-sgd --data {data} --features " FEATURES " --quiet --mode async --transfer sparse --batch 1 {extent}",
     {"--iterations 1000000 --time-limit 5", "--iterations 1000000 --time-limit 60"}, {1, 5},
     {{"nodes", {"2,3,5", "2,3,4,5"}}}, "iteration,updates,staleness,send", "grid", NULL, 0},
};
/* clang-format on */
const size_t n_references = ARRAY_SIZE(references);

const struct reference *reference_find(const char *sweep) {
    for (size_t i = 0; i < n_references; i++) {
        size_t n = strlen(references[i].name);
        const char *size = sweep + n;
        if (strncmp(sweep, references[i].name, n) == 0 &&
            (strcmp(size, "-short") == 0 || strcmp(size, "-full") == 0))
            return &references[i];
    }
    return NULL;
}
