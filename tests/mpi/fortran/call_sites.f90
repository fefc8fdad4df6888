! Each form of the interface makes calls of its own, which a report tells apart.

subroutine by_mpif(times)
  implicit none
  include 'mpif.h'
  integer, intent(in) :: times
  integer :: i, ierror
  do i = 1, times
    call MPI_Send(i, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, ierror)
  end do
end subroutine by_mpif

subroutine by_mpi(times)
  use mpi
  implicit none
  integer, intent(in) :: times
  integer :: i, ierror
  do i = 1, times
    call MPI_Send(i, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, ierror)
  end do
end subroutine by_mpi

subroutine by_mpi_f08(times)
  use mpi_f08
  implicit none
  integer, intent(in) :: times
  integer :: i
  do i = 1, times
    call MPI_Send(i, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD)
  end do
end subroutine by_mpi_f08

subroutine add(in, inout, length, kind)
  implicit none
  include 'mpif.h'
  integer, intent(in) :: in, length, kind
  integer, intent(inout) :: inout
  integer :: rank, ierror
  ! A call inside one that is timed: it does not count, nor for the next one.
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  inout = inout + in * length + 0 * kind
end subroutine add

! The conversion of its arguments calls MPI, too.
subroutine by_conversion()
  use mpi
  implicit none
  integer, allocatable :: none(:), kinds(:)
  integer :: size, nothing(1), ierror
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  allocate (none(size), kinds(size))
  none = 0
  kinds = MPI_INTEGER
  call MPI_Alltoallw(none, none, none, kinds, nothing, none, none, kinds, MPI_COMM_WORLD, ierror)
end subroutine by_conversion

! So does that of an array section: it makes a datatype of it, and frees it.
subroutine by_section()
  use mpi_f08
  implicit none
  integer :: numbers(10)
  numbers = 0
  call MPI_Send(numbers(1:10:2), 5, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD)
end subroutine by_section

program call_sites
  use mpi_f08, only: MPI_Init, MPI_Finalize, MPI_Barrier, MPI_COMM_WORLD
  implicit none
  call MPI_Init()
  call by_mpif(100)
  call by_mpi(200)
  call by_mpi_f08(300)
  call reduce_with_callback()
  call from_c()
  call by_conversion()
  call by_section()
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
  print '(a)', 'passed'
contains
  subroutine reduce_with_callback()
    use mpi_f08, only: MPI_INTEGER, MPI_Op, MPI_Allreduce
    use mpi, only: MPI_Op_create, MPI_Op_free
    external :: add
    integer :: one, total, ierror
    type(MPI_Op) :: adding
    one = 1
    call MPI_Op_create(add, .true., adding%MPI_VAL, ierror)
    call MPI_Allreduce(one, total, 1, MPI_INTEGER, adding, MPI_COMM_WORLD)
    call MPI_Op_free(adding%MPI_VAL, ierror)
  end subroutine reduce_with_callback

  subroutine from_c()
    interface
      subroutine call_in_c() bind(C)
      end subroutine call_in_c
    end interface
    call call_in_c()
  end subroutine from_c
end program call_sites
