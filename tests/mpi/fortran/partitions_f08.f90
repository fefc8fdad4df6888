! Array sections in partitioned communication, in a ring. Where a partition is a number of whole
! sub-arrays of the section a datatype describes it, else the library copies each partition.
program partitions
  use mpi_f08
  implicit none
  integer, parameter :: none = -1
  integer, asynchronous :: out(2, 8), in(2, 8), solid(2, 4, 4), got(2, 4, 4)
  integer :: rank, ranks, next, before, round, i
  type(MPI_Datatype) :: pair, every_other, interleaved, made
  type(MPI_Request) :: sent, received
  type(MPI_Status) :: status

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  before = mod(rank - 1 + ranks, ranks)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  call MPI_Type_vector(2, 1, 2, MPI_INTEGER, made)
  call MPI_Type_create_resized(made, 0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND, every_other)
  call MPI_Type_commit(every_other)
  call MPI_Type_create_resized(made, 0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND, interleaved)
  call MPI_Type_commit(interleaved)
  call MPI_Type_free(made)

  ! Two elements a partition: described, and received backwards.
  call MPI_Psend_init(out(1, :), 4, 2_MPI_COUNT_KIND, MPI_INTEGER, next, 1, MPI_COMM_WORLD, &
      MPI_INFO_NULL, sent)
  call MPI_Precv_init(in(2, 8:1:-1), 4, 2_MPI_COUNT_KIND, MPI_INTEGER, before, 1, MPI_COMM_WORLD, &
      MPI_INFO_NULL, received)
  call exchange(4, 2, [(i, i = 1, 8)], [(i, i = 8, 1, -1)], 2, 100)

  ! One pair a partition, which is two elements of the array: copied. The receiver has the same.
  call MPI_Psend_init(out(1, :), 4, 1_MPI_COUNT_KIND, pair, next, 2, MPI_COMM_WORLD, &
      MPI_INFO_NULL, sent)
  call MPI_Precv_init(in(1, :), 4, 1_MPI_COUNT_KIND, pair, before, 2, MPI_COMM_WORLD, &
      MPI_INFO_NULL, received)
  call exchange(4, 2, [(i, i = 1, 8)], [(i, i = 1, 8)], 1, 200)

  ! Every other element of the section; the others stay the program's.
  call MPI_Psend_init(out(1, :), 2, 1_MPI_COUNT_KIND, every_other, next, 3, MPI_COMM_WORLD, &
      MPI_INFO_NULL, sent)
  call MPI_Precv_init(in(1, :), 2, 1_MPI_COUNT_KIND, every_other, before, 3, MPI_COMM_WORLD, &
      MPI_INFO_NULL, received)
  call exchange(2, 2, [1, 3, 5, 7], [1, 3, 5, 7], 1, 300)

  ! Partitions whose elements are interleaved: 1 and 3, 2 and 4, 3 and 5, ... of the sender, of
  ! which only the first two are used.
  call MPI_Psend_init(out(1, :), 2, 1_MPI_COUNT_KIND, interleaved, next, 4, MPI_COMM_WORLD, &
      MPI_INFO_NULL, sent)
  call MPI_Precv_init(in(1, :), 2, 1_MPI_COUNT_KIND, interleaved, before, 4, MPI_COMM_WORLD, &
      MPI_INFO_NULL, received)
  call exchange(2, 2, [1, 3, 2, 4], [1, 3, 2, 4], 1, 400)

  ! Other partitions at the two sides: two of two pairs, and eight elements.
  call MPI_Psend_init(out(1, :), 2, 2_MPI_COUNT_KIND, pair, next, 5, MPI_COMM_WORLD, &
      MPI_INFO_NULL, sent)
  call MPI_Precv_init(in(1, :), 8, 1_MPI_COUNT_KIND, MPI_INTEGER, before, 5, MPI_COMM_WORLD, &
      MPI_INFO_NULL, received)
  call exchange(2, 4, [(i, i = 1, 8)], [(i, i = 1, 8)], 1, 500)

  ! Partitions that end within an element of the array: four of six bytes.
  out(1, :) = [(600 + i + rank, i = 1, 8)]
  in = none
  call MPI_Psend_init(out(1, :), 4, 6_MPI_COUNT_KIND, MPI_BYTE, next, 6, MPI_COMM_WORLD, &
      MPI_INFO_NULL, sent)
  call MPI_Precv_init(in(2, :), 4, 6_MPI_COUNT_KIND, MPI_BYTE, before, 6, MPI_COMM_WORLD, &
      MPI_INFO_NULL, received)
  call MPI_Start(received)
  call MPI_Start(sent)
  call MPI_Pready_list(2, [3, 1], sent)
  call MPI_Pready(0, sent)
  call MPI_Pready(2, sent)
  call finish()
  call check(all(in(2, :) == [(600 + i + before, i = 1, 6), none, none]), 601)
  call check(all(in(1, :) == none), 602)

  ! Two dimensions: whole columns, and a third of a column.
  call MPI_Psend_init(solid(1, 1:4:2, :), 3, 2_MPI_COUNT_KIND, MPI_INTEGER, next, 9, &
      MPI_COMM_WORLD, MPI_INFO_NULL, sent)
  call MPI_Precv_init(got(2, 1:3, 1:4:2), 6, 1_MPI_COUNT_KIND, MPI_INTEGER, before, 9, &
      MPI_COMM_WORLD, MPI_INFO_NULL, received)
  solid = reshape([(i + 100 * rank, i = 1, 32)], [2, 4, 4])
  got = none
  call MPI_Start(received)
  call MPI_Start(sent)
  call MPI_Pready_range(0, 2, sent)
  call finish()
  call check(all(got(2, 1:3, 1) == [1, 5, 9] + 100 * before), 701)
  call check(all(got(2, 1:3, 3) == [13, 17, 21] + 100 * before), 702)
  call check(count(got /= none) == 6, 703)

  ! Fewer elements than the partitions have.
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Psend_init(out(1, :), 5, 1_MPI_COUNT_KIND, pair, next, 7, MPI_COMM_WORLD, &
      MPI_INFO_NULL, sent, i)
  call check(i == MPI_ERR_BUFFER, 801)

  ! No process at the other end.
  call MPI_Precv_init(in(1, :), 4, 1_MPI_COUNT_KIND, pair, MPI_PROC_NULL, 8, MPI_COMM_WORLD, &
      MPI_INFO_NULL, received)
  call MPI_Start(received)
  call MPI_Wait(received, status)
  call check(status%MPI_SOURCE == MPI_PROC_NULL, 802)
  call MPI_Request_free(received)

  call MPI_Type_free(pair)
  call MPI_Type_free(every_other)
  call MPI_Type_free(interleaved)
  call MPI_Finalize()
  print *, 'passed'
