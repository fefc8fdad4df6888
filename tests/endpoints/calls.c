/* The contract of each call, in one process. Each function tests one sentence. */
#include <poll.h>
#include <pthread.h>

#include "check.h"

static headway_endpoint open_at(const char* name) {
  headway_endpoint made;
  WELL(headway_endpoint_open(name, &made));
  return made;
}

static void a_message_between_threads_is_the_senders_buffer_itself(void) {
  const headway_endpoint at = open_at("itself");
  void* data = buffer_of(1 << 20);
  WELL(headway_endpoint_send(0, headway_endpoint_address(at), 5, data, 1 << 20, 0));
  headway_message got;
  WELL(headway_endpoint_receive(at, 5, NULL, 0, &got));
  CHECK(got.data == data && got.bytes == 1 << 20 && got.from.id == 0);
  WELL(headway_buffer_release(data));
  WELL(headway_endpoint_close(at));
}

static void tags_and_senders_are_told_apart(void) {
  const headway_endpoint at = open_at("at"), one = open_at("one"), two = open_at("two");
  const headway_address to = headway_endpoint_address(at);
  const headway_address from_two = headway_endpoint_address(two);
  WELL(headway_endpoint_send_copy(one, to, 1, "a", 1, 0));
  WELL(headway_endpoint_send_copy(one, to, 2, "b", 1, 0));
  WELL(headway_endpoint_send_copy(two, to, 1, "c", 1, 0));
  headway_message got;
  WELL(headway_endpoint_receive(at, 2, NULL, 0, &got));
  CHECK(*(char*)got.data == 'b' && got.tag == 2);
  WELL(headway_buffer_release(got.data));
  WELL(headway_endpoint_receive(at, HEADWAY_ANY_TAG, &from_two, 0, &got));
  CHECK(*(char*)got.data == 'c' && got.from.id == two);
  WELL(headway_buffer_release(got.data));
  WELL(headway_endpoint_receive(at, HEADWAY_ANY_TAG, NULL, 0, &got));
  CHECK(*(char*)got.data == 'a');
  WELL(headway_buffer_release(got.data));
  CHECK(headway_endpoint_receive(at, HEADWAY_ANY_TAG, NULL, HEADWAY_NO_WAIT, &got) ==
        HEADWAY_AGAIN);
  CHECK(headway_endpoint_receive(at, HEADWAY_ANY_TAG, NULL, HEADWAY_MILLISECONDS(5), &got) ==
        HEADWAY_TIMED_OUT);
  WELL(headway_endpoint_close(at));
  WELL(headway_endpoint_close(one));
  WELL(headway_endpoint_close(two));
}

static void names_are_given_once_and_withdrawn(void) {
  headway_address found;
  CHECK(headway_endpoint_lookup("render/7", HEADWAY_NO_WAIT, &found) == HEADWAY_NOT_FOUND);
  CHECK(headway_endpoint_lookup("render/7", HEADWAY_MILLISECONDS(5), &found) == HEADWAY_TIMED_OUT);
  const headway_endpoint at = open_at("render/7");
  headway_endpoint other = 0;
  CHECK(headway_endpoint_open("render/7", &other) == HEADWAY_TAKEN && other == 0);
  for (int i = 0; i < 2; ++i) {
    WELL(headway_endpoint_lookup("render/7", HEADWAY_NO_WAIT, &found));
    CHECK(found.id == at);
  }
  WELL(headway_endpoint_close(at));
  CHECK(headway_endpoint_lookup("render/7", HEADWAY_NO_WAIT, &found) == HEADWAY_NOT_FOUND);
  CHECK(headway_endpoint_send(0, found, 1, NULL, 0, 0) != HEADWAY_OK);
  CHECK(headway_endpoint_close(at) == HEADWAY_GONE);
  WELL(headway_endpoint_close(open_at("render/7")));
}

