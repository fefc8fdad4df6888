#define _GNU_SOURCE
#include "sockets.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "connection.h"
#include "measure.h"

/// The thread is woken after so many bytes, not after each segment. Values from 1 KB to 2 MB make
/// little difference.
enum { wake_bytes = 512 << 10 };

struct way {
  const char* from;
  char* into;
  size_t bytes, sent, received;
};

static int line;
static struct way asked;
static pthread_barrier_t turn;  ///< begins and ends each exchange; orders accesses to `asked`

static void wake_at(size_t bytes) {
  const int least = bytes < wake_bytes ? (int)bytes : wake_bytes;
  if (setsockopt(line, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least) != 0)
    connection_failed("SO_RCVLOWAT");
}

static size_t moved(ssize_t count) {
  if (count < 0 && errno != EAGAIN && errno != EINTR) connection_failed("the connection");
  return count < 0 ? 0 : (size_t)count;
}

static void exchange(struct way* w) {
  wake_at(w->bytes);
  while (w->sent < w->bytes || w->received < w->bytes) {
    const size_t due = w->bytes - w->received;
    if (due > 0 && due < wake_bytes) wake_at(due);
    const short events = (short)((w->sent < w->bytes ? POLLOUT : 0) | (due > 0 ? POLLIN : 0));
    struct pollfd ready = {line, events, 0};
    if (poll(&ready, 1, -1) < 0 && errno != EINTR) connection_failed("poll");
    if ((ready.revents & POLLOUT) != 0)
      w->sent += moved(send(line, w->from + w->sent, w->bytes - w->sent, MSG_DONTWAIT));
    if ((ready.revents & POLLIN) != 0)
      w->received += moved(recv(line, w->into + w->received, due, MSG_DONTWAIT));
  }
}

static void* serve(void* unused) {
  (void)unused;
  ask_short_slices();
  for (;;) {
    pthread_barrier_wait(&turn);
    exchange(&asked);
    pthread_barrier_wait(&turn);
  }
  return NULL;
}

void sockets_open(int rank) {
  line = connect_ranks(rank);
  pthread_barrier_init(&turn, NULL, 2);
  pthread_t unused;
  if (pthread_create(&unused, NULL, serve, NULL) != 0) abort();
}

void sockets_start(const void* from, void* into, size_t bytes) {
  asked = (struct way){.from = from, .into = into, .bytes = bytes};
  pthread_barrier_wait(&turn);
}

void sockets_wait(void) { pthread_barrier_wait(&turn); }
