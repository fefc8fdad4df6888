! Files in mpi_f08: array sections as buffers of blocking, non-blocking and split collective calls,
! large counts, and a data representation with large counts. Where the datatype does not divide the
! section's elements evenly, a copy lives until the access ends.
module conversions
  use mpi_f08
  implicit none
  integer :: calls = 0
contains
  ! An element in the file is greater by the extra state.
  subroutine convert(to, from, datatype, count, difference)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), intent(in) :: to, from
    type(MPI_Datatype), intent(in) :: datatype
    integer(MPI_COUNT_KIND), intent(in) :: count
    integer(MPI_ADDRESS_KIND), intent(in) :: difference
    integer, pointer :: into(:), out_of(:)
    call c_f_pointer(to, into, [count])
    call c_f_pointer(from, out_of, [count])
    call check(datatype == MPI_INTEGER, 101)
    into = out_of + int(difference)
    calls = calls + 1
  end subroutine
  subroutine read_converted(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    use, intrinsic :: iso_c_binding, only: c_ptr
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer(MPI_COUNT_KIND) :: count
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    call convert(userbuf, filebuf, datatype, count, -extra_state)
    ierror = merge(MPI_SUCCESS, MPI_ERR_CONVERSION, position == 0)
  end subroutine
  subroutine write_converted(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    use, intrinsic :: iso_c_binding, only: c_ptr
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer(MPI_COUNT_KIND) :: count
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    call convert(filebuf, userbuf, datatype, count, extra_state)
    ierror = merge(MPI_SUCCESS, MPI_ERR_CONVERSION, position == 0)
  end subroutine
  subroutine extent_in_file(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state, lower
    integer :: ierror
    call MPI_Type_get_extent(datatype, lower, extent, ierror)
    call check(extra_state == 1000, 102)
  end subroutine
end module

program files
  use mpi_f08
  use conversions
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND, large = MPI_COUNT_KIND
  character(len=*), parameter :: name = 'files_f08.data  '
  integer, asynchronous :: grid(3, 8), line(8)
  integer :: rank, ranks, i, way, count
  integer(offset) :: first, bytes
  integer(large) :: many
  logical :: flag
  type(MPI_File) :: file
  type(MPI_Datatype) :: pair, every_other, etype, filetype
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  character(len=12) :: datarep

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  call MPI_Type_vector(4, 1, 2, MPI_INTEGER, every_other)
  call MPI_Type_commit(every_other)
  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR + MPI_MODE_CREATE, MPI_INFO_NULL, file)
  call check(file /= MPI_FILE_NULL .and. file == MPI_File(file%MPI_VAL), 1)
  call MPI_File_set_size(file, 0_offset)
  call view_all()
  first = 8 * rank

  ! A datatype describes the section, also one that goes backwards.
  call set_grid(1)
  call MPI_File_write_at_all(file, first, grid(2, :), 8, MPI_INTEGER, status)
  call MPI_Get_count(status, MPI_INTEGER, count)
  call check(count == 8, 2)
  call settle()
  grid = -1
  call MPI_File_read_at_all(file, 8_offset * next(), grid(3, 8:1:-1), 8_large, MPI_INTEGER, status)
  call MPI_Get_count(status, MPI_INTEGER, many)
  call check(many == 8 .and. all(grid(3, :) == values(1, next(), 8, 1, -1)), 3)
  call check(all(grid(1:2, :) == -1), 4)
  call MPI_File_get_size(file, bytes)
  call check(bytes == 32 * ranks, 5)
  call settle()

  ! Non-blocking: the datatype lives until the end.
  call set_grid(2)
  call MPI_File_iwrite_at(file, first, grid(1, 1::2), 4, MPI_INTEGER, request)
  call MPI_Wait(request, status)
  call MPI_Get_count(status, MPI_INTEGER, count)
  call check(count == 4 .and. request == MPI_REQUEST_NULL, 6)
  call MPI_File_iwrite_at_all(file, first + 4, grid(3, 2::2), 4_large, MPI_INTEGER, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  grid = -1
  call MPI_File_iread_at(file, first, grid(2, :), 8, MPI_INTEGER, request)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(request, flag, status)
  end do
  call check(all(grid(2, :) == [values(2, rank, 1, 7, 2), values(2, rank, 2, 8, 2)]), 7)
  call check(all(grid(1::2, :) == -1), 8)
  call settle()

  ! Copies, with narrow and with large counts.
  call set_grid(3)
  call MPI_File_write_at(file, first, grid(2, :), 4, pair, status)
  call MPI_Get_count(status, pair, count)
  call check(count == 4, 9)
  grid = -1
  call MPI_File_read_at(file, first + 4, grid(3, :), 1_large, every_other, status)
  call check(all(grid(3, :) == [5 + base(3, rank), -1, 6 + base(3, rank), -1, 7 + base(3, rank), &
      -1, 8 + base(3, rank), -1]), 10)
  grid(3, :) = -1
  call MPI_File_iread_at(file, first, grid(1, :), 1, every_other, request)
  grid(1, 2) = 77  ! is not read
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(all(grid(1, 1::2) == values(3, rank, 1, 4, 1)), 11)
  call check(grid(1, 2) == 77 .and. all(grid(1, 4::2) == -1) .and. all(grid(2:, :) == -1), 12)
  call settle()

  ! Split collective calls: the copy lives until the call that ends them.
  do way = 1, 6
    call set_grid(10 * way)
    call MPI_File_seek(file, first, MPI_SEEK_SET)
    call MPI_File_seek_shared(file, 0_offset, MPI_SEEK_SET)
    call write_in_parts(way)
    call settle()
    call MPI_File_seek(file, first, MPI_SEEK_SET)
    call MPI_File_seek_shared(file, 0_offset, MPI_SEEK_SET)
    call read_in_parts(way)
    call settle()
  end do

  ! A call that does not end the access leaves its copy.
  grid = -1
  call MPI_File_read_at_all_begin(file, first, grid(1, :), 4, pair)
  call MPI_File_write_all_end(file, grid(1, :), status, i)
  call check(i /= MPI_SUCCESS, 13)
  call MPI_File_read_at_all_end(file, grid(1, :), status)
  call check(all(grid(1, :) == values(60, rank, 1, 8, 1)) .and. all(grid(2:, :) == -1), 14)
  call settle()

  ! The shared pointer: all lines, in any order.
  grid = rank
  call MPI_File_seek_shared(file, 0_offset, MPI_SEEK_SET)
  call MPI_File_write_shared(file, grid(2, :), 8, MPI_INTEGER, status)
  call MPI_File_iwrite_shared(file, grid(1, :), 4, pair, request)
  call MPI_Wait(request, status)
  call settle()
  call MPI_File_get_position_shared(file, bytes)
  call check(bytes == 16 * ranks, 15)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_seek_shared(file, 0_offset, MPI_SEEK_SET)
  grid = -1
  count = 0
  do i = 1, 2
    call MPI_File_read_shared(file, grid(2, :), 4, pair, MPI_STATUS_IGNORE)
    call check(all(grid(2, :) == grid(2, 1)) .and. all(grid(1::2, :) == -1), 16)
    count = count + grid(2, 1)
  end do
  call MPI_Allreduce(MPI_IN_PLACE, count, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(count == ranks * (ranks - 1), 17)
  call settle()

  ! A view of every other element; its handles.
  call MPI_File_set_view(file, 4_offset, MPI_INTEGER, every_other, 'native ', MPI_INFO_NULL)
  call MPI_File_get_view(file, bytes, etype, filetype, datarep)
  call check(bytes == 4 .and. etype == MPI_INTEGER .and. datarep == 'native', 18)
  call MPI_Type_size(filetype, count)
  call check(count == 16 .and. filetype /= MPI_INTEGER, 19)
  call MPI_Type_free(filetype)
  call MPI_File_get_byte_offset(file, 3_offset, bytes)
  call check(bytes == 28, 20)

  ! As external32, in which the first byte counts most.
  call MPI_File_set_view(file, 0_offset, MPI_INTEGER, MPI_INTEGER, 'external32', MPI_INFO_NULL)
  grid = 1
  call MPI_File_write_at_all(file, first, grid(2, :), 8, MPI_INTEGER, status)
  call settle()
  grid = -1
  call MPI_File_read_all_begin(file, grid(1, :), 4, pair)
  call MPI_File_read_all_end(file, grid(1, :), status)
  call check(all(grid(1, :) == 1) .and. all(grid(2:, :) == -1), 21)
  call view_all()
  call MPI_File_read_at_all(file, first, line, 8, MPI_INTEGER, status)
  call check(all(line == transfer([char(0), char(0), char(0), char(1)], 0)), 22)
  call settle()

  ! The program's own representation.
  call MPI_Register_datarep_c('greater  ', read_converted, write_converted, extent_in_file, &
      1000_MPI_ADDRESS_KIND)
  call MPI_Register_datarep_c('greater', read_converted, write_converted, extent_in_file, &
      0_MPI_ADDRESS_KIND, i)
  call check(i == MPI_ERR_DUP_DATAREP, 23)
  call MPI_Register_datarep_c('greater in the file', MPI_CONVERSION_FN_NULL_C, &
      MPI_CONVERSION_FN_NULL_C, extent_in_file, 1000_MPI_ADDRESS_KIND)
  call MPI_File_set_view(file, 0_offset, MPI_INTEGER, MPI_INTEGER, 'greater', MPI_INFO_NULL)
  line = [(i, i = 1, 8)]
  call MPI_File_write_at_all(file, first, line, 8, MPI_INTEGER, status)
  line = -1
  call settle()
  call MPI_File_read_at_all(file, first, line, 8, MPI_INTEGER, status)
  call check(all(line == [(i, i = 1, 8)]) .and. calls >= 2, 24)
  call MPI_File_set_view(file, 0_offset, MPI_INTEGER, MPI_INTEGER, 'greater in the file', &
      MPI_INFO_NULL)
  call MPI_File_read_at_all(file, first, line, 8, MPI_INTEGER, status)
  call check(all(line == [(i + 1000, i = 1, 8)]), 25)
  call view_all()

  ! Fewer elements than the access needs.
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_File_write_at_all_begin(file, first, grid(2, :), 5, pair, i)
  call check(i == MPI_ERR_BUFFER, 26)
  call MPI_File_set_atomicity(file, .true.)
  call MPI_File_get_atomicity(file, flag)
  call check(flag, 27)
  call MPI_File_close(file)
  call check(file == MPI_FILE_NULL, 28)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call MPI_File_delete(name, MPI_INFO_NULL)
  call MPI_Type_free(pair)
  call MPI_Type_free(every_other)
  call MPI_Finalize()
  print *, 'passed'
contains
  integer function next()
    next = mod(rank + 1, ranks)
  end function

  integer function base(round, of)
    integer, intent(in) :: round, of
    base = 1000 * of + 10 * round
  end function

  ! What a process has written in a round, from one element to another one.
  function values(round, of, from, to, step) result(made)
    integer, intent(in) :: round, of, from, to, step
    integer :: made((to - from) / step + 1), at
    made = [(at + base(round, of), at = from, to, step)]
  end function

  subroutine set_grid(round)
    integer, intent(in) :: round
    integer :: row
    do row = 1, 3
      grid(row, :) = values(round, rank, 1, 8, 1)
    end do
  end subroutine

  subroutine view_all()
    call MPI_File_set_view(file, 0_offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
  end subroutine

  ! What is written before is read by all after it.
  subroutine settle()
    call MPI_File_sync(file)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_File_sync(file)
  end subroutine

  subroutine write_in_parts(how)
    integer, intent(in) :: how
    select case (how)
    case (1)
      call MPI_File_write_at_all_begin(file, first, grid(2, :), 4, pair)
      call MPI_File_write_at_all_end(file, grid(2, :), status)
    case (2)
      call MPI_File_write_at_all_begin(file, first, grid(2, :), 8_large, MPI_INTEGER)
      call MPI_File_write_at_all_end(file, grid(2, :), status)
    case (3)
      call MPI_File_write_all_begin(file, grid(2, :), 4, pair)
      call MPI_File_write_all_end(file, grid(2, :), status)
    case (4)
      call MPI_File_write_all_begin(file, grid(2, :), 4_large, pair)
      call MPI_File_write_all_end(file, grid(2, :), status)
    case (5)
      call MPI_File_write_ordered_begin(file, grid(2, :), 4, pair)
      call MPI_File_write_ordered_end(file, grid(2, :), status)
    case (6)
      call MPI_File_write_ordered_begin(file, grid(2, :), 8, MPI_INTEGER)
      call MPI_File_write_ordered_end(file, grid(2, :), status)
    end select
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(count == 8, 200 + how)
  end subroutine

  ! The first four into every other element; the others are the program's meanwhile.
  subroutine read_in_parts(how)
    integer, intent(in) :: how
    grid = -1
    select case (how)
    case (1)
      call MPI_File_read_at_all_begin(file, first, grid(3, :), 1, every_other)
      grid(3, 2) = 77
      call MPI_File_read_at_all_end(file, grid(3, :), status)
    case (2)
      call MPI_File_read_at_all_begin(file, first, grid(3, 1::2), 4_large, MPI_INTEGER)
      grid(3, 2) = 77
      call MPI_File_read_at_all_end(file, grid(3, 1::2), status)
    case (3)
      call MPI_File_read_all_begin(file, grid(3, :), 1, every_other)
      grid(3, 2) = 77
      call MPI_File_read_all_end(file, grid(3, :), status)
    case (4)
      call MPI_File_read_all_begin(file, grid(3, :), 1_large, every_other)
      grid(3, 2) = 77
      call MPI_File_read_all_end(file, grid(3, :), MPI_STATUS_IGNORE)
    case (5)  ! all eight, so that each process reads what it has written
      call MPI_File_read_ordered_begin(file, grid(3, :), 4, pair)
      call MPI_File_read_ordered_end(file, grid(3, :), status)
    case (6)
      call MPI_File_read_ordered_begin(file, grid(3, :), 8, MPI_INTEGER)
      call MPI_File_read_ordered_end(file, grid(3, :), status)
    end select
    if (how < 5) then
      call check(all(grid(3, 1::2) == values(10 * how, rank, 1, 4, 1)), 210 + how)
      call check(grid(3, 2) == 77 .and. all(grid(3, 4::2) == -1), 220 + how)
    else
      call check(all(grid(3, :) == values(10 * how, rank, 1, 8, 1)), 210 + how)
    end if
    call check(all(grid(1:2, :) == -1), 230 + how)
  end subroutine
end program
