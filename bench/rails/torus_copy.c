/// How fast processes on a 2-D torus can exchange blocks at all: the least that each way of copying
/// takes, without a library. Each process has a block for each of four neighbours; it shows them,
/// takes those of its neighbours, and yields the processor when none is there. The processes are
/// bound to the cores in turns. Needs no MPI and no launcher. docs/benchmarks.md compares
/// MPI_Neighbor_alltoall with it.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "mpi/measure.h"
#include "mpi/options.h"
#include "mpi/table.h"

enum { ranks_max = 64, neighbors = 4, warm_up = 20, line_bytes = 64 };

/// Into a place of the process's bank and out of it; the same, written by streaming stores; out of
/// the other process by the kernel; out of memory that both map, as if the program's own buffers
/// lay there; no copy at all, which is what waiting takes.
enum way { through_bank, streamed, by_kernel, shared_buffers, nothing, ways };
static const char* const names[] = {"bank", "streamed", "kernel", "shared", "nothing"};

/// What a process tells the others. Numbers of exchanges only grow.
struct page {
  _Alignas(128) atomic_ulong shown;  ///< (S) release behind the bytes; acquire before reading
  _Alignas(128) atomic_ulong taken;  ///< (T) release behind the reading; acquire before writing
  _Alignas(128) pid_t process;
  double mean_us;
};
struct shared {
  struct page pages[ranks_max];
  _Alignas(128) atomic_int arrived;  ///< at the barriers, which are counted
  atomic_bool refused;               ///< the kernel lets no process read another one
};

struct torus {
  int ranks, rank;
  size_t places;  ///< that a process's bank has
  int source[neighbors];
  size_t bytes;  ///< of a block
  struct shared* all;
  char *banks, *shared_from;  ///< of all ranks
  char *own_from, *into;      ///< at the same address in each process
  unsigned long exchange;
  int barriers;
};

static void await(atomic_ulong* what, unsigned long number) {
  while (atomic_load_explicit(what, memory_order_acquire) < number) sched_yield();
}

static void barrier(struct torus* t) {
  atomic_fetch_add(&t->all->arrived, 1);
  ++t->barriers;
  while (atomic_load(&t->all->arrived) < t->ranks * t->barriers) sched_yield();
}

/// Faster than memcpy where the lines lie in another core's caches (base/copy_between_cores.hpp).
static void copy(char* restrict to, const char* restrict from, size_t bytes) {
  typedef long line __attribute__((vector_size(line_bytes)));
  for (size_t i = 0; i < bytes; i += line_bytes) *(line*)(to + i) = *(const line*)(from + i);
}

static void copy_streamed(char* restrict to, const char* restrict from, size_t bytes) {
#ifdef __SSE2__
  for (size_t i = 0; i < bytes; i += line_bytes) {  // a whole line at a time
    const __m128i* const in = (const __m128i*)(from + i);
    __m128i* const out = (__m128i*)(to + i);
    const __m128i a = _mm_load_si128(in), b = _mm_load_si128(in + 1), c = _mm_load_si128(in + 2),
                  d = _mm_load_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
  _mm_sfence();  // the release store behind it does not order them
#else
  copy(to, from, bytes);
#endif
}

/// The k-th block comes from the opposite one of the k-th neighbour.
static void take(const struct torus* t, int k, enum way how) {
  const int from = t->source[k];
  const size_t all_blocks = neighbors * t->bytes, offset = (size_t)(k ^ 1) * t->bytes;
  char* const to = t->into + (size_t)k * t->bytes;
  const char* bank = t->banks + ((size_t)from * t->places + t->exchange % t->places) * all_blocks;
  if (how == through_bank || how == streamed) copy(to, bank + offset, t->bytes);
  if (how == shared_buffers)
    copy(to, t->shared_from + (size_t)from * all_blocks + offset, t->bytes);
  if (how != by_kernel) return;
  const struct iovec here = {to, t->bytes}, there = {t->own_from + offset, t->bytes};
  if (process_vm_readv(t->all->pages[from].process, &here, 1, &there, 1, 0) != (ssize_t)t->bytes)
    atomic_store(&t->all->refused, true);
}

static void exchange(struct torus* t, enum way how) {
  struct page* const pages = t->all->pages;
  const size_t all_blocks = neighbors * t->bytes;
  const unsigned long now = ++t->exchange;
  if (how == through_bank || how == streamed) {
    char* const bank = t->banks + ((size_t)t->rank * t->places + now % t->places) * all_blocks;
    for (int k = 0; k < neighbors; ++k)
      if (now > t->places) await(&pages[t->source[k]].taken, now - t->places);
    if (how == streamed) copy_streamed(bank, t->own_from, all_blocks);
    else copy(bank, t->own_from, all_blocks);
  }
  atomic_store_explicit(&pages[t->rank].shown, now, memory_order_release);  // (S)
  for (unsigned left = (1u << neighbors) - 1; left != 0;) {
    const unsigned before = left;
    for (int k = 0; k < neighbors; ++k) {
      if ((left >> k & 1) == 0 ||
          atomic_load_explicit(&pages[t->source[k]].shown, memory_order_acquire) < now)  // (S)
        continue;
      take(t, k, how);
      left &= ~(1u << k);
    }
    if (left == before) sched_yield();
  }
  atomic_store_explicit(&pages[t->rank].taken, now, memory_order_release);  // (T)
  if (how == through_bank || how == streamed) return;
  for (int k = 0; k < neighbors; ++k) await(&pages[t->source[k]].taken, now);  // it may change them
}

/// The slowest rank's mean, on rank 0.
static double measure(struct torus* t, enum way how, int exchanges) {
  for (int i = 0; i < warm_up; ++i) exchange(t, how);
  const uint64_t start = now_ns();
  for (int i = 0; i < exchanges; ++i) exchange(t, how);
  t->all->pages[t->rank].mean_us = (double)(now_ns() - start) / exchanges / 1000;
  barrier(t);
  double slowest = 0;
  for (int i = 0; i < t->ranks; ++i)
    if (t->all->pages[i].mean_us > slowest) slowest = t->all->pages[i].mean_us;
  barrier(t);
  return slowest;
}

static void* map_shared(size_t bytes) {
  void* const made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (made != MAP_FAILED) return made;
  perror("torus_copy");
  exit(1);
}

/// Every process has its neighbours on a grid that is as square as possible.
static struct torus make(int ranks, size_t places, size_t bytes) {
  const size_t all_blocks = neighbors * bytes;
  struct torus t = {.ranks = ranks, .places = places, .bytes = bytes};
  t.all = map_shared(sizeof *t.all);
  t.banks = map_shared((size_t)ranks * places * all_blocks);
  t.shared_from = map_shared((size_t)ranks * all_blocks);
  t.own_from = aligned_alloc(line_bytes, all_blocks);
  t.into = aligned_alloc(line_bytes, all_blocks);
  if (t.own_from == NULL || t.into == NULL) exit(1);
  memset(t.banks, 1, (size_t)ranks * places * all_blocks);
  for (int i = 1; i < ranks && t.rank == 0; ++i) {
    const pid_t child = fork();
    if (child < 0) {
      perror("fork");
      exit(1);
    }
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      t.rank = i;
    }
  }
  pin_to_core(t.rank);
  t.all->pages[t.rank].process = getpid();
  memset(t.own_from, t.rank, all_blocks);
  memset(t.shared_from + (size_t)t.rank * all_blocks, t.rank, all_blocks);
  memset(t.into, 0, all_blocks);
  int rows = 1;
  for (int i = 1; i * i <= ranks; ++i)
    if (ranks % i == 0) rows = i;
  const int columns = ranks / rows, row = t.rank / columns, column = t.rank % columns;
  t.source[0] = (row + rows - 1) % rows * columns + column;
  t.source[1] = (row + 1) % rows * columns + column;
  t.source[2] = row * columns + (column + columns - 1) % columns;
  t.source[3] = row * columns + (column + 1) % columns;
  barrier(&t);
  return t;
}

