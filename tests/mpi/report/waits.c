/// Two ranks, one of which lets the other wait as long as it says, in the way that the first
/// argument names. Prints what the page of HEADWAY_REPORT is compared with: "WORD SECONDS".
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { small = 8, large = 4000000, sleep_ms = 300, some = 1000, many = 20000, late_us = 20 };

static int rank;
static char* memory;

static void pause_ms(long ms) {
  const struct timespec length = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&length, NULL);
}

/// The time since `began`, as the upper bound of what can have been waited for.
static void say(const char* word, double began) {
  printf("%s %.6f\n", word, MPI_Wtime() - began);
  fflush(stdout);
}

static void send_late(int bytes) {
  if (rank == 0) {
    pause_ms(sleep_ms);
    MPI_Send(memory, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  } else {
    const double began = MPI_Wtime();
    MPI_Recv(memory, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("waited", began);
  }
}

static void receive_late(void) {
  if (rank == 0) {
    const double began = MPI_Wtime();
    MPI_Send(memory, large, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    say("waited", began);
  } else {
    pause_ms(sleep_ms);
    MPI_Recv(memory, large, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/// The same with non-blocking calls: the receive may be complete before its wait.
static void receive_late_without_blocking(int bytes) {
  MPI_Request r;
  if (rank == 0) {
    const double began = MPI_Wtime();
    MPI_Isend(memory, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    say("waited", began);
  } else {
    pause_ms(sleep_ms);
    MPI_Irecv(memory, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
}

/// Rank 1 is late to an exchange of four messages, for which rank 0 waits together.
__attribute__((noinline)) static void exchange_late(void) {
  enum { part = large / 4 };
  MPI_Request r[4];
  if (rank == 1) pause_ms(sleep_ms);
  for (int i = 0; i < 2; ++i) {
    MPI_Irecv(memory + i * part, part, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &r[i]);
    MPI_Isend(memory + (2 + i) * part, part, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &r[2 + i]);
  }
  const double began = MPI_Wtime();
  MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
  if (rank == 0) say("waited", began);
}

/// Rank 1 comes late to a barrier; the root 0 to a broadcast; rank 1 to a reduction with root 0.
static void collect_late(void) {
  if (rank == 1) pause_ms(sleep_ms);
  double began = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) say("barrier", began);
  if (rank == 0) pause_ms(sleep_ms);
  began = MPI_Wtime();
  MPI_Bcast(memory, small, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 1) say("bcast", began);
  if (rank == 1) pause_ms(sleep_ms);
  began = MPI_Wtime();
  int sum = 0;
  MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) say("reduce", began);
}

/// A receive that is complete long before its wait.
static void receive_early(void) {
  MPI_Request r;
  if (rank == 0) MPI_Send(memory, large, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Irecv(memory, large, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r);
    pause_ms(sleep_ms);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
}

/// Two receives that are waited for together: one sender is late, for both.
static void wait_for_several(void) {
  MPI_Request r[2];
  if (rank == 0) {
    pause_ms(sleep_ms);
    MPI_Send(memory, small, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(memory + small, small, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  } else {
    const double began = MPI_Wtime();
    MPI_Irecv(memory, small, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(memory + small, small, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    say("waited", began);
  }
}

__attribute__((noinline)) static void exchange_some(void) {
  for (int i = 0; i < some; ++i) {
    if (rank == 0) MPI_Send(memory, small, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(memory, small, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(memory, small, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

/// Calls that are too short to be timed each: prints the time of all of them, and what it would be
/// if each hundredth took as long as the fastest one, in which no rank lacked a processor.
static void exchange_many(void) {
  enum { parts = 100 };
  const double began = MPI_Wtime();
  double part_began = began, fastest = 1e9;
  for (int i = 0; i < many; ++i) {
    if (i > 0 && i % (many / parts) == 0) {
      const double now = MPI_Wtime();
      if (now - part_began < fastest) fastest = now - part_began;
      part_began = now;
    }
    if (rank == 0) MPI_Send(memory, small, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(memory, small, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(memory, small, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("undisturbed %.6f\n", fastest * parts);
  if (rank == 0) say("calls", began);
}

/// Rank 1 waits for a moment, many times: prints the time of its receives.
static void send_a_little_late(void) {
  double waited = 0;
  for (int i = 0; i < some; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    if (rank == 0) {
      while (MPI_Wtime() - began < late_us * 1e-6) continue;
      MPI_Send(memory, small, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else {
      MPI_Recv(memory, small, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      waited += MPI_Wtime() - began;
    }
  }
  if (rank == 1) printf("waited %.6f\n", waited);
  fflush(stdout);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* what = argc > 1 ? argv[1] : "";
  memory = calloc(1, large);
  if (memory == NULL) return 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (!strcmp(what, "late_sender")) send_late(small);
  if (!strcmp(what, "late_large_sender")) send_late(large);
  if (!strcmp(what, "late_receiver")) receive_late();
  if (!strcmp(what, "late_irecv")) receive_late_without_blocking(atoi(argv[2]));
  if (!strcmp(what, "late_exchange")) exchange_late();
  if (!strcmp(what, "collectives")) collect_late();
  if (!strcmp(what, "early")) receive_early();
  if (!strcmp(what, "several")) wait_for_several();
  if (!strcmp(what, "exchange")) exchange_some();
  if (!strcmp(what, "many")) exchange_many();
  if (!strcmp(what, "a_little_late")) send_a_little_late();
  if (!strcmp(what, "abort") && rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Barrier(MPI_COMM_WORLD);
  free(memory);
  MPI_Finalize();
  return 0;
}
