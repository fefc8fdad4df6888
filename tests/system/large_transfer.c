/* Two ranks exchange a message of 4 MB in each direction and check every byte, as often as the
 * first argument says (once by default). Exit status 0: all bytes were right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { bytes = 4 << 20 };

static unsigned char byte_at(int at, int from) {
  return (unsigned char)(at * 7 + at / 251 + 13 * from);
}

int main(int argc, char** argv) {
  int rank, wrong = 0;
  MPI_Init(&argc, &argv);
  const int times = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned char* const out = malloc(bytes);
  unsigned char* const in = malloc(bytes);
  for (int at = 0; at < bytes; ++at) out[at] = byte_at(at, rank);
  for (int turn = 0; turn < 2 * times; ++turn) {
    if (turn % 2 == rank) {
      MPI_Send(out, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD);
      continue;
    }
    memset(in, 0, bytes);
    MPI_Recv(in, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int at = 0; at < bytes; ++at) wrong += in[at] != byte_at(at, 1 - rank);
  }
  if (wrong) fprintf(stderr, "rank %d: %d bytes are wrong\n", rank, wrong);
  free(in);
  free(out);
  MPI_Finalize();
  return wrong != 0;
}
