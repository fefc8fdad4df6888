! Files in the module mpi: keyword arguments, an error handler, and data representations.
module callbacks
  use mpi
  implicit none
  integer :: reads = 0, errors = 0, last_file = 0, last_error = 0
contains
  ! An element in the file is less by the extra state.
  subroutine read_less(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    integer :: datatype, count, ierror
    integer :: userbuf(count), filebuf(count)
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    call check(datatype == MPI_INTEGER .and. position == 0, 101)
    userbuf = filebuf + int(extra_state)
    reads = reads + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine refuse(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    integer :: userbuf(*), filebuf(*), datatype, count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    ierror = MPI_ERR_CONVERSION
  end subroutine
  subroutine extent_in_file(datatype, extent, extra_state, ierror)
    integer :: datatype, ierror
    integer(MPI_ADDRESS_KIND) :: extent, extra_state, lower
    call MPI_Type_get_extent(datatype, lower, extent, ierror)
    call check(extra_state == 500, 102)
  end subroutine
  subroutine count_error(file, code)
    integer :: file, code
    errors = errors + 1
    last_file = file
    last_error = code
  end subroutine
end module

program files
  use mpi
  use callbacks
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  character(len=*), parameter :: name = 'files_mpi.data'
  integer :: ierr, rank, ranks, file, handler, group, info, count, amode, i
  integer :: status(MPI_STATUS_SIZE), line(6)
  integer(offset) :: first, bytes
  integer(MPI_ADDRESS_KIND) :: extent
  logical :: flag
  character(len=20) :: text

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)

  ! Errors of calls without a file: the handler of MPI_FILE_NULL, which returns.
  call MPI_File_open(MPI_COMM_SELF, 'no such folder/file', MPI_MODE_RDONLY, MPI_INFO_NULL, file, &
      ierr)
  call MPI_Error_class(ierr, i, ierr)
  call check(i == MPI_ERR_NO_SUCH_FILE, 1)

  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, 'access_style', 'write_once', ierr)
  call MPI_File_open(comm=MPI_COMM_WORLD, filename=name, amode=MPI_MODE_RDWR + MPI_MODE_CREATE, &
      info=info, fh=file, ierror=ierr)
  call check(ierr == MPI_SUCCESS, 2)
  call MPI_Info_free(info, ierr)
  call MPI_File_get_info(file, info, ierr)
  call check(ierr == MPI_SUCCESS .and. info /= MPI_INFO_NULL, 3)
  call MPI_Info_free(info, ierr)
  call MPI_File_get_amode(file, amode, ierr)
  call check(amode == MPI_MODE_RDWR + MPI_MODE_CREATE, 4)
  call MPI_File_get_group(file, group, ierr)
  call MPI_Group_size(group, count, ierr)
  call check(count == ranks, 5)
  call MPI_Group_free(group, ierr)
  call MPI_File_set_size(file, 0_offset, ierr)
  call MPI_File_preallocate(file, 24_offset * ranks, ierr)
  call MPI_File_get_size(file, bytes, ierr)
  call check(bytes == 24 * ranks, 6)
  call MPI_File_get_type_extent(file, MPI_DOUBLE_PRECISION, extent, ierr)
  call check(extent == 8, 7)
  first = 6 * rank

  ! A representation whose file differs in reading alone.
  call MPI_Register_datarep('less   ', read_less, MPI_CONVERSION_FN_NULL, extent_in_file, &
      500_MPI_ADDRESS_KIND, ierr)
  call check(ierr == MPI_SUCCESS, 8)
  call MPI_Register_datarep('less', read_less, read_less, extent_in_file, 0_MPI_ADDRESS_KIND, ierr)
  call check(ierr == MPI_ERR_DUP_DATAREP, 9)
  call MPI_File_set_view(file, 0_offset, MPI_INTEGER, MPI_INTEGER, 'less ', MPI_INFO_NULL, ierr)
  call check(ierr == MPI_SUCCESS, 10)
  text = 'xxxxxxxxxxxxxxxxxxxx'
  call MPI_File_get_view(file, bytes, i, count, text, ierr)
  call check(bytes == 0 .and. i == MPI_INTEGER .and. count == MPI_INTEGER .and. text == 'less', 11)
  line = [(i + 100 * rank, i = 1, 6)]
  call MPI_File_write_at_all(file, first, line, 6, MPI_INTEGER, status, ierr)
  call MPI_Get_count(status, MPI_INTEGER, count, ierr)
  call check(count == 6, 12)
  line = -1
  call MPI_File_read_at_all(file, first, line, 6, MPI_INTEGER, status, ierr)
  call check(all(line == [(i + 100 * rank + 500, i = 1, 6)]) .and. reads >= 1, 13)

  ! What the program's function returns is an error; the file's handler is called.
  call MPI_Register_datarep('refused', MPI_CONVERSION_FN_NULL, refuse, extent_in_file, &
      500_MPI_ADDRESS_KIND, ierr)
  call MPI_File_create_errhandler(count_error, handler, ierr)
  call MPI_File_set_errhandler(file, handler, ierr)
  call MPI_Errhandler_free(handler, ierr)
  call MPI_File_set_view(file, 0_offset, MPI_INTEGER, MPI_INTEGER, 'refused', MPI_INFO_NULL, ierr)
  call check(ierr == MPI_SUCCESS .and. errors == 0, 14)
  call MPI_File_write_at(file, first, line, 6, MPI_INTEGER, status, ierr)
  call MPI_Error_class(ierr, i, ierr)
  call check(i == MPI_ERR_CONVERSION .and. errors == 1 .and. last_file == file, 15)
  call MPI_File_set_view(file, 0_offset, MPI_INTEGER, MPI_INTEGER, 'none', MPI_INFO_NULL, ierr)
  call check(ierr /= MPI_SUCCESS .and. errors == 2 .and. last_error == ierr, 16)
  call MPI_File_set_view(file, 0_offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)

  ! In the order of the ranks.
  line = rank
  call MPI_File_write_ordered(file, line, 1 + rank, MPI_INTEGER, status, ierr)
  call MPI_File_sync(file, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_File_sync(file, ierr)
  line = -1
  call MPI_File_seek_shared(file, 0_offset, MPI_SEEK_SET, ierr)
  call MPI_File_read_ordered(file, line, 1 + rank, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call check(all(line(1:1 + rank) == rank) .and. all(line(2 + rank:) == -1), 17)

  flag = .true.
  call MPI_File_get_atomicity(file, flag, ierr)
  call check(.not. flag, 18)
  call MPI_File_set_atomicity(file, .true., ierr)
  call MPI_File_get_atomicity(file, flag, ierr)
  call check(flag .and. (flag .eqv. .true.), 19)
  call MPI_File_close(file, ierr)
  call check(file == MPI_FILE_NULL, 20)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    call MPI_File_delete(name, MPI_INFO_NULL, ierr)
    call check(ierr == MPI_SUCCESS, 21)
  end if
  call MPI_Finalize(ierr)
  print *, 'passed'
end program
