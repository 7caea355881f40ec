# SPDX-License-Identifier: MIT
# Singular values of random matrices, summed over ranks: rmpi_values.R RANK FACTOR. The named rank has FACTOR times the matrices.
library(Rmpi)
words <- commandArgs(trailingOnly = TRUE)
me <- mpi.comm.rank(0)
n <- mpi.comm.size(0)
set.seed(me + 1)
count <- if (me == as.integer(words[1])) as.numeric(words[2]) else 1
for (i in 1:250) {
    total <- 0
    for (k in 1:round(4 * count)) {
        x <- matrix(rnorm(220 * 220), 220)
        total <- total + sum(svd(x, 0, 0)$d)
    }
    total <- mpi.allreduce(total, type = 2, op = "sum", comm = 0)
    y <- mpi.allgather(rep(x, 3), type = 2, rdata = double(3 * 220 * 220 * n), comm = 0)
}
if (me == 0) cat("total", total, "\n")
mpi.quit()
