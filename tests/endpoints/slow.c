/* A slow receiver delays its own senders in another process, and no others. */
#include "check.h"

enum { tag = 1, tag_full = 2, tag_meet = 3, bytes = 100 };

static void be_slow(headway_endpoint main_one) {
  headway_endpoint slow, quick;
  WELL(headway_endpoint_open("slow", &slow));
  WELL(headway_endpoint_open("quick", &quick));
  for (int i = 0; i < 100; ++i) receive_from(quick, tag); /* arrives while `slow` is full */
  headway_message full = receive_from(main_one, tag_full);
  const int sent = *(int*)full.data;
  WELL(headway_buffer_release(full.data));
  for (int i = 0; i <= sent; ++i) {
    headway_message got = receive_from(slow, tag);
    CHECK(*(int*)got.data == i);
    WELL(headway_buffer_release(got.data));
  }
  meet(main_one, "main", tag_meet);
  WELL(headway_endpoint_close(quick));
  WELL(headway_endpoint_close(slow));
}

static int send_number(headway_address to, int number, int64_t limit) {
  int* data = buffer_of(bytes);
  *data = number;
  const int status = headway_endpoint_send(0, to, tag, data, bytes, limit);
  if (status != HEADWAY_OK) WELL(headway_buffer_release(data)); /* a failed send keeps the holder */
  return status;
}

static void be_quick(headway_endpoint main_one) {
  headway_address slow, quick;
  WELL(headway_endpoint_lookup("slow", LONG_ENOUGH, &slow));
  WELL(headway_endpoint_lookup("quick", LONG_ENOUGH, &quick));
  int sent = 0, status = HEADWAY_OK;
  while ((status = send_number(slow, sent, HEADWAY_NO_WAIT)) == HEADWAY_OK) ++sent;
  CHECK(status == HEADWAY_AGAIN && sent >= 8 && sent < 100000);
  CHECK(send_number(slow, sent, HEADWAY_MILLISECONDS(5)) == HEADWAY_TIMED_OUT);
  for (int i = 0; i < 100; ++i) CHECK(send_number(quick, i, HEADWAY_NO_WAIT) == HEADWAY_OK);
  WELL(
      headway_endpoint_send_copy(0, look_up("main", 1), tag_full, &sent, sizeof sent, LONG_ENOUGH));
  CHECK(send_number(slow, sent, LONG_ENOUGH) == HEADWAY_OK);
  meet(main_one, "main", tag_meet);
}

int main(void) {
  WELL(headway_join());
  const headway_endpoint main_one = open_own("main");
  if (headway_process() == 0) {
    be_quick(main_one);
  } else {
    be_slow(main_one);
  }
  WELL(headway_endpoint_close(main_one));
  return 0;
}