static void a_receiver_far_behind_holds_back_its_own_senders_only(void) {
  const headway_endpoint slow = open_at("slow"), quick = open_at("quick");
  const headway_address to = headway_endpoint_address(slow);
  int sent = 0, status = HEADWAY_OK;
  while ((status = headway_endpoint_send(0, to, 0, NULL, 0, HEADWAY_NO_WAIT)) == HEADWAY_OK) ++sent;
  CHECK(status == HEADWAY_AGAIN && sent > 10 && sent < 100000);
  CHECK(headway_endpoint_send(0, to, 0, NULL, 0, HEADWAY_MILLISECONDS(5)) == HEADWAY_TIMED_OUT);
  WELL(headway_endpoint_send(0, headway_endpoint_address(quick), 0, NULL, 0, HEADWAY_NO_WAIT));
  for (int i = 0; i < sent; ++i) receive_from(slow, 0);
  WELL(headway_endpoint_send(0, to, 0, NULL, 0, HEADWAY_NO_WAIT));
  WELL(headway_endpoint_close(slow));
  WELL(headway_endpoint_close(quick));
}

static void mistakes_with_buffers_are_named(void) {
  const headway_endpoint at = open_at("mistakes");
  const headway_address to = headway_endpoint_address(at);
  void* data = buffer_of(10);
  CHECK(headway_endpoint_send(0, to, 0, data, 1000, 0) == HEADWAY_BAD_ARGUMENT);
  WELL(headway_endpoint_send(0, to, 0, data, 10, 0));
  CHECK(headway_buffer_release(data) == HEADWAY_MISUSE);
  CHECK(strstr(headway_error_text(), "sent away") != NULL);
  CHECK(headway_endpoint_send(0, to, 0, data, 10, 0) == HEADWAY_MISUSE);
  headway_message got = receive_from(at, 0);
  WELL(headway_buffer_release(got.data));
  CHECK(headway_buffer_release(got.data) == HEADWAY_MISUSE);
  CHECK(strstr(headway_error_text(), "released already") != NULL);
  char mine[64];
  CHECK(headway_endpoint_send(0, to, 0, mine, 10, 0) == HEADWAY_MISUSE);
  CHECK(strstr(headway_error_text(), "no buffer") != NULL);
  WELL(headway_endpoint_close(at));
}

static void a_buffer_is_not_used_after_its_release(void) {
  const headway_endpoint at = open_at("after");
  void* data = buffer_of(10);
  WELL(headway_buffer_release(data));
  CHECK(headway_endpoint_send(0, headway_endpoint_address(at), 0, data, 10, 0) == HEADWAY_MISUSE);
  CHECK(strstr(headway_error_text(), "released already") != NULL);
  int idle;
  CHECK(headway_buffer_probe(data, &idle) == HEADWAY_MISUSE);
  CHECK(headway_buffer_release_later(data) == HEADWAY_MISUSE);
  CHECK(headway_buffer_capacity(data) == 0);
  WELL(headway_endpoint_close(at));
}

/* Kept or given away; only where HEADWAY_ENDPOINT_CHECKS is on. */
static void a_write_to_a_buffer_in_flight_is_noticed(void) {
  const char* checks = getenv("HEADWAY_ENDPOINT_CHECKS");
  if (!checks || strcmp(checks, "on") != 0) return;
  const headway_endpoint at = open_at("flight");
  const headway_address to = headway_endpoint_address(at);
  for (int keep = 0; keep < 2; ++keep) {
    char* data = buffer_of(1000);
    memset(data, 1, 1000);
    WELL(keep ? headway_endpoint_send_kept(0, to, 0, data, 1000, 0)
              : headway_endpoint_send(0, to, 0, data, 1000, 0));
    data[500] = 2;
    headway_message got;
    CHECK(headway_endpoint_receive(at, 0, NULL, LONG_ENOUGH, &got) == HEADWAY_MISUSE);
    CHECK(strstr(headway_error_text(), "written while it was in flight") != NULL);
    WELL(headway_buffer_release(got.data)); /* it came all the same */
    if (keep) WELL(headway_buffer_release(data));
  }
  WELL(headway_endpoint_close(at));
}

static void a_descriptor_is_readable_while_a_message_waits(void) {
  const headway_endpoint at = open_at("descriptor");
  struct pollfd watched = {.events = POLLIN};
  WELL(headway_endpoint_descriptor(at, &watched.fd));
  CHECK(poll(&watched, 1, 0) == 0);
  for (int i = 0; i < 2; ++i)
    WELL(headway_endpoint_send(0, headway_endpoint_address(at), i, NULL, 0, 0));
  CHECK(poll(&watched, 1, 0) == 1);
  receive_from(at, 0);
  CHECK(poll(&watched, 1, 0) == 1);
  receive_from(at, 1);
  CHECK(poll(&watched, 1, 0) == 0);
  WELL(headway_endpoint_close(at));
}