static void check(const struct torus* t) {
  for (int k = 0; k < neighbors; ++k)
    for (size_t i = 0; i < t->bytes; ++i) {
      if (t->into[(size_t)k * t->bytes + i] == (char)t->source[k]) continue;
      fprintf(stderr, "torus_copy: wrong bytes\n");
      if (t->rank != 0) kill(getppid(), SIGTERM);  // with which all others end
      exit(1);
    }
}

int main(int argc, char** argv) {
  struct list sizes = {.count = 0};
  list_read(&sizes, "64K");
  double ranks = 4, places = 8, exchanges = 200, turns = 5;
  const char* csv = NULL;
  const struct option own[] = {{"--sizes", option_list, &sizes, "bytes of a block"},
                               {"--ranks", option_number, &ranks, "processes, 4 to 64"},
                               {"--places", option_number, &places, "of a bank, taken in turns"},
                               {"--iterations", option_number, &exchanges, "of each way in a turn"},
                               {"--turns", option_number, &turns, "of all ways, one after another"},
                               {"--csv", option_text, &csv, "also write the table to this file"},
                               {NULL, option_flag, NULL, NULL}};
  const struct option none[] = {{NULL, option_flag, NULL, NULL}};
  options_read("torus_copy: exchanges on a 2-D torus, by the way of copying.", none, own, argc,
               argv);
  if (ranks < 4 || ranks > ranks_max || places < 1) {
    fprintf(stderr, "torus_copy: --ranks is 4 to %d, --places at least 1\n", ranks_max);
    return 2;
  }
  for (int i = 0; i < sizes.count; ++i)
    if (sizes.value[i] == 0 || sizes.value[i] % line_bytes != 0) {
      fprintf(stderr, "torus_copy: --sizes: %zu is no multiple of %d\n", sizes.value[i],
              line_bytes);
      return 2;
    }
  const struct column columns[] = {{"ranks", 0}, {"bytes", 0}, {"median_us", 1}, {"best_us", 1}};
  struct table table;
  table_open(&table, "way", columns, 4, false);
  for (int i = 0; i < sizes.count; ++i) {
    fflush(stdout);
    struct torus t = make((int)ranks, (size_t)places, sizes.value[i]);
    struct samples of[ways] = {{0}};
    for (int turn = 0; turn < (int)turns; ++turn)
      for (int how = 0; how < ways; ++how) {
        memset(t.into, 0, neighbors * t.bytes);
        samples_add(&of[how], measure(&t, (enum way)how, (int)exchanges));
        if (how != nothing && !(how == by_kernel && t.all->refused)) check(&t);
      }
    if (t.rank != 0) _exit(0);
    while (wait(NULL) > 0) continue;
    for (int how = 0; how < ways; ++how) {
      const struct summary s = summarise(&of[how]);
      samples_free(&of[how]);
      if (how == by_kernel && t.all->refused) {
        fprintf(stderr, "torus_copy: the kernel lets no process read another one\n");
        continue;
      }
      table_row(&table, names[how], (double[]){ranks, (double)sizes.value[i], s.median, s.best});
    }
  }
  return table_close(&table, csv) ? 0 : 1;
}
