! Files with mpif.h: arguments of kind MPI_OFFSET_KIND, strings with
! trailing blanks, LOGICALs, statuses and requests.
      program files
      implicit none
      include 'mpif.h'
      integer ierr, rank, ranks, file, i, count, request, amode
      integer sent(4), received(16), status(MPI_STATUS_SIZE)
      integer strided, etype, filetype
      integer(kind=MPI_ADDRESS_KIND) lower, extent
      integer(kind=MPI_OFFSET_KIND) place, bytes
      logical flag
      character*40 name, datarep

      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
      name = 'files_mpif.data'
      amode = ior(MPI_MODE_RDWR, MPI_MODE_CREATE)
      call MPI_FILE_OPEN(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL,
     &                   file, ierr)
      call check(ierr .eq. MPI_SUCCESS, 1)
      bytes = 0
      call MPI_FILE_SET_SIZE(file, bytes, ierr)

! Each process sees every element that is its own.
      lower = 0
      extent = 4 * ranks
      call MPI_TYPE_CREATE_RESIZED(MPI_INTEGER, lower, extent, strided,
     &                             ierr)
      call MPI_TYPE_COMMIT(strided, ierr)
      place = 4 * rank
      datarep = 'native'
      call MPI_FILE_SET_VIEW(file, place, MPI_INTEGER, strided, datarep,
     &                       MPI_INFO_NULL, ierr)
      call check(ierr .eq. MPI_SUCCESS, 2)
      datarep = 'xxxxxxxxxxxxxxxxxxxx'
      place = -1
      call MPI_FILE_GET_VIEW(file, place, etype, filetype, datarep,
     &                       ierr)
      call check(place .eq. 4 * rank .and. etype .eq. MPI_INTEGER, 3)
      call check(datarep .eq. 'native', 4)
      call MPI_TYPE_GET_EXTENT(filetype, lower, extent, ierr)
      call check(extent .eq. 4 * ranks, 5)
      call MPI_TYPE_FREE(filetype, ierr)
      do i = 1, 4
        sent(i) = 10 * i + rank
      end do
      place = 0
      call MPI_FILE_WRITE_AT_ALL(file, place, sent, 4, MPI_INTEGER,
     &                           status, ierr)
      call MPI_GET_COUNT(status, MPI_INTEGER, count, ierr)
      call check(count .eq. 4, 6)
      place = 2
      call MPI_FILE_GET_BYTE_OFFSET(file, place, bytes, ierr)
      call check(bytes .eq. 4 * rank + 8 * ranks, 7)

! The whole file, in which the elements of the processes alternate.
      call settle(file)
      place = 0
      call MPI_FILE_SET_VIEW(file, place, MPI_INTEGER, MPI_INTEGER,
     &                       'native', MPI_INFO_NULL, ierr)
      call MPI_FILE_READ_ALL(file, received, 4 * ranks, MPI_INTEGER,
     &                       status, ierr)
      do i = 1, 4 * ranks
        count = 10 * ((i - 1) / ranks + 1) + mod(i - 1, ranks)
        call check(received(i) .eq. count, 8)
      end do
      call MPI_FILE_GET_POSITION(file, place, ierr)
      call check(place .eq. 4 * ranks, 9)
      call MPI_FILE_READ(file, received, 4, MPI_INTEGER, status, ierr)
      call MPI_GET_COUNT(status, MPI_INTEGER, count, ierr)
      call check(ierr .eq. MPI_SUCCESS .and. count .eq. 0, 10)
      call MPI_FILE_GET_SIZE(file, bytes, ierr)
      call check(bytes .eq. 16 * ranks, 11)
      call settle(file)

! Non-blocking.
      place = 4 * rank
      call MPI_FILE_IWRITE_AT(file, place, sent, 4, MPI_INTEGER,
     &                        request, ierr)
      call MPI_WAIT(request, status, ierr)
      call MPI_GET_COUNT(status, MPI_INTEGER, count, ierr)
      call check(count .eq. 4 .and. request .eq. MPI_REQUEST_NULL, 12)
      call settle(file)
      place = 4 * mod(rank + 1, ranks)
      call MPI_FILE_SEEK(file, place, MPI_SEEK_SET, ierr)
      call MPI_FILE_IREAD(file, received, 4, MPI_INTEGER, request, ierr)
      flag = .false.
      do while (.not. flag)
        call MPI_TEST(request, flag, MPI_STATUS_IGNORE, ierr)
      end do
      call check(received(4) .eq. 40 + mod(rank + 1, ranks), 13)
      call settle(file)

! Split collective calls.
      place = 4 * rank
      call MPI_FILE_WRITE_AT_ALL_BEGIN(file, place, sent, 4,
     &                                 MPI_INTEGER, ierr)
      call MPI_FILE_WRITE_AT_ALL_END(file, sent, status, ierr)
      call MPI_GET_COUNT(status, MPI_INTEGER, count, ierr)
      call check(count .eq. 4, 14)
      call settle(file)
      call MPI_FILE_SEEK(file, place, MPI_SEEK_SET, ierr)
      call MPI_FILE_READ_ALL_BEGIN(file, received, 4, MPI_INTEGER, ierr)
      call MPI_FILE_READ_ALL_END(file, received, MPI_STATUS_IGNORE,
     &                           ierr)
      call check(received(1) .eq. 10 + rank, 15)
      call settle(file)

! The shared pointer: the processes in any order.
      place = 0
      call MPI_FILE_SEEK_SHARED(file, place, MPI_SEEK_SET, ierr)
      call MPI_FILE_WRITE_SHARED(file, rank, 1, MPI_INTEGER, status,
     &                           ierr)
      call settle(file)
      call MPI_FILE_GET_POSITION_SHARED(file, place, ierr)
      call check(place .eq. ranks, 16)
      place = 0
      call MPI_FILE_READ_AT(file, place, received, ranks, MPI_INTEGER,
     &                      status, ierr)
      count = 0
      do i = 1, ranks
        count = count + received(i)
      end do
      call check(count .eq. ranks * (ranks - 1) / 2, 17)

      call MPI_FILE_GET_ATOMICITY(file, flag, ierr)
      call check(.not. flag, 18)
      call MPI_FILE_SET_ATOMICITY(file, .true., ierr)
      call MPI_FILE_GET_ATOMICITY(file, flag, ierr)
      call check(flag .and. (flag .eqv. .true.), 19)
      call MPI_TYPE_FREE(strided, ierr)
      call MPI_FILE_CLOSE(file, ierr)
      call check(file .eq. MPI_FILE_NULL, 20)
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) then
        call MPI_FILE_DELETE(name, MPI_INFO_NULL, ierr)
        call check(ierr .eq. MPI_SUCCESS, 21)
        call MPI_FILE_DELETE(name, MPI_INFO_NULL, ierr)
        call MPI_ERROR_CLASS(ierr, i, ierr)
        call check(i .eq. MPI_ERR_NO_SUCH_FILE, 22)
      end if
      call MPI_FINALIZE(ierr)
      print *, 'passed'
      end

! What is written before is read by all after it.
      subroutine settle(file)
      implicit none
      include 'mpif.h'
      integer file, ierr
      call MPI_FILE_SYNC(file, ierr)
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      call MPI_FILE_SYNC(file, ierr)
      end
