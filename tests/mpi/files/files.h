/* What the tests of files have in common: a path that all ranks agree on, patterns, and the bytes
 * of a file as the system sees them. */
#ifndef HEADWAY_TESTS_MPI_FILES_H
#define HEADWAY_TESTS_MPI_FILES_H

#include <unistd.h>

#include "check_all.h"

enum { path_max = 256 };

/* A name that no file has. Collective. */
static inline void new_path(char path[path_max]) {
  if (check_rank == 0) {
    const char* folder = getenv("TMPDIR");
    snprintf(path, path_max, "%s/headway-file-XXXXXX", folder ? folder : "/tmp");
    close(mkstemp(path));
    unlink(path);
  }
  MPI_Bcast(path, path_max, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* Byte `i` of a rank's data. */
static inline unsigned char pattern(int rank, long i) {
  return (unsigned char)(1 + rank * 31 + i * 7 + (i >> 8) * 3);
}

/* A file for all ranks, removed when it is closed. */
static inline MPI_File new_file(int more_modes) {
  char path[path_max];
  MPI_File made;
  new_path(path);
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path,
                         MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE | more_modes, MPI_INFO_NULL,
                         &made));
  return made;
}

static inline int count_of(const MPI_Status* status, MPI_Datatype type) {
  int count = -1;
  MPI_Get_count(status, type, &count);
  return count;
}

/* The bytes [begin, begin + size) of the file, whatever its view is. The view is of bytes then. */
static inline void read_plain(MPI_File file, long begin, void* to, int size) {
  MPI_Status status;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_read_at(file, begin, to, size, MPI_BYTE, &status));
  CHECK(count_of(&status, MPI_BYTE) == size, "%d", count_of(&status, MPI_BYTE));
}

#endif
