! SPDX-License-Identifier: MIT
! The same calls three ways: -DWAY_H (mpif.h), -DWAY_MPI (use mpi), -DWAY_F08 (use mpi_f08). Needs 2 ranks.
program calls_fortran
#ifdef WAY_F08
  use mpi_f08
#define STATUS_T type(MPI_Status)
#define REQUEST_T type(MPI_Request)
#define COMM_T type(MPI_Comm)
#define FILE_T type(MPI_File)
#else
#ifdef WAY_MPI
  use mpi
#endif
#define STATUS_T integer
#define REQUEST_T integer
#define COMM_T integer
#define FILE_T integer
#endif
  implicit none
#ifdef WAY_H
  include 'mpif.h'
#endif
  integer :: rank, other, ierror, i, provided
  double precision :: x(100), y(100)
  REQUEST_T :: requests(2)
  COMM_T :: comm
  FILE_T :: file
#ifdef WAY_F08
  STATUS_T :: status, statuses(2)
#else
  STATUS_T :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
#endif
  integer(kind=MPI_OFFSET_KIND) :: offset
  character(len=1000) :: path

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call get_command_argument(1, path)
  other = 1 - rank
  x = rank + 1
  do i = 1, 10
    if (rank == 0) then
      call MPI_Send(x, 100, MPI_DOUBLE_PRECISION, other, 7, MPI_COMM_WORLD, ierror)
      call MPI_Recv(y, 100, MPI_DOUBLE_PRECISION, other, 8, MPI_COMM_WORLD, status, ierror)
    else
      call MPI_Recv(y, 100, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Send(x, 100, MPI_DOUBLE_PRECISION, other, 8, MPI_COMM_WORLD, ierror)
    end if
  end do
  if (y(100) /= other + 1) call MPI_Abort(MPI_COMM_WORLD, 3, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Irecv(y, 100, MPI_DOUBLE_PRECISION, other, 9, comm, requests(1), ierror)
  call MPI_Isend(x, 50, MPI_DOUBLE_PRECISION, other, 9, comm, requests(2), ierror)
  call MPI_Waitall(2, requests, statuses, ierror)
  call MPI_Bcast(x, 10, MPI_DOUBLE_PRECISION, 1, comm, ierror)
  if (x(10) /= 2) call MPI_Abort(MPI_COMM_WORLD, 4, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, x, 20, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierror)
  call MPI_Comm_free(comm, ierror)
  call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                     MPI_INFO_NULL, file, ierror)
  offset = rank * 80
  call MPI_File_write_at(file, offset, x, 10, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierror)
  call MPI_File_close(file, ierror)
#ifdef WAY_F08
  call MPI_Barrier(MPI_COMM_WORLD) ! ierror is optional
#else
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
#endif
  call MPI_Finalize(ierror)
end program
