! The module mpi_f08: derived types, optional ierror, array sections, large counts, callbacks.
module operators
  use mpi_f08
  implicit none
contains
  subroutine largest(invec, inoutvec, count, datatype)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: invec, inoutvec
    integer :: count
    type(MPI_Datatype) :: datatype
    integer, pointer :: left(:), right(:)
    call c_f_pointer(invec, left, [count])
    call c_f_pointer(inoutvec, right, [count])
    if (datatype == MPI_INTEGER) right = max(left, right)
  end subroutine
end module

program values
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use mpi_f08
  use operators
  implicit none
  integer :: rank, ranks, i, j, next, before, count, size_of
  integer(MPI_COUNT_KIND) :: large
  integer(MPI_ADDRESS_KIND) :: place, first
  integer :: grid(6, 6), column(6), row(6), pairs(2, 4)
  integer, asynchronous :: later(8), line(8)
  real :: field(4, 3, 2), got(4, 3, 2)
  type(MPI_Comm) :: copy, spawned
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Request) :: requests(2)
  type(MPI_Datatype) :: every_other
  type(MPI_Op) :: op
  type(MPI_Win) :: win
  type(c_ptr) :: memory
  integer, pointer :: shared(:)
  logical :: flag
  type :: labelled
    integer :: number
    character(len=0) :: label
  end type
  type(labelled) :: some(4)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  before = mod(rank - 1 + ranks, ranks)
  call check(MPI_COMM_WORLD == MPI_Comm(257) .and. MPI_COMM_WORLD /= MPI_COMM_SELF, 1)

  ! A row is a section; it is sent as it lies, and received into another section.
  grid = reshape([(i, i = 1, 36)], [6, 6]) + 100 * rank
  call MPI_Irecv(row, 6, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(grid(3, :), 6, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call check(all_equal(row, [(3 + 6 * j + 100 * before, j = 0, 5)]), 2)
  call check(statuses(1)%MPI_TAG == 1 .and. statuses(1)%MPI_SOURCE == before, 3)
  call check(requests(1) == MPI_REQUEST_NULL, 4)
  grid = 0
  call MPI_Sendrecv(row, 6, MPI_INTEGER, before, 2, grid(2::2, 2::2), 6, MPI_INTEGER, next, 2, &
      MPI_COMM_WORLD, status)
  call MPI_Get_count(status, MPI_INTEGER, count)
  call check(count == 6, 5)
  call check(grid(2, 2) == 3 + 100 * rank .and. grid(2, 4) == 21 + 100 * rank, 6)
  call check(sum(grid) == sum(row) + 600 * (rank - before) .and. grid(6, 6) == 0, 7)

  ! Fewer elements than the section has: a part of a column, after whole ones.
  call MPI_Send(grid(1:6:5, 1:6:5), 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD)
  do i = 1, 24
    field(mod(i - 1, 4) + 1, mod((i - 1) / 4, 3) + 1, (i - 1) / 12 + 1) = real(i)
  end do
  got = 0
  call MPI_Sendrecv(field(1:4:2, 1:3:2, :), 5, MPI_REAL, next, 3, got, 5, MPI_REAL, before, 3, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call check(got(1, 1, 1) == 1 .and. got(2, 1, 1) == 3 .and. got(3, 1, 1) == 9 .and. &
             got(4, 1, 1) == 11 .and. got(1, 2, 1) == 13 .and. got(2, 2, 1) == 0, 8)

  ! Bytes of the elements; broadcasts and reductions of sections.
  column = 0
  call MPI_Sendrecv(grid(2, 2::2), 12, MPI_BYTE, rank, 4, column, 12, MPI_BYTE, rank, 4, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call check(all_equal(column(1:4), [3 + 100 * rank, 21 + 100 * rank, 0, 0]), 9)
  grid = rank
  call MPI_Bcast(grid(1::2, 1), 3, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call check(grid(1, 1) == 0 .and. grid(5, 1) == 0 .and. grid(2, 1) == rank, 10)
  grid = 1
  call MPI_Allreduce(MPI_IN_PLACE, grid(2, :), 6, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(grid(2, 6) == ranks .and. grid(1, 6) == 1, 11)

  ! Large counts: the same name, another kind.
  large = 6
  call MPI_Sendrecv(row, large, MPI_INTEGER, rank, 5, column, large, MPI_INTEGER, rank, 5, &
      MPI_COMM_WORLD, status)
  call MPI_Get_count(status, MPI_INTEGER, large)
  call check(large == 6 .and. all_equal(row, column), 12)
  call MPI_Type_size(MPI_INTEGER, large)
  call check(large == 4, 13)
  call MPI_Sizeof(field, size_of)
  call check(size_of == 4, 14)

  call MPI_Op_create(largest, .true., op)
  call MPI_Allreduce(rank, count, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
  call check(count == ranks - 1, 15)
  call MPI_Op_free(op)

  line = rank
  later = -1
  call MPI_Iallgather(rank, 1, MPI_INTEGER, later, 1, MPI_INTEGER, MPI_COMM_WORLD, requests(1))
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  if (.not. MPI_ASYNC_PROTECTS_NONBLOCKING) call MPI_F_sync_reg(later)
  call check(all_equal(later(1:ranks), [(i, i = 0, ranks - 1)]), 16)

  call MPI_Win_allocate(40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, memory, win)
  call c_f_pointer(memory, shared, [10])
  shared = 0
  call MPI_Win_fence(0, win)
  pairs = reshape([1, 2, 3, 4, 5, 6, 7, 8], [2, 4])
  call MPI_Put(pairs(2, :), 4, MPI_INTEGER, next, 1_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  call check(all_equal(shared(1:6), [0, 2, 4, 6, 8, 0]), 17)
  call MPI_Win_free(win)

  call MPI_Comm_dup(MPI_COMM_WORLD, copy)
  call MPI_Comm_test_inter(copy, flag)
  call check(.not. flag, 18)

  ! A datatype that describes every other element of a section: the section is copied, and what was
  ! not received stays as the program has set it meanwhile.
  call check(MPI_SUBARRAYS_SUPPORTED, 19)
  call MPI_Type_vector(3, 1, 2, MPI_INTEGER, every_other)
  call MPI_Type_commit(every_other)
  grid = rank
  grid(2, :) = [(i + 10 * rank, i = 1, 6)]
  call MPI_Irecv(grid(5, :), 1, every_other, before, 6, copy, requests(1))
  grid(5, 2) = 77
  call MPI_Isend(grid(2, :), 1, every_other, next, 6, copy, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call check(all_equal(grid(5, :), [1 + 10 * before, 77, 3 + 10 * before, rank, 5 + 10 * before, &
      rank]), 20)
  call MPI_Get_count(statuses(1), MPI_INTEGER, count)
  call check(count == 3, 21)
  call MPI_Recv_init(grid(6, :), 1, every_other, before, 7, copy, requests(1))
  call MPI_Send_init(grid(2, :), 1, every_other, next, 7, copy, requests(2))
  do i = 1, 2
    grid(2, :) = [(j + 100 * i + rank, j = 1, 6)]
    call MPI_Startall(2, requests)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(all_equal(grid(6, 1::2), [(j + 100 * i + before, j = 1, 6, 2)]), 22)
    call check(all_equal(grid(6, 2::2), [rank, rank, rank]), 23)
  end do
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))
  call MPI_Sendrecv(grid(2, :), 1, every_other, next, 8, grid(4, :), 1, every_other, before, 8, &
      copy, MPI_STATUS_IGNORE)
  call check(all_equal(grid(4, :), [201 + before, rank, 203 + before, rank, 205 + before, rank]), &
      24)

  ! In place; the data is there when the program learns of the end, and is then the program's.
  grid = 1
  call MPI_Iallreduce(MPI_IN_PLACE, grid(2, :), 6, MPI_INTEGER, MPI_SUM, copy, requests(1))
  flag = .false.
  do while (.not. flag)
    call MPI_Request_get_status(requests(1), flag, MPI_STATUS_IGNORE)
  end do
  call check(all_equal(grid(2, :), [(ranks, i = 1, 6)]), 25)
  grid(2, 1) = -3
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  call check(grid(2, 1) == -3 .and. grid(1, 1) == 1 .and. requests(1) == MPI_REQUEST_NULL, 26)

  ! A receive into a copy may not be freed while it is under way; a send may.
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Irecv(grid(5, :), 1, every_other, before, 9, copy, requests(1))
  call MPI_Request_free(requests(1), i)
  call check(i == MPI_ERR_REQUEST, 27)
  call MPI_Barrier(copy)
  call MPI_Isend(grid(2, :), 1, every_other, next, 9, copy, requests(2))
  call MPI_Request_free(requests(2))
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  call check(requests(2) == MPI_REQUEST_NULL .and. all_equal(grid(5, :), &
      [-3, 1, ranks, 1, ranks, 1]), 28)

  ! The index of an operation that has failed counts from one, too.
  requests = MPI_REQUEST_NULL
  do i = 1, 3
    call MPI_Irecv(column, 1, MPI_INTEGER, rank, 10, copy, requests(2))
    call MPI_Send(row, 2, MPI_INTEGER, rank, 10, copy)
    call MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN)
    if (i == 1) call MPI_Waitany(2, requests, j, status, count)
    flag = .false.
    do while (i == 2 .and. .not. flag)
      call MPI_Testany(2, requests, j, flag, status, count)
    end do
    do while (i == 3 .and. .not. flag)
      call MPI_Request_get_status_any(2, requests, j, flag, status, count)
    end do
    call check(count == MPI_ERR_TRUNCATE .and. j == 2, 30)
  end do
  call MPI_Wait(requests(2), MPI_STATUS_IGNORE, count)
  call check(count == MPI_ERR_TRUNCATE .and. requests(2) == MPI_REQUEST_NULL, 31)

  ! What only the root gives is not read elsewhere: here the number of programs.
  count = merge(1, -7, rank == 0)
  call MPI_Comm_spawn_multiple(count, ['./none'], MPI_ARGVS_NULL, [1], [MPI_INFO_NULL], 0, copy, &
      spawned, MPI_ERRCODES_IGNORE, i)
  call check(i /= MPI_SUCCESS, 32)

  ! The address of a section is the one of its first element.
  call MPI_Get_address(grid(2, 3:), place)
  call MPI_Get_address(grid(2, 3), first)
  call check(place == first, 29)
  call MPI_Type_free(every_other)

  ! A section of nothing, whose elements lie apart.
  call MPI_Type_contiguous(0, MPI_CHARACTER, every_other)
  call MPI_Type_commit(every_other)
  call MPI_Sendrecv(some%label, 1, every_other, rank, 8, row, 6, MPI_INTEGER, rank, 8, copy, status)
  call MPI_Get_count(status, MPI_INTEGER, count)
  call check(count == 0, 33)
  call MPI_Type_free(every_other)
  call MPI_Comm_free(copy)
  call PMPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
  print *, 'passed'
contains
  logical function all_equal(left, right)
    integer, intent(in) :: left(:), right(:)
    all_equal = .not. any(left /= right)
  end function
end program