static void answer(void* argument, const headway_message* what) {
  const headway_endpoint at = *(headway_endpoint*)argument;
  if (headway_endpoint_send(at, what->from, what->tag + 1, what->data, what->bytes, 0) != 0)
    headway_buffer_release(what->data);
}

static void a_handler_is_called_for_each_message(void) {
  headway_endpoint server = open_at("server");
  const headway_endpoint client = open_at("client");
  WELL(headway_endpoint_handle(server, answer, &server));
  for (int i = 0; i < 1000; ++i) {
    WELL(headway_endpoint_send_copy(client, headway_endpoint_address(server), i, &i, sizeof i,
                                    LONG_ENOUGH));
    headway_message got = receive_from(client, i + 1);
    CHECK(*(int*)got.data == i);
    WELL(headway_buffer_release(got.data));
  }
  WELL(headway_endpoint_handle(server, NULL, NULL));
  WELL(headway_endpoint_close(server));
  WELL(headway_endpoint_close(client));
}

static void* send_later(void* argument) {
  WELL(headway_endpoint_send(0, *(headway_address*)argument, 9, NULL, 0, LONG_ENOUGH));
  return NULL;
}

static void* close_later(void* argument) {
  WELL(headway_endpoint_close(*(headway_endpoint*)argument));
  return NULL;
}

static void one_waits_for_many(void) {
  headway_endpoint all[3] = {open_at("a"), open_at("b"), open_at("c")};
  size_t which = 9;
  CHECK(headway_endpoint_wait_any(all, 3, HEADWAY_NO_WAIT, &which) == HEADWAY_AGAIN);
  CHECK(headway_endpoint_wait_any(all, 3, HEADWAY_MILLISECONDS(5), &which) == HEADWAY_TIMED_OUT);
  for (size_t i = 0; i < 3; ++i) {
    headway_address to = headway_endpoint_address(all[i]);
    pthread_t thread;
    pthread_create(&thread, NULL, send_later, &to);
    WELL(headway_endpoint_wait_any(all, 3, LONG_ENOUGH, &which));
    CHECK(which == i);
    receive_from(all[i], 9);
    pthread_join(thread, NULL);
  }
  pthread_t thread;
  pthread_create(&thread, NULL, close_later, &all[1]);
  CHECK(headway_endpoint_wait_any(all, 3, LONG_ENOUGH, &which) == HEADWAY_GONE && which == 1);
  pthread_join(thread, NULL);
  WELL(headway_endpoint_close(all[0]));
  WELL(headway_endpoint_close(all[2]));
}

static void who_waits_at_an_end_point_that_is_closed_is_told(void) {
  headway_endpoint at = open_at("closing");
  pthread_t thread;
  pthread_create(&thread, NULL, close_later, &at);
  headway_message got;
  CHECK(headway_endpoint_receive(at, 0, NULL, LONG_ENOUGH, &got) == HEADWAY_GONE);
  pthread_join(thread, NULL);
}

static void every_policy_serves_handlers_and_receivers(void) {
  for (int policy = HEADWAY_DISPATCH_AUTO; policy <= HEADWAY_DISPATCH_EVENT; ++policy) {
    WELL(headway_endpoint_dispatch_policy(policy));
    a_handler_is_called_for_each_message();
  }
  WELL(headway_endpoint_dispatch_policy(HEADWAY_DISPATCH_AUTO));
  CHECK(headway_endpoint_dispatch_policy(99) == HEADWAY_BAD_ARGUMENT);
}

int main(void) {
  a_message_between_threads_is_the_senders_buffer_itself();
  tags_and_senders_are_told_apart();
  names_are_given_once_and_withdrawn();
  a_receiver_far_behind_holds_back_its_own_senders_only();
  mistakes_with_buffers_are_named();
  a_buffer_is_not_used_after_its_release();
  a_write_to_a_buffer_in_flight_is_noticed();
  a_descriptor_is_readable_while_a_message_waits();
  a_handler_is_called_for_each_message();
  one_waits_for_many();
  who_waits_at_an_end_point_that_is_closed_is_told();
  every_policy_serves_handlers_and_receivers();
  WELL(headway_leave());
  CHECK(headway_endpoint_dispatch_policy(HEADWAY_DISPATCH_AUTO) == HEADWAY_NOT_JOINED);
  return 0;
}
