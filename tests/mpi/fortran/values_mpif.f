! mpif.h in fixed form: what differs from C in calls with implicit interfaces.
      program values
      implicit none
      include 'mpif.h'
      integer ierr, rank, ranks, peer, i, done, length
      integer sent(4), received(4), status(MPI_STATUS_SIZE)
      integer requests(3), statuses(MPI_STATUS_SIZE,3), indices(3)
      integer keyval, copy, op, total, expected, newtype
      integer places(2), lengths(2), kinds(2)
      integer(kind=MPI_ADDRESS_KIND) attribute, extra
      logical flag
      double precision start
      character*(MPI_MAX_PROCESSOR_NAME) name
      character*20 text
      external add

      call MPI_INIT(ierr)
      call check(ierr .eq. MPI_SUCCESS, 1)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
      start = MPI_WTIME()
      peer = mod(rank + 1, ranks)

      do i = 1, 4
        sent(i) = 10 * rank + i
      end do
      call MPI_IRECV(received, 4, MPI_INTEGER, MPI_ANY_SOURCE, 7,
     &               MPI_COMM_WORLD, requests(1), ierr)
      requests(2) = MPI_REQUEST_NULL
      requests(3) = MPI_REQUEST_NULL
      call MPI_SEND(sent, 4, MPI_INTEGER, peer, 7, MPI_COMM_WORLD,
     &              ierr)
      call MPI_WAITANY(3, requests, i, status, ierr)
      call check(i .eq. 1, 2)
      call check(requests(1) .eq. MPI_REQUEST_NULL, 3)
      call check(status(MPI_TAG) .eq. 7, 4)
      call check(status(MPI_SOURCE) .eq. mod(rank-1+ranks, ranks), 5)
      call check(received(4) .eq. 10 * status(MPI_SOURCE) + 4, 6)
      call MPI_GET_COUNT(status, MPI_INTEGER, i, ierr)
      call check(i .eq. 4, 7)
      call MPI_WAITANY(3, requests, i, MPI_STATUS_IGNORE, ierr)
      call check(i .eq. MPI_UNDEFINED, 8)

      call MPI_IRECV(received, 4, MPI_INTEGER, MPI_ANY_SOURCE, 8,
     &               MPI_COMM_WORLD, requests(3), ierr)
      call MPI_ISEND(sent, 4, MPI_INTEGER, peer, 8, MPI_COMM_WORLD,
     &               requests(2), ierr)
      call MPI_WAITALL(3, requests, statuses, ierr)
      call check(statuses(MPI_TAG,3) .eq. 8, 9)
      call MPI_ISEND(sent, 4, MPI_INTEGER, MPI_PROC_NULL, 8,
     &               MPI_COMM_WORLD, requests(2), ierr)
      call MPI_WAITSOME(3, requests, done, indices,
     &                  MPI_STATUSES_IGNORE, ierr)
      call check(done .eq. 1 .and. indices(1) .eq. 2, 10)
      call MPI_TESTANY(3, requests, i, flag, status, ierr)
      call check(flag .and. i .eq. MPI_UNDEFINED, 11)

      total = rank + 1
      call MPI_ALLREDUCE(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, ierr)
      expected = ranks * (ranks + 1) / 2
      call check(total .eq. expected, 12)
      call MPI_OP_CREATE(add, .true., op, ierr)
      i = rank + 1
      call MPI_ALLREDUCE(i, total, 1, MPI_INTEGER, op, MPI_COMM_WORLD,
     &                   ierr)
      call check(total .eq. expected, 13)
      call MPI_OP_COMMUTATIVE(op, flag, ierr)
      call check(flag, 14)
      call MPI_OP_FREE(op, ierr)
      call check(op .eq. MPI_OP_NULL, 15)

      name = 'x'
      call MPI_GET_PROCESSOR_NAME(name, length, ierr)
      call check(len_trim(name) .eq. length, 16)
      text = 'a name'
      call MPI_COMM_DUP(MPI_COMM_WORLD, copy, ierr)
      call MPI_COMM_SET_NAME(copy, text, ierr)
      text = 'xxxxxxxxxxxxxxxxxxxx'
      call MPI_COMM_GET_NAME(copy, text, length, ierr)
      call check(text .eq. 'a name' .and. length .eq. 6, 17)
      call MPI_COMM_FREE(copy, ierr)
      call check(copy .eq. MPI_COMM_NULL, 18)

      call MPI_INITIALIZED(flag, ierr)
      call check(flag .and. (flag .eqv. .true.), 19)
      call MPI_FINALIZED(flag, ierr)
      call check(.not. flag, 20)

      extra = 5
      call MPI_COMM_CREATE_KEYVAL(MPI_COMM_DUP_FN,
     &     MPI_COMM_NULL_DELETE_FN, keyval, extra, ierr)
      attribute = 123456789012_8
      call MPI_COMM_SET_ATTR(MPI_COMM_WORLD, keyval, attribute, ierr)
      call MPI_COMM_DUP(MPI_COMM_WORLD, copy, ierr)
      attribute = 0
      call MPI_COMM_GET_ATTR(copy, keyval, attribute, flag, ierr)
      call check(flag .and. attribute .eq. 123456789012_8, 21)
      call MPI_COMM_FREE(copy, ierr)
      call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, attribute,
     &                       flag, ierr)
      call check(flag .and. attribute .ge. 32767, 22)

      call MPI_GET_ADDRESS(total, attribute, ierr)
      call MPI_TYPE_CREATE_HINDEXED(1, 1, attribute, MPI_INTEGER,
     &                              newtype, ierr)
      call MPI_TYPE_COMMIT(newtype, ierr)
      total = rank
      call MPI_BCAST(MPI_BOTTOM, 1, newtype, 0, MPI_COMM_WORLD, ierr)
      call check(total .eq. 0, 23)
      call MPI_TYPE_FREE(newtype, ierr)

      call check(MPI_WTIME() .ge. start, 24)
      call PMPI_BARRIER(MPI_COMM_WORLD, ierr)
