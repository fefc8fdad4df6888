! C and Fortran in one program: handles, attributes and statuses go from one language to the other.
program languages
  use, intrinsic :: iso_c_binding, only: c_int, c_intptr_t
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
    subroutine c_status(status) bind(C)
      import :: c_int
      integer(c_int) :: status(*)
    end subroutine
  end interface
  integer :: ierr, comm, size, keyval, status(MPI_STATUS_SIZE)
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
  call MPI_Comm_free(comm, ierr)
  call MPI_Finalize(ierr)
  print *, 'passed'
end program
