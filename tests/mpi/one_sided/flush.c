/* A flush means that the target's memory has changed: the origin looks at that memory by another
 * channel, a file that both processes map, as soon as the call that ends the operation has
 * returned. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "windows.h"

enum { BYTES = 1 << 20, ROUNDS = 30 };

enum ending { FLUSH, FLUSH_ALL, UNLOCK, UNLOCK_ALL, ENDINGS };
static const char* const ending_names[] = {"flush", "flush_all", "unlock", "unlock_all"};

static void begin(MPI_Win win, int target, enum ending how) {
  if (how == UNLOCK) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
  } else {
    CHECK_OK(MPI_Win_lock_all(0, win));
  }
}
static void end(MPI_Win win, int target, enum ending how) {
  if (how == FLUSH) CHECK_OK(MPI_Win_flush(target, win));
  if (how == FLUSH_ALL) CHECK_OK(MPI_Win_flush_all(win));
  if (how == UNLOCK) CHECK_OK(MPI_Win_unlock(target, win));
  if (how == UNLOCK_ALL) CHECK_OK(MPI_Win_unlock_all(win));
}

/* The bytes that differ from `value`. */
static int count_others(const volatile char* seen, int bytes, char value) {
  int others = 0;
  for (int i = 0; i < bytes; ++i) others += seen[i] != value;
  return others;
}

static void operate(MPI_Win win, int target, MPI_Aint at, int bytes, char value, int accumulates) {
  char* data = malloc((size_t)bytes);
  memset(data, value, (size_t)bytes);
  if (accumulates) {
    CHECK_OK(MPI_Accumulate(data, bytes, MPI_CHAR, target, at, bytes, MPI_CHAR, MPI_REPLACE, win));
  } else {
    CHECK_OK(MPI_Put(data, bytes, MPI_CHAR, target, at, bytes, MPI_CHAR, win));
  }
  CHECK_OK(MPI_Win_flush_local(target, win));
  free(data);
}

static void check_window(MPI_Win win, int target, MPI_Aint at, const char* seen) {
  static const int sizes[] = {1, 8, 4096, 100000, BYTES};
  char value = 1;
  for (int round = 0; round < ROUNDS; ++round)
    for (int how = 0; how < ENDINGS; ++how)
      for (int size = 0; size < 5; ++size, ++value) {
        begin(win, target, (enum ending)how);
        operate(win, target, at, sizes[size], value, round % 2);
        end(win, target, (enum ending)how);
        const int others = count_others(seen, sizes[size], value);
        CHECK(others == 0, "%s, %d bytes: %d have not arrived", ending_names[how], sizes[size],
              others);
        if (how == FLUSH || how == FLUSH_ALL) CHECK_OK(MPI_Win_unlock_all(win));
      }
}

/* A file that all ranks map. */
static char* shared_file(void) {
  char path[64] = "";
  int file = -1;
  if (check_rank == 0) {
    snprintf(path, sizeof path, "/tmp/headway-flush-XXXXXX");
    file = mkstemp(path);
    CHECK(file >= 0 && ftruncate(file, BYTES) == 0, "no file %s", path);
  }
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (check_rank != 0) file = open(path, O_RDWR);
  char* const at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(at != MAP_FAILED, "%s cannot be mapped", path);
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) unlink(path);
  close(file);
  return at;
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  char* const memory = shared_file();
  MPI_Win win;
  CHECK_OK(
      MPI_Win_create(memory, check_rank == 0 ? BYTES : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  if (check_rank == check_size - 1) check_window(win, 0, 0, memory);
  CHECK_OK(MPI_Win_free(&win));

  MPI_Aint at;
  CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  CHECK_OK(MPI_Win_attach(win, memory, BYTES));
  MPI_Get_address(memory, &at);
  MPI_Bcast(&at, 1, MPI_AINT, 0, MPI_COMM_WORLD);
  if (check_rank == check_size - 1) check_window(win, 0, at, memory);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_detach(win, memory));
  CHECK_OK(MPI_Win_free(&win));
  munmap(memory, BYTES);
  return check_end("one_sided flush");
}
