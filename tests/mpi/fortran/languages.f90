! C and Fortran in one program: handles, attributes and statuses go from one language to the other.
! Fortran starts an operation on an array section, and C waits for it.
subroutine wait_in_c()
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi_f08
  implicit none
  interface
    subroutine c_wait(request) bind(C)
      import :: c_int
      integer(c_int) :: request
    end subroutine
  end interface
  integer, asynchronous :: numbers(2, 4)
  integer :: ranks
  type(MPI_Request) :: request
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  numbers = 1
  call MPI_Iallreduce(MPI_IN_PLACE, numbers(1, :), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
  call c_wait(request%MPI_VAL)
  call check(all(numbers(1, :) == ranks) .and. all(numbers(2, :) == 1), 5)
  call check(request == MPI_REQUEST_NULL, 6)
end subroutine

! With MPI_IN_PLACE no types to send are read: behind the one at `place` is no memory.
subroutine exchange_in_place_f08(place)
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use mpi_f08
  implicit none
  type(c_ptr), intent(in) :: place
  type(MPI_Datatype), pointer :: none(:)
  integer, asynchronous :: numbers(16)
  integer :: i, rank, ranks
  type(MPI_Request) :: request
  call c_f_pointer(place, none, [1])
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  numbers = [(i + 100 * rank, i = 0, 15)]
  call MPI_Ialltoallw(MPI_IN_PLACE, [0], [0], none, numbers, [(1, i = 1, ranks)], &
      [(4 * i, i = 0, ranks - 1)], [(MPI_INTEGER, i = 1, ranks)], MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(all(numbers(1:ranks) == [(rank + 100 * i, i = 0, ranks - 1)]), 7)
end subroutine

program languages
  use, intrinsic :: iso_c_binding, only: c_int, c_intptr_t, c_ptr, c_f_pointer
  use mpi
  implicit none
  interface
    function c_size(comm) bind(C) result(size)
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int) :: size
    end function
    function c_attribute(comm, keyval) bind(C) result(value)
      import :: c_int, c_intptr_t
      integer(c_int), value :: comm, keyval
      integer(c_intptr_t) :: value
    end function
    function c_set_attribute(comm) bind(C) result(keyval)
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int) :: keyval
    end function
    function c_last_before_no_memory() bind(C) result(place)
      import :: c_ptr
      type(c_ptr) :: place
    end function
    subroutine c_status(status) bind(C)
      import :: c_int
      integer(c_int) :: status(*)
    end subroutine
  end interface
  external :: exchange_in_place_f08
  integer :: ierr, comm, size, rank, i, keyval, status(MPI_STATUS_SIZE), numbers(16)
  integer, pointer :: none(:)
  type(c_ptr) :: place
  integer(MPI_ADDRESS_KIND) :: value
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call MPI_Comm_size(comm, size, ierr)
  call check(c_size(comm) == size .and. c_size(MPI_COMM_WORLD) == size, 1)

  ! Set in Fortran: C finds the address of the number.
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, &
      0_MPI_ADDRESS_KIND, ierr)
  call MPI_Comm_set_attr(comm, keyval, -5_MPI_ADDRESS_KIND, ierr)
  call check(c_attribute(comm, keyval) == -5, 2)

  ! Set in C: Fortran finds the address as a number.
  keyval = c_set_attribute(comm)
  call MPI_Comm_get_attr(comm, keyval, value, flag, ierr)
  call check(flag .and. value == 4242, 3)

  call c_status(status)
  call check(status(MPI_SOURCE) == 1 .and. status(MPI_TAG) == 2 .and. status(MPI_ERROR) == 3, 4)
  call wait_in_c()

  place = c_last_before_no_memory()
  call c_f_pointer(place, none, [1])
  none = MPI_DATATYPE_NULL
  call MPI_Comm_rank(comm, rank, ierr)
  numbers = [(i + 100 * rank, i = 0, 15)]
  call MPI_Alltoallw(MPI_IN_PLACE, [0], [0], none, numbers, [(1, i = 1, size)], &
      [(4 * i, i = 0, size - 1)], [(MPI_INTEGER, i = 1, size)], comm, ierr)
  call check(all(numbers(1:size) == [(rank + 100 * i, i = 0, size - 1)]), 8)
  call exchange_in_place_f08(place)
  call MPI_Comm_free(comm, ierr)
  call MPI_Finalize(ierr)
  print *, 'passed'
end program
