/* A stream of blocks from one process to another of the same machine: every word is computed by the
 * producer and read by the consumer.
 *
 *   mpiexec -n 2 stream [--bytes N] [--block N] [--rounds N] [--csv FILE]
 *
 * in place: the producer computes in a buffer, which the consumer reads where it is.
 * ring:     the producer computes in private memory and copies it into a ring in shared memory
 *           of eight blocks, where the consumer reads it; both sides spin.
 * bare:     the producer computes in the ring itself: in place without a library, the most that
 *           there is to gain on this machine.
 *
 * They take turns; the figure is the median of the rounds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <headway/endpoint.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { blocks = 8, rounds_max = 99, tag_block = 1, tag_name = 2, tag_turn = 3 };

struct ring {
  _Alignas(64) atomic_size_t written; /* release: the block is whole -> acquire: it is read */
  _Alignas(64) atomic_size_t taken;   /* release: it was read -> acquire: it is written again */
  _Alignas(4096) unsigned char data[];
};

static size_t bytes = (size_t)1 << 30, block = (size_t)1 << 20;
static int rounds = 5;
static headway_endpoint own;
static headway_address other;
static struct ring* shared;

static void die(const char* what) {
  fprintf(stderr, "stream: %s: %s\n", what, headway_error_text());
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void compute(uint64_t* to, size_t words, uint64_t seed) {
  for (size_t i = 0; i < words; ++i) to[i] = seed + i;
}
static uint64_t sum_of(const uint64_t* from, size_t words) {
  uint64_t sum = 0;
  for (size_t i = 0; i < words; ++i) sum += from[i];
  return sum;
}
static void check(uint64_t sum, uint64_t seed) {
  const uint64_t words = block / 8;
  if (sum != words * seed + words * (words - 1) / 2) die("a block arrived changed");
}

static void say(int32_t tag) {
  if (headway_endpoint_send(own, other, tag, NULL, 0, HEADWAY_FOREVER)) die("send");
}
static void receive_empty(int32_t tag) {
  headway_message got;
  if (headway_endpoint_receive(own, tag, NULL, HEADWAY_FOREVER, &got)) die("receive");
}

static void in_place(int producer) {
  for (size_t i = 0; i < bytes / block; ++i) {
    headway_message got;
    void* made;
    if (producer) {
      if (headway_buffer_request(block, &made)) die("request");
      compute(made, block / 8, i);
      if (headway_endpoint_send(own, other, tag_block, made, block, HEADWAY_FOREVER)) die("send");
    } else {
      if (headway_endpoint_receive(own, tag_block, NULL, HEADWAY_FOREVER, &got)) die("receive");
      check(sum_of(got.data, block / 8), i);
      headway_buffer_release(got.data);
    }
  }
}

/* Without private memory: the producer computes in the ring. */
static void through_a_ring(int producer, uint64_t* private_memory) {
  const size_t first = atomic_load_explicit(&shared->taken, memory_order_relaxed);
  for (size_t i = 0; i < bytes / block; ++i) {
    unsigned char* at = shared->data + (first + i) % blocks * block;
    if (producer) {
      if (private_memory) compute(private_memory, block / 8, i);
      while (atomic_load_explicit(&shared->taken, memory_order_acquire) + blocks <= first + i)
        sched_yield();
      if (private_memory) memcpy(at, private_memory, block);
      else compute((uint64_t*)at, block / 8, i);
      atomic_store_explicit(&shared->written, first + i + 1, memory_order_release);
    } else {
      while (atomic_load_explicit(&shared->written, memory_order_acquire) <= first + i)
        sched_yield();
      check(sum_of((const uint64_t*)at, block / 8), i);
      atomic_store_explicit(&shared->taken, first + i + 1, memory_order_release);
    }
  }
}

/* The producer makes the ring's memory and sends its name; the consumer opens it. */
static void open_ring(int producer) {
  const size_t all = sizeof(struct ring) + blocks * block;
  char name[64];
  int descriptor = -1;
  if (producer) {
    descriptor = memfd_create("stream ring", 0);
    if (descriptor < 0 || ftruncate(descriptor, (off_t)all) != 0) die("memfd_create");
    snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)getpid(), descriptor);
    if (headway_endpoint_send_copy(own, other, tag_name, name, sizeof name, HEADWAY_FOREVER))
      die("send");
  } else {
    headway_message got;
    if (headway_endpoint_receive(own, tag_name, NULL, HEADWAY_FOREVER, &got)) die("receive");
    descriptor = open(got.data, O_RDWR);
    headway_buffer_release(got.data);
    if (descriptor < 0) die("open the ring");
  }
  void* mapped = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) die("mmap");
  shared = mapped;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}
static double median(double* values) {
  qsort(values, (size_t)rounds, sizeof *values, by_value);
  return values[rounds / 2];
}

int main(int argc, char** argv) {
  const char* csv = NULL;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--bytes")) bytes = strtoull(argv[i + 1], NULL, 0);
    if (!strcmp(argv[i], "--block")) block = strtoull(argv[i + 1], NULL, 0);
    if (!strcmp(argv[i], "--rounds")) rounds = atoi(argv[i + 1]);
    if (!strcmp(argv[i], "--csv")) csv = argv[i + 1];
  }
  if (block < 8 || block % 8 || bytes < block || rounds < 1 || rounds > rounds_max)
    die("arguments");
  if (headway_join()) die("join");
  if (headway_process_count() != 2) die("it takes two processes");
  const int producer = headway_process() == 0;
  if (headway_endpoint_open(producer ? "stream/0" : "stream/1", &own)) die("open");
  if (headway_endpoint_lookup(producer ? "stream/1" : "stream/0", HEADWAY_FOREVER, &other))
    die("lookup");
  open_ring(producer);
  uint64_t* private_memory = aligned_alloc(4096, (block + 4095) / 4096 * 4096);
  if (!private_memory) die("memory");

  double took[3][rounds_max];
  for (int round = -1; round < rounds; ++round) { /* the first touches the memory */
    for (int way = 0; way < 3; ++way) {
      say(tag_turn);
      receive_empty(tag_turn);
      const double began = now();
      if (way == 0) {
        in_place(producer);
      } else {
        through_a_ring(producer, way == 1 ? private_memory : NULL);
      }
      say(tag_turn);
      receive_empty(tag_turn);
      if (round >= 0) took[way][round] = now() - began;
    }
  }
  if (producer) {
    const double gigabytes = (double)bytes * 1e-9;
    const double place = gigabytes / median(took[0]), ring = gigabytes / median(took[1]);
    const double bare = gigabytes / median(took[2]);
    printf(
        "%zu MB in blocks of %zu KiB: in place %.2f GB/s, through a ring %.2f GB/s, %.2f times; "
        "without a library %.2f GB/s, %.2f times\n",
        bytes / 1000000, block >> 10, place, ring, place / ring, bare, bare / ring);
    FILE* file = csv ? fopen(csv, "w") : NULL;
    if (file) {
      fprintf(file, "block,in_place_gbps,ring_gbps,bare_gbps\n%zu,%.4f,%.4f,%.4f\n", block, place,
              ring, bare);
      fclose(file);
    }
  }
  headway_endpoint_close(own);
  return 0;
}
