/* Messages at the full rate for a given time; the memory in use must not grow.
 *
 *   mpiexec -n 2 soak [SECONDS]
 *
 * Threads of every process send to threads of every other: all sizes, given away, kept, forwarded;
 * end-points open and close meanwhile. Fails if buffers or the process's memory grow by more than a
 * quarter in the last third (and at least 8 MiB), or if a byte is wrong. It goes on until a process
 * has received `messages_min`, because memory levels off by messages, not by time. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "check.h"

enum { pairs = 2, tag_work = 1, tag_end = 2, tag_meet = 3 };
static const size_t sizes[] = {0, 8, 64, 1000, 3000, 20000, 100000, 1000000};

enum { messages_min = 60000 };
static double seconds = 3;
static double began;
static atomic_ulong messages;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Whether this part of the whole is over. */
static int over(double part) {
  return now() - began >= seconds * part &&
         (double)atomic_load_explicit(&messages, memory_order_relaxed) >= messages_min * part;
}

static size_t resident_bytes(void) {
  unsigned long all = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%lu %lu", &all, &resident) != 2) exit(2);
  fclose(file);
  return resident * 4096;
}

static headway_address worker(int process, int pair) {
  char kind[32];
  snprintf(kind, sizeof kind, "soak%d", pair);
  return look_up(kind, process);
}

static void* send_all(void* argument) {
  const int pair = (int)(size_t)argument, n = headway_process_count();
  unsigned char* kept = buffer_of(50000);
  fill(kept, 50000, 1);
  for (unsigned i = 0; !over(1); ++i) {
    const headway_address to = worker((int)(i % (unsigned)n), pair);
    const size_t bytes = sizes[i % 8];
    unsigned char* data = bytes ? buffer_of(bytes) : NULL;
    if (data) data[0] = data[bytes - 1] = (unsigned char)bytes;
    WELL(headway_endpoint_send(0, to, tag_work, data, bytes, LONG_ENOUGH));
    if (i % 64 == 0) WELL(headway_endpoint_send_kept(0, to, tag_work, kept, 50000, LONG_ENOUGH));
    if (i % 256 == 0) {
      headway_endpoint brief;
      WELL(headway_endpoint_open(NULL, &brief));
      WELL(headway_endpoint_close(brief));
    }
  }
  WELL(headway_buffer_release_later(kept));
  for (int p = 0; p < n; ++p)
    WELL(headway_endpoint_send(0, worker(p, pair), tag_end, NULL, 0, LONG_ENOUGH));
  return NULL;
}

static void* receive_all(void* argument) {
  const headway_endpoint at = *(headway_endpoint*)argument;
  for (int ends = 0; ends < headway_process_count();) {
    headway_message got = receive_from(at, HEADWAY_ANY_TAG);
    const unsigned char* data = got.data;
    if (got.bytes == 50000) {
      CHECK(data[0] == 1 && data[49999] == (unsigned char)(49999 * 31 + 49999 / 251 + 1));
    } else if (got.bytes) {
      CHECK(data[0] == (unsigned char)got.bytes && data[got.bytes - 1] == data[0]);
    }
    WELL(headway_buffer_release(got.data));
    atomic_fetch_add_explicit(&messages, 1, memory_order_relaxed);
    ends += got.tag == tag_end;
  }
  return NULL;
}

static void watch_memory(void) {
  const struct timespec brief = {0, 50000000};
  while (!over(2.0 / 3)) nanosleep(&brief, NULL);
  const size_t resident = resident_bytes(), buffers = headway_buffer_memory();
  while (!over(1)) nanosleep(&brief, NULL);
  const size_t later = resident_bytes(), later_buffers = headway_buffer_memory();
  printf("process %d: %lu messages; buffers %zu then %zu KiB, resident %zu then %zu KiB\n",
         headway_process(), atomic_load(&messages), buffers >> 10, later_buffers >> 10,
         resident >> 10, later >> 10);
  const size_t slack = (size_t)8 << 20;
  CHECK(later_buffers < buffers + buffers / 4 + slack);
  CHECK(later < resident + resident / 4 + slack);
}

int main(int argc, char** argv) {
  if (argc > 1) seconds = atof(argv[1]);
  WELL(headway_join());
  const headway_endpoint meeting = open_own("meeting");
  headway_endpoint at[pairs];
  for (int i = 0; i < pairs; ++i) {
    char kind[32];
    snprintf(kind, sizeof kind, "soak%d", i);
    at[i] = open_own(kind);
  }
  meet(meeting, "meeting", tag_meet);
  began = now();
  pthread_t senders[pairs], receivers[pairs];
  for (size_t i = 0; i < pairs; ++i) {
    pthread_create(&receivers[i], NULL, receive_all, &at[i]);
    pthread_create(&senders[i], NULL, send_all, (void*)i);
  }
  watch_memory();
  for (int i = 0; i < pairs; ++i) pthread_join(senders[i], NULL);
  for (int i = 0; i < pairs; ++i) pthread_join(receivers[i], NULL);
  meet(meeting, "meeting", tag_meet);
  return 0;
}
