! Calls of MPI, repeated, in the form that -DFORM_MPIF, -DFORM_MPI or -DFORM_F08 chooses. calls.c
! measures them. Handles come as integers, and are converted outside of the loops.
#if defined(FORM_F08)
#define FORM "f08"
#define MODULE loops_f08
#define HANDLE(kind) type(kind)
#define MADE(kind, number) kind(number)
#elif defined(FORM_MPI)
#define FORM "mpi"
#define MODULE loops_mpi
#define HANDLE(kind) integer
#define MADE(kind, number) number
#else
#define FORM "mpif"
#define MODULE loops_mpif
#define HANDLE(kind) integer
#define MADE(kind, number) number
#endif
module MODULE
  use, intrinsic :: iso_c_binding, only: c_int
#if defined(FORM_F08)
  use mpi_f08
  implicit none
#elif defined(FORM_MPI)
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer, save :: data(16) = 0
contains
  subroutine comm_rank(number, count) bind(C, name=FORM//"_comm_rank")
    integer(c_int), value :: number, count
    HANDLE(MPI_Comm) :: comm
    integer :: i, rank, ierror
    comm = MADE(MPI_Comm, number)
    do i = 1, count
      call MPI_Comm_rank(comm, rank, ierror)
    end do
  end subroutine

  subroutine send_to_none(number, count) bind(C, name=FORM//"_send")
    integer(c_int), value :: number, count
    HANDLE(MPI_Comm) :: comm
    integer :: i, ierror
    comm = MADE(MPI_Comm, number)
    do i = 1, count
      call MPI_Send(data, 16, MPI_INTEGER, MPI_PROC_NULL, 1, comm, ierror)
    end do
  end subroutine

  subroutine receive_from_none(number, count) bind(C, name=FORM//"_recv")
    integer(c_int), value :: number, count
    HANDLE(MPI_Comm) :: comm
    integer :: i, ierror
    comm = MADE(MPI_Comm, number)
    do i = 1, count
      call MPI_Recv(data, 16, MPI_INTEGER, MPI_PROC_NULL, 1, comm, MPI_STATUS_IGNORE, ierror)
    end do
  end subroutine

  subroutine isend_and_wait(number, count) bind(C, name=FORM//"_isend_wait")
    integer(c_int), value :: number, count
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Request) :: request
    integer :: i, ierror
    comm = MADE(MPI_Comm, number)
    do i = 1, count
      call MPI_Isend(data, 16, MPI_INTEGER, MPI_PROC_NULL, 1, comm, request, ierror)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    end do
  end subroutine

  subroutine allreduce_alone(number, count) bind(C, name=FORM//"_allreduce")
    integer(c_int), value :: number, count
    HANDLE(MPI_Comm) :: comm
    integer :: i, ierror, total(16)
    comm = MADE(MPI_Comm, number)
    do i = 1, count
      call MPI_Allreduce(data, total, 16, MPI_INTEGER, MPI_SUM, comm, ierror)
    end do
  end subroutine
end module
