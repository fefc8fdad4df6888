/* Small messages that follow each other closely, among larger ones: each end-point gets them all,
 * whole and in order. The last of them arrive although their sender only computes after sending. */
#define _GNU_SOURCE
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { messages = 30000, tag_many = 1, tag_path = 2, tag_last = 3, tag_meet = 200, last = 40 };

static size_t size_of(unsigned number) {
  if (number % 4000 == 3999) return 200000;
  if (number % 500 == 499) return 3000;
  return number % 7 == 0 ? 0 : number % 3 == 0 ? number % 2048 + 4 : 16;
}

static void send_one(headway_endpoint at, headway_address to, int32_t tag, unsigned number,
                     size_t bytes) {
  unsigned char* data = bytes ? buffer_of(bytes) : NULL;
  if (data) fill(data, bytes, number);
  WELL(headway_endpoint_send(at, to, tag, data, bytes, LONG_ENOUGH));
}

static void send_many(headway_endpoint at, const headway_address to[2]) {
  for (unsigned i = 0; i < messages; ++i) send_one(at, to[i % 2], tag_many, i, size_of(i));
}

static void receive_many(const headway_endpoint at[2]) {
  unsigned next[2] = {0, 1};
  for (unsigned i = 0; i < messages; ++i) {
    const int which = (int)(i / 3 % 2);
    const int from = next[which] < messages ? which : 1 - which;
    headway_message got = receive_from(at[from], tag_many);
    const unsigned number = next[from];
    next[from] += 2;
    CHECK(got.bytes == size_of(number));
    CHECK(is_filled(got.data, got.bytes, number));
    WELL(headway_buffer_release(got.data));
  }
}

/* Computes without a call of the library until the other process has removed the file. */
static void send_and_compute(headway_endpoint at, headway_address to) {
  char path[] = "/tmp/headway-packed-XXXXXX";
  const int file = mkstemp(path);
  CHECK(file >= 0);
  close(file);
  WELL(headway_endpoint_send_copy(at, to, tag_path, path, sizeof path, LONG_ENOUGH));
  for (unsigned i = 0; i < last; ++i) send_one(at, to, tag_last, i, 32);
  struct timespec began, now;
  clock_gettime(CLOCK_MONOTONIC, &began);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
    CHECK(now.tv_sec - began.tv_sec < 30);
  } while (access(path, F_OK) == 0);
}

static void receive_and_tell(headway_endpoint at) {
  headway_message path = receive_from(at, tag_path);
  for (unsigned i = 0; i < last; ++i) {
    headway_message got = receive_from(at, tag_last);
    CHECK(is_filled(got.data, got.bytes, i));
    WELL(headway_buffer_release(got.data));
  }
  CHECK(unlink(path.data) == 0);
  WELL(headway_buffer_release(path.data));
}

int main(void) {
  WELL(headway_join());
  CHECK(headway_process_count() == 2);
  const headway_endpoint at[2] = {open_own("main"), open_own("second")};
  const int other = 1 - headway_process();
  const headway_address to[2] = {look_up("main", other), look_up("second", other)};
  for (int round = 0; round < 2; ++round) {
    const int sends = headway_process() == round;
    if (sends) send_many(at[0], to);
    else receive_many(at);
    meet(at[0], "main", tag_meet);
    for (int i = 0; i < 10; ++i) {
      if (sends) send_and_compute(at[0], to[0]);
      else receive_and_tell(at[0]);
    }
    meet(at[0], "main", tag_meet);
  }
  return 0;
}
