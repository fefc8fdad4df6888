#define _GNU_SOURCE
#include "sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

static void fail(const char* what) {
  fprintf(stderr, "nbc_work --sockets: %s: %s\n", what, strerror(errno));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static struct in_addr own_address(void) {
  struct in_addr found = {htonl(INADDR_LOOPBACK)};
  struct ifaddrs* all = NULL;
  if (getifaddrs(&all) != 0) fail("getifaddrs");
  for (const struct ifaddrs* one = all; one != NULL; one = one->ifa_next) {
    if (one->ifa_addr == NULL || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) continue;
    found = ((const struct sockaddr_in*)(const void*)one->ifa_addr)->sin_addr;
    break;
  }
  freeifaddrs(all);
  return found;
}

static void wake_at(size_t bytes) {
  const int least = bytes < wake_bytes ? (int)bytes : wake_bytes;
  if (setsockopt(line, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least) != 0) fail("SO_RCVLOWAT");
}

static size_t moved(ssize_t count) {
  if (count < 0 && errno != EAGAIN && errno != EINTR) fail("the connection");
  return count < 0 ? 0 : (size_t)count;
}

static void exchange(struct way* w) {
  wake_at(w->bytes);
  while (w->sent < w->bytes || w->received < w->bytes) {
    const size_t due = w->bytes - w->received;
    if (due > 0 && due < wake_bytes) wake_at(due);
    const short events = (short)((w->sent < w->bytes ? POLLOUT : 0) | (due > 0 ? POLLIN : 0));
    struct pollfd ready = {line, events, 0};
    if (poll(&ready, 1, -1) < 0 && errno != EINTR) fail("poll");
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
  struct sockaddr_in address = {.sin_family = AF_INET};
  const int own = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (own < 0) fail("socket");
  if (rank == 0) {
    socklen_t length = sizeof address;
    address.sin_addr = own_address();
    if (bind(own, (struct sockaddr*)&address, sizeof address) != 0 || listen(own, 1) != 0 ||
        getsockname(own, (struct sockaddr*)&address, &length) != 0)
      fail("listen");
  }
  MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    line = accept(own, NULL, NULL);
    if (line < 0) fail("accept");
    close(own);
  } else {
    line = own;
    if (connect(line, (struct sockaddr*)&address, sizeof address) != 0) fail("connect");
  }
  const int on = 1;
  if (setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("TCP_NODELAY");
  pthread_barrier_init(&turn, NULL, 2);
  pthread_t unused;
  if (pthread_create(&unused, NULL, serve, NULL) != 0) abort();
}

void sockets_start(const void* from, void* into, size_t bytes) {
  asked = (struct way){.from = from, .into = into, .bytes = bytes};
  pthread_barrier_wait(&turn);
}

void sockets_wait(void) { pthread_barrier_wait(&turn); }
