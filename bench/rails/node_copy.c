/// How fast one process gets bytes from another one on its node: through a ring in shared memory,
/// into which one copies while the other copies out of it, by the ring's size; the same, written by
/// streaming stores, which go past the caches; and by process_vm_readv, without a ring. Needs no
/// MPI and no launcher. The buffer of the other process is written anew before each copy, which is
/// timed from the moment when its first piece can be read. Decisions 21 and 28 are based on this.
#define _GNU_SOURCE
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

enum { bytes_max = 8 << 20, piece = 8192 };

/// Shared by both processes. Counts of bytes only grow.
struct control {
  _Alignas(128) atomic_ulong asked;    ///< copies that the reader wants; release, acquire
  _Alignas(128) atomic_ulong written;  ///< (W) release behind the bytes; acquire before reading
  _Alignas(128) atomic_ulong read;     ///< (R) release behind the reading; acquire before writing
  _Alignas(128) atomic_int how;        ///< before `asked`
};
enum { through_ring, through_ring_streamed, by_kernel };

/// Whole lines, to the beginning of one. Where the processor has no streaming stores, by memcpy.
static void copy_streamed(char* to, const char* from, size_t bytes) {
#ifdef __SSE2__
  for (size_t i = 0; i < bytes; i += sizeof(__m128i))
    _mm_stream_si128((__m128i*)(to + i), _mm_loadu_si128((const __m128i*)(from + i)));
  _mm_sfence();  // the release store behind it does not order them
#else
  memcpy(to, from, bytes);
#endif
}

/// The other process: writes its buffer anew for each copy, and then into the ring, a piece at a
/// time.
static void serve(struct control* c, char* ring, char* own, size_t ring_bytes, size_t bytes) {
  pin_to_core(0);
  unsigned long at = 0;
  const bool streamed = atomic_load(&c->how) == through_ring_streamed;
  for (unsigned long turn = 1;; ++turn) {
    while (atomic_load_explicit(&c->asked, memory_order_acquire) != turn) {
    }
    memset(own, (int)turn, bytes);
    if (atomic_load_explicit(&c->how, memory_order_relaxed) == by_kernel) {
      atomic_store_explicit(&c->written, at += bytes, memory_order_release);
      continue;
    }
    for (size_t done = 0; done < bytes; done += piece) {
      while (at + piece > atomic_load_explicit(&c->read, memory_order_acquire) + ring_bytes) {
      }
      if (streamed) copy_streamed(ring + at % ring_bytes, own + done, piece);
      else memcpy(ring + at % ring_bytes, own + done, piece);
      atomic_store_explicit(&c->written, at += piece, memory_order_release);
    }
  }
}

/// Microseconds of each of `count` copies. `own`: in the other process.
static void measure(struct samples* s, int how, size_t ring_bytes, size_t bytes, int count) {
  char* const shared = mmap(NULL, sizeof(struct control) + bytes_max, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char* const own = malloc(bytes);
  char* const into = malloc(bytes);
  if (shared == MAP_FAILED || own == NULL || into == NULL) {
    perror("node_copy");
    exit(1);
  }
  struct control* const c = (struct control*)shared;
  char* const ring = shared + sizeof(struct control);
  memset(ring, 1, ring_bytes);
  memset(own, 1, bytes);
  memset(into, 1, bytes);
  atomic_store(&c->how, how);
  const pid_t other = fork();
  if (other < 0) {
    perror("fork");
    exit(1);
  }
  if (other == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // it runs until it is killed
    serve(c, ring, own, ring_bytes, bytes);
  }
  pin_to_core(1);
  unsigned long at = 0;
  for (int turn = 1; turn <= count; ++turn) {
    uint64_t start = 0;
    atomic_store_explicit(&c->asked, (unsigned long)turn, memory_order_release);
    if (how == by_kernel) {
      at += bytes;
      while (atomic_load_explicit(&c->written, memory_order_acquire) != at) {
      }
      start = now_ns();
      const struct iovec here = {into, bytes}, there = {own, bytes};
      if (process_vm_readv(other, &here, 1, &there, 1, 0) != (ssize_t)bytes) {
        perror("process_vm_readv");
        exit(3);
      }
    } else {
      for (size_t done = 0; done < bytes; done += piece) {
        while (atomic_load_explicit(&c->written, memory_order_acquire) < at + piece) {
        }
        if (done == 0) start = now_ns();
        memcpy(into + done, ring + at % ring_bytes, piece);
        atomic_store_explicit(&c->read, at += piece, memory_order_release);
      }
    }
    if (into[bytes - 1] != (char)turn) {
      fprintf(stderr, "node_copy: wrong bytes\n");
      exit(1);
    }
    samples_add(s, (double)(now_ns() - start) / 1000);
  }
  kill(other, SIGKILL);
  waitpid(other, NULL, 0);
  munmap(shared, sizeof(struct control) + bytes_max);
  free(own);
  free(into);
}

static void row(struct table* t, const char* label, int how, size_t ring, size_t bytes,
                double iterations) {
  struct samples s = {0};
  measure(&s, how, ring, bytes, (int)iterations);
  const struct summary result = summarise(&s);
  samples_free(&s);
  table_row(t, label,
            (double[]){(double)ring, (double)bytes, result.median, result.best,
                       (double)bytes / result.median / 1000});
}

static void check(const char* name, const struct list* values) {
  for (int i = 0; i < values->count; ++i) {
    const size_t value = values->value[i];
    if (2 * piece <= value && value <= bytes_max && (value & (value - 1)) == 0) continue;
    fprintf(stderr, "node_copy: %s: %zu is no power of two from 16K to 8M\n", name, value);
    exit(2);
  }
}

int main(int argc, char** argv) {
  struct list sizes = {.count = 0}, rings = {.count = 0};
  list_read(&sizes, "64K,512K,4M");
  list_read(&rings, "32K,64K,256K,1M,4M");
  double iterations = 200;
  const char* csv = NULL;
  const struct option own[] = {
      {"--sizes", option_list, &sizes, "bytes of a copy, 16K to 8M; powers of two"},
      {"--rings", option_list, &rings, "bytes of the ring, 16K to 8M; powers of two"},
      {"--iterations", option_number, &iterations, "copies of each kind"},
      {"--csv", option_text, &csv, "also write the table to this file"},
      {NULL, option_flag, NULL, NULL}};
  const struct option none[] = {{NULL, option_flag, NULL, NULL}};
  options_read("node_copy: copies between two processes of a node, by the size of the ring.", none,
               own, argc, argv);
  if (usable_cores() < 2) {
    fprintf(stderr, "node_copy: one usable core only, nothing to measure\n");
    return 3;
  }
  const struct column columns[] = {
      {"ring_bytes", 0}, {"bytes", 0}, {"median_us", 2}, {"best_us", 2}, {"gb_per_s", 1}};
  check("--sizes", &sizes);
  check("--rings", &rings);
  struct table t;
  table_open(&t, "way", columns, 5, false);
  for (int i = 0; i < sizes.count; ++i) {
    for (int r = 0; r < rings.count; ++r) {
      row(&t, "ring", through_ring, rings.value[r], sizes.value[i], iterations);
      row(&t, "streamed", through_ring_streamed, rings.value[r], sizes.value[i], iterations);
    }
    row(&t, "kernel", by_kernel, 0, sizes.value[i], iterations);
  }
  return table_close(&t, csv) ? 0 : 1;
}
