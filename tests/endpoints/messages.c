/* Every process sends to every end-point, itself included: all sizes, in order, forwarded without a
 * copy, kept and given away. Run over shared memory and over TCP. */
#include "check.h"

static const size_t sizes[] = {0, 1, 24, 1000, 1025, 5000, 70000, 1 << 20, 5 << 20};
enum { size_count = sizeof sizes / sizeof *sizes, rounds = 3 };
enum { tag_data = 1, tag_back = 100, tag_meet = 200, tag_kept = 300 };

static void send_all(headway_endpoint at, int n) {
  for (int p = 0; p < n; ++p) {
    const headway_address to = look_up("main", p);
    for (int s = 0; s < size_count; ++s) {
      void* data = sizes[s] ? buffer_of(sizes[s]) : NULL;
      if (data) fill(data, sizes[s], (unsigned)(headway_process() + s));
      WELL(headway_endpoint_send(at, to, tag_data, data, sizes[s], LONG_ENOUGH));
    }
  }
}

/* Receives from each process in the order of sending, and sends each buffer back. */
static void receive_all(headway_endpoint at, int n) {
  int next[64] = {0};
  for (int i = 0; i < n * size_count; ++i) {
    headway_message got = receive_from(at, tag_data);
    const int p = (int)got.from.process, s = next[p]++;
    CHECK(got.bytes == sizes[s]);
    CHECK(is_filled(got.data, got.bytes, (unsigned)(p + s)));
    if (got.bytes) CHECK(headway_buffer_capacity(got.data) >= got.bytes);
    WELL(headway_endpoint_send(at, got.from, tag_back, got.data, got.bytes, LONG_ENOUGH));
  }
}

static void receive_back(headway_endpoint at, int n) {
  int next[64] = {0};
  for (int i = 0; i < n * size_count; ++i) {
    headway_message got = receive_from(at, tag_back);
    const int s = next[got.from.process]++;
    CHECK(got.bytes == sizes[s]);
    CHECK(is_filled(got.data, got.bytes, (unsigned)(headway_process() + s)));
    WELL(headway_buffer_release(got.data));
  }
}

/* Sends one buffer to all and keeps it; it is idle again when all have released it. */
static void keep(headway_endpoint at, int n) {
  const size_t bytes = 200000;
  unsigned char* data = buffer_of(bytes);
  fill(data, bytes, (unsigned)headway_process());
  for (int p = 0; p < n; ++p)
    WELL(headway_endpoint_send_kept(at, look_up("main", p), tag_kept, data, bytes, LONG_ENOUGH));
  for (int p = 0; p < n; ++p) {
    headway_message got = receive_from(at, tag_kept);
    CHECK(is_filled(got.data, got.bytes, got.from.process));
    WELL(headway_buffer_release(got.data));
  }
  meet(at, "main", tag_meet);
  int idle = 0;
  for (int i = 0; i < 1000000 && !idle; ++i) {
    headway_endpoint_dispatch(1);
    WELL(headway_buffer_probe(data, &idle));
  }
  CHECK(idle);
  WELL(headway_buffer_release(data));
}

int main(void) {
  WELL(headway_join());
  const int n = headway_process_count();
  const headway_endpoint at = open_own("main");
  for (int r = 0; r < rounds; ++r) {
    send_all(at, n);
    receive_all(at, n);
    receive_back(at, n);
    meet(at, "main", tag_meet);
    keep(at, n);
    meet(at, "main", tag_meet);
  }
  WELL(headway_endpoint_close(at));
  return 0;
}