! Names that MPI-3.0 removed.
      call MPI_ADDRESS(sent(1), places(1), ierr)
      call MPI_ADDRESS(sent(4), places(2), ierr)
      places(2) = places(2) - places(1)
      call check(places(2) .eq. 12, 25)
      places(1) = 0
      lengths(1) = 1
      lengths(2) = 1
      kinds(1) = MPI_INTEGER
      kinds(2) = MPI_INTEGER
      call MPI_TYPE_STRUCT(2, lengths, places, kinds, newtype, ierr)
      call MPI_TYPE_COMMIT(newtype, ierr)
      call MPI_TYPE_EXTENT(newtype, length, ierr)
      call check(length .eq. 16, 26)
      call MPI_TYPE_UB(newtype, length, ierr)
      call check(length .eq. 16, 27)
      do i = 1, 4
        sent(i) = i
        received(i) = 0
      end do
      call MPI_SENDRECV(sent, 1, newtype, rank, 9, received, 2,
     &                  MPI_INTEGER, rank, 9, MPI_COMM_WORLD,
     &                  MPI_STATUS_IGNORE, ierr)
      call check(received(1) .eq. 1 .and. received(2) .eq. 4, 28)
      call MPI_TYPE_FREE(newtype, ierr)
      call MPI_TYPE_HVECTOR(2, 1, 8, MPI_INTEGER, newtype, ierr)
      call MPI_TYPE_EXTENT(newtype, length, ierr)
      call check(length .eq. 12, 29)
      call MPI_TYPE_LB(newtype, length, ierr)
      call check(length .eq. 0, 30)
      call MPI_TYPE_FREE(newtype, ierr)
      call MPI_ERRHANDLER_SET(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
      call MPI_ERRHANDLER_GET(MPI_COMM_SELF, op, ierr)
      call check(op .eq. MPI_ERRORS_RETURN, 31)
      call MPI_FINALIZE(ierr)
      print *, 'passed'
      end

      subroutine add(in, inout, count, type)
      implicit none
      integer count, type, i
      integer in(count), inout(count)
      do i = 1, count
        inout(i) = inout(i) + in(i)
      end do
      end
