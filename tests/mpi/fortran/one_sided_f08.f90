! Array sections in one-sided operations without a request, with a datatype that does not divide
! the section's elements evenly: each has a copy until the next synchronisation that ends it.
program one_sided
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use mpi_f08
  implicit none
  integer, parameter :: ways = 8, address = MPI_ADDRESS_KIND, long = selected_int_kind(18)
  integer, asynchronous :: grid(2, 8), before(2, 8), others(2, 2, 4)
  integer :: rank, ranks, next, way, i
  type(MPI_Datatype) :: pair, every_other
  type(MPI_Win) :: win
  type(MPI_Group) :: everyone
  type(c_ptr) :: memory
  integer, pointer, asynchronous :: shared(:)
  integer(long), pointer :: numbers(:)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  call MPI_Comm_group(MPI_COMM_WORLD, everyone)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  call MPI_Type_vector(4, 1, 2, MPI_INTEGER, every_other)
  call MPI_Type_commit(every_other)
  call MPI_Win_allocate(64_address, 4, MPI_INFO_NULL, MPI_COMM_WORLD, memory, win)
  call c_f_pointer(memory, shared, [16])
  call c_f_pointer(memory, numbers, [8])

  do way = 1, ways
    ! Four pairs out of a row, and three into another one.
    call set_shared([(0, i = 1, 16)])
    grid(1, :) = [(i + 100 * rank + 1000 * way, i = 1, 8)]
    call open_epoch()
    call MPI_Put(grid(1, :), 4, pair, next, 2_address, 4, pair, win)
    call end_operations()
    grid = -1  ! is the program's again
    call close_epoch()
    call check(all(shared == [0, 0, (i + 100 * previous() + 1000 * way, i = 1, 8), &
        (0, i = 1, 6)]), 1 + 10 * way)

    call set_shared([(i + 100 * rank, i = 1, 16)])
    grid = -1
    call open_epoch()
    call MPI_Get(grid(2, :), 3, pair, next, 4_address, 3, pair, win)
    call MPI_Get(grid(1, 8:1:-1), 2, pair, MPI_PROC_NULL, 0_address, 2, pair, win)
    call end_operations()
    call check(all(grid(2, :) == [(i + 100 * next, i = 5, 10), -1, -1]), 2 + 10 * way)
    call check(all(grid(1, :) == -1), 3 + 10 * way)
    grid(2, 1) = 7  ! is not written any more
    call close_epoch()
    call check(grid(2, 1) == 7, 4 + 10 * way)

    ! Elements that are not received are the program's meanwhile. Two operations at once.
    others = -1
    call open_epoch()
    call MPI_Get(others(1, :, :), 1, every_other, next, 0_address, 4, MPI_INTEGER, win)
    call MPI_Get(others(2, :, :), 1, pair, next, 8_address, 2, MPI_INTEGER, win)
    others(1, 2, :) = 77
    call end_operations()
    call check(all(others(1, 1, :) == [(i + 100 * next, i = 1, 4)]), 5 + 10 * way)
    call check(all(others(1, 2, :) == 77), 6 + 10 * way)
    call check(all(reshape(others(2, :, :), [8]) == [9 + 100 * next, 10 + 100 * next, &
        (-1, i = 1, 6)]), 7 + 10 * way)
    call close_epoch()

    call set_shared([(i, i = 1, 16)])
    grid(1, :) = [(10 * i, i = 1, 8)]
    before = -1
    call open_epoch()
    call MPI_Accumulate(grid(1, :), 2, pair, next, 0_address, 4, MPI_INTEGER, MPI_SUM, win)
    call MPI_Get_accumulate(grid(1, 8:1:-1), 2, pair, before(2, :), 2, pair, next, 4_address, 2, &
        pair, MPI_SUM, win)
    call end_operations()
    call check(all(before(2, :) == [5, 6, 7, 8, -1, -1, -1, -1]), 8 + 10 * way)
    call close_epoch()
    call check(all(shared == [11, 22, 33, 44, 85, 76, 67, 58, (i, i = 9, 16)]), 9 + 10 * way)
  end do

  ! One element: of the array's size, and one of twice its size.
  call set_shared([(i, i = 1, 16)])
  grid = -1
  grid(1, 1) = 5
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win)
  call MPI_Fetch_and_op(grid(1, :), grid(2, :), MPI_INTEGER, next, 3_address, MPI_SUM, win)
  call MPI_Win_unlock(next, win)
  call MPI_Barrier(MPI_COMM_WORLD)
  call check(all(grid(2, :) == [4, (-1, i = 2, 8)]) .and. shared(4) == 9, 201)
  call set_shared([(0, i = 1, 16)])
  numbers = huge(0) + 5_long
  grid = 0
  grid(1, 1:2) = transfer(1_long, 0, 2)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win)
  call MPI_Fetch_and_op(grid(1, :), grid(2, :), MPI_INTEGER8, next, 2_address, MPI_SUM, win)
  call MPI_Win_flush(next, win)
  call check(transfer(grid(2, 1:2), 0_long) == huge(0) + 5_long, 202)
  grid(1, 1:2) = transfer(huge(0) + 6_long, 0, 2)
  grid(1, 5:6) = transfer(-3_long, 0, 2)
  grid(2, :) = 0
  call MPI_Compare_and_swap(grid(1, 5:), grid(1, :), grid(2, :), MPI_INTEGER8, next, 2_address, win)
  call MPI_Win_unlock(next, win)
  call check(transfer(grid(2, 1:2), 0_long) == huge(0) + 6_long, 203)
  call MPI_Barrier(MPI_COMM_WORLD)
  call check(numbers(2) == -3_long .and. numbers(1) == huge(0) + 5_long, 204)

  ! Fewer elements than the operation needs.
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Win_fence(0, win)
  call MPI_Put(grid(1, :), 5, pair, next, 0_address, 5, pair, win, i)
  call check(i == MPI_ERR_BUFFER, 205)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)

  call MPI_Win_free(win)
  call MPI_Group_free(everyone)
  call MPI_Type_free(pair)
  call MPI_Type_free(every_other)
  call MPI_Finalize()
  print *, 'passed'
contains
  integer function previous()
    previous = mod(rank - 1 + ranks, ranks)
  end function

  subroutine set_shared(to)
    integer, intent(in) :: to(16)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win)
    shared = to
    call MPI_Win_unlock(rank, win)
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  subroutine open_epoch()
    select case (way)
    case (1)
      call MPI_Win_fence(0, win)
    case (2)
      call MPI_Win_post(everyone, 0, win)
      call MPI_Win_start(everyone, 0, win)
    case (3, 4, 5)
      call MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win)
    case default
      call MPI_Win_lock_all(0, win)
    end select
  end subroutine

  ! Of all operations at the origin; in some ways with the epoch.
  subroutine end_operations()
    select case (way)
    case (1)
      call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
    case (2)
      call MPI_Win_complete(win)
    case (3)
      call MPI_Win_unlock(next, win)
    case (4)
      call MPI_Win_flush(next, win)
    case (5)
      call MPI_Win_flush_local(next, win)
    case (6)
      call MPI_Win_unlock_all(win)
    case (7)
      call MPI_Win_flush_all(win)
    case (8)
      call MPI_Win_flush_local_all(win)
    end select
  end subroutine

  subroutine close_epoch()
    select case (way)
    case (2)
      call MPI_Win_wait(win)
    case (4, 5)
      call MPI_Win_unlock(next, win)
    case (7, 8)
      call MPI_Win_unlock_all(win)
    end select
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_sync(win)
  end subroutine
end program
