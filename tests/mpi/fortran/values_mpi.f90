! The module mpi: interfaces, keyword arguments, buffers of any type, callbacks.
module callbacks
  use mpi
  implicit none
  integer :: copies = 0, deletions = 0, errors = 0, last_error = 0, freed = 0
contains
  subroutine copy_attribute(comm, keyval, extra_state, value_in, value_out, flag, ierror)
    integer :: comm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    logical :: flag
    copies = copies + 1
    value_out = value_in + extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete_attribute(comm, keyval, value, extra_state, ierror)
    integer :: comm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra_state
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine count_error(comm, code)
    integer :: comm, code
    errors = errors + 1
    last_error = code
  end subroutine
  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: status(MPI_STATUS_SIZE), ierror
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra_state), ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    status(MPI_SOURCE) = 3
    status(MPI_TAG) = 4
    ierror = MPI_SUCCESS
  end subroutine
  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    freed = freed + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
end module

program values
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use mpi
  use callbacks
  implicit none
  integer :: ierr, rank, ranks, keyval, copy, handler, request, info, cart, size_of, length, win, i
  integer :: status(MPI_STATUS_SIZE), provided, sources(1), weights(1), graph
  type(MPI_Status) :: modern
  type(MPI_Comm) :: world, other
  integer(MPI_ADDRESS_KIND) :: extent, lower, value, bytes
  logical :: flag, periods(2), remain(2)
  integer :: dims(2), coords(2)
  character(len=12) :: text
  character(len=MPI_MAX_ERROR_STRING) :: message
  real(8) :: x(3)
  type(c_ptr) :: memory
  integer, pointer :: numbers(:)

  call MPI_Init_thread(required=MPI_THREAD_MULTIPLE, provided=provided, ierror=ierr)
  call check(provided >= MPI_THREAD_SINGLE, 1)
  call MPI_Comm_rank(comm=MPI_COMM_WORLD, rank=rank, ierror=ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)

  x = [1, 2, 3] + rank
  call MPI_Bcast(x, 3, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(rank, 0, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call check(x(3) == 3, 2)

  dims = 0
  call MPI_Dims_create(ranks, 2, dims, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., cart, ierr)
  call MPI_Cart_get(cart, 2, dims, periods, coords, ierr)
  call check(periods(1) .and. .not. periods(2), 3)
  remain = [.false., .true.]
  call MPI_Cart_sub(cart, remain, copy, ierr)
  call MPI_Comm_size(copy, i, ierr)
  call check(i == dims(2), 4)
  call MPI_Comm_free(copy, ierr)
  call MPI_Comm_free(cart, ierr)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [rank], MPI_UNWEIGHTED, 1, [rank], &
      MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierr)
  call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, weights, MPI_UNWEIGHTED, ierr)
  call check(sources(1) == rank, 5)
  call MPI_Comm_free(graph, ierr)

  call MPI_Comm_create_keyval(copy_attribute, delete_attribute, keyval, 10_MPI_ADDRESS_KIND, ierr)
  call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 7_MPI_ADDRESS_KIND, ierr)
  call MPI_Comm_dup(MPI_COMM_SELF, copy, ierr)
  call MPI_Comm_get_attr(copy, keyval, value, flag, ierr)
  call check(flag .and. value == 17 .and. copies == 1, 6)
  call MPI_Comm_free(copy, ierr)
  call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval, ierr)
  call check(deletions == 2, 7)
  call MPI_Comm_free_keyval(keyval, ierr)
  call check(keyval == MPI_KEYVAL_INVALID, 8)

  call MPI_Comm_create_errhandler(count_error, handler, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierr)
  call MPI_Send(x, 1, MPI_REAL8, ranks + 5, 0, MPI_COMM_WORLD, ierr)
  call check(ierr /= MPI_SUCCESS .and. errors == 1 .and. last_error == ierr, 9)
  call MPI_Error_class(ierr, i, ierr)
  call check(i == MPI_ERR_RANK, 10)
  call MPI_Error_string(MPI_ERR_RANK, message, length, ierr)
  call check(len_trim(message) == length, 11)
  call MPI_Errhandler_free(handler, ierr)

  call MPI_Grequest_start(query, release, cancel, 6_MPI_ADDRESS_KIND, request, ierr)
  call MPI_Grequest_complete(request, ierr)
  call MPI_Wait(request, status, ierr)
  call MPI_Get_count(status, MPI_INTEGER, i, ierr)
  call check(i == 6 .and. status(MPI_SOURCE) == 3 .and. status(MPI_TAG) == 4 .and. freed == 1, 12)
  call MPI_Status_f2f08(status, modern, ierr)
  call check(modern%MPI_SOURCE == 3 .and. modern%MPI_TAG == 4, 13)
  modern%MPI_TAG = 9
  call MPI_Status_f082f(modern, status, ierr)
  call check(status(MPI_TAG) == 9, 14)

  ! Handles of mpi_f08 are known here, too, and are those of that module.
  world%MPI_VAL = MPI_COMM_WORLD
  other = MPI_Comm(MPI_COMM_SELF)
  call check(world /= other .and. world == MPI_Comm(MPI_COMM_WORLD), 26)
  call check(size_in_f08(world) == ranks, 27)

  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, '  key ', ' two words ', ierr)
  text = 'xxxxxxxxxxxx'
  call MPI_Info_get(info, 'key', 12, text, flag, ierr)
  call check(flag .and. text == 'two words', 15)
  length = 0
  call MPI_Info_get_string(info, 'key', length, text, flag, ierr)
  call check(flag .and. length == 9, 16)
  length = 3
  call MPI_Info_get_string(info, 'key', length, text, flag, ierr)
  call check(flag .and. length == 9 .and. text == 'two', 17)
  call MPI_Info_get(info, 'none', 12, text, flag, ierr)
  call check(.not. flag, 18)
  call MPI_Info_free(info, ierr)

  call MPI_Type_get_extent(MPI_DOUBLE_PRECISION, lower, extent, ierr)
  call check(lower == 0 .and. extent == 8, 19)
  call MPI_Sizeof(x, size_of, ierr)
  call check(size_of == 8, 20)
  call MPI_Sizeof(text(1:1), size_of, ierr)
  call check(size_of == 1, 21)
  call MPI_Type_create_f90_real(15, 307, i, ierr)
  call MPI_Type_size(i, size_of, ierr)
  call check(size_of == 8, 22)

  bytes = 40
  call MPI_Alloc_mem(bytes, MPI_INFO_NULL, memory, ierr)
  call c_f_pointer(memory, numbers, [10])
  numbers = rank
  call MPI_Win_create(numbers, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr)
  call check(flag .and. value == 40, 23)
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierr)
  call check(flag .and. value == 4, 24)
  call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierr)
  call MPI_Get_address(numbers, lower, ierr)
  call check(flag .and. value == lower, 25)
  call MPI_Win_free(win, ierr)
  call MPI_Free_mem(numbers, ierr)
  call MPI_Finalize(ierr)
  print *, 'passed'
contains
  integer function size_in_f08(comm) result(size)
    use mpi_f08, only: MPI_Comm, MPI_Comm_size_f08 => MPI_Comm_size
    type(MPI_Comm), intent(in) :: comm
    call MPI_Comm_size_f08(comm, size)
  end function
end program
