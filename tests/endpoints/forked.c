/* In a forked child that does not call exec, calls return an error. Its exit does not affect its
 * parent: the other processes continue to exchange messages with the parent. Threads that begin and
 * end to wait meanwhile leave no lock that the child's exit would wait for. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { tag_meet = 1, rounds = 20 };

static atomic_bool done = false;

static void* wait_a_little(void* at) {
  headway_message got;
  const int told =
      headway_endpoint_receive(*(headway_endpoint*)at, HEADWAY_ANY_TAG, NULL, 1000, &got);
  CHECK(told == HEADWAY_TIMED_OUT);
  return NULL;
}

static void* let_threads_wait(void* unused) {
  (void)unused;
  headway_endpoint at = open_own("visited");
  while (!atomic_load(&done)) {
    pthread_t visitor;
    CHECK(pthread_create(&visitor, NULL, wait_a_little, &at) == 0);
    CHECK(pthread_join(visitor, NULL) == 0);
  }
  WELL(headway_endpoint_close(at));
  return NULL;
}

static int is_told(headway_endpoint at) {
  void* buffer;
  headway_endpoint made;
  headway_message got;
  const int answers[] = {
      headway_buffer_request(100, &buffer),
      headway_endpoint_open("a child's", &made),
      headway_endpoint_send(0, headway_endpoint_address(at), 0, NULL, 0, HEADWAY_FOREVER),
      headway_endpoint_receive(at, HEADWAY_ANY_TAG, NULL, HEADWAY_FOREVER, &got),
      headway_join(),
      headway_leave(),
  };
  for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i)
    if (answers[i] != HEADWAY_NOT_JOINED || !strstr(headway_error_text(), "was forked")) return 0;
  return headway_process() == -1;
}

int main(void) {
  const headway_endpoint at = open_own("main");
  pthread_t others;
  CHECK(pthread_create(&others, NULL, let_threads_wait, NULL) == 0);
  meet(at, "main", tag_meet);
  for (int i = 0; i < rounds; ++i) {
    int status = -1;
    const pid_t child = fork();
    /* An ordinary exit, with all functions that are called at exit. */
    if (child == 0) exit(is_told(at) ? 0 : 1);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    meet(at, "main", tag_meet);
  }
  atomic_store(&done, true);
  CHECK(pthread_join(others, NULL) == 0);
  WELL(headway_endpoint_close(at));
  return 0;
}