contains
  ! Two rounds of `parts` partitions of `each` elements: element i of all of them is out(1, from(i)),
  ! and becomes in(row, into(i)) of the next rank. A partition gets its values only before it is
  ! ready. Elements of `row` that are not received are changed while the operation is under way.
  subroutine exchange(parts, each, from, into, row, number)
    integer, intent(in) :: parts, each, from(:), into(:), row, number
    integer :: part, first, last, expected(8)
    logical :: arrived
    do round = 1, 2
      in = none
      out = none
      call MPI_Start(received)
      call MPI_Start(sent)
      expected = number
      expected(into) = none
      where (expected == number) in(row, :) = number
      do part = parts - 1, 0, -1
        first = part * each + 1
        last = first + each - 1
        out(1, from(first:last)) = [(value(i, rank, number), i = first, last)]
        call MPI_Pready(part, sent)
      end do
      if (number /= 500) then  ! there the receiver has other partitions
        do part = 0, parts - 1
          arrived = .false.
          do while (.not. arrived)
            call MPI_Parrived(received, part, arrived)
          end do
          first = part * each + 1
          last = first + each - 1
          call check(all(in(row, into(first:last)) == &
              [(value(i, before, number), i = first, last)]), number + 1)
        end do
      end if
      call MPI_Wait(sent, MPI_STATUS_IGNORE)
      call MPI_Wait(received, status)
      call MPI_Get_count(status, MPI_INTEGER, i)
      call check(i == size(into), number + 2)
      expected(into) = [(value(i, before, number), i = 1, size(into))]
      call check(all(in(row, :) == expected), number + 3)
      call check(all(in(3 - row, :) == none), number + 4)
      call check(all(out(1, from) == [(value(i, rank, number), i = 1, size(from))]), number + 5)
    end do
    call MPI_Request_free(sent)
    call MPI_Request_free(received)
  end subroutine

  integer function value(i, of, number)
    integer, intent(in) :: i, of, number
    value = 10000 * number + 1000 * round + 100 * of + i
  end function

  subroutine finish()
    call MPI_Wait(sent, MPI_STATUS_IGNORE)
    call MPI_Wait(received, MPI_STATUS_IGNORE)
    call MPI_Request_free(sent)
    call MPI_Request_free(received)
  end subroutine
end program
