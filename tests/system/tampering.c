/* Goes in front of the C library (LD_PRELOAD) and does what an attacker on the network could: reads
 * and changes what goes over TCP connections.
 *
 *   TAMPER_SEEN=folder    What each process sends over TCP is added to a file of its own there.
 *   TAMPER_EVERY=n        One bit of every n-th reception of at least `received_min` bytes is
 *                         changed: handshakes are shorter. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { received_min = 4096 };

static bool is_tcp(int fd) {
  int family = 0;
  socklen_t bytes = sizeof family;
  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &bytes) == 0 &&
         (family == AF_INET || family == AF_INET6);
}

static void see(int fd, const void* from, ssize_t bytes) {
  const char* const folder = getenv("TAMPER_SEEN");
  if (!folder || bytes <= 0 || !is_tcp(fd)) return;
  char name[4096];
  snprintf(name, sizeof name, "%s/%d", folder, (int)getpid());
  const int file = open(name, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (write(file, from, (size_t)bytes) != bytes) abort();
  close(file);
}

static void change(int fd, void* at, ssize_t bytes) {
  static atomic_long receptions;
  const char* const every = getenv("TAMPER_EVERY");
  if (!every || bytes < received_min || !is_tcp(fd)) return;
  const long now = atomic_fetch_add(&receptions, 1) + 1;
  if (now % atol(every) == 0) ((unsigned char*)at)[bytes * (now % 97) / 97] ^= 4;
}

ssize_t send(int fd, const void* from, size_t bytes, int flags) {
  static ssize_t (*next)(int, const void*, size_t, int);
  if (!next) next = (ssize_t(*)(int, const void*, size_t, int))dlsym(RTLD_NEXT, "send");
  const ssize_t sent = next(fd, from, bytes, flags);
  see(fd, from, sent);
  return sent;
}

ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  static ssize_t (*next)(int, const struct msghdr*, int);
  if (!next) next = (ssize_t(*)(int, const struct msghdr*, int))dlsym(RTLD_NEXT, "sendmsg");
  const ssize_t sent = next(fd, message, flags);
  ssize_t left = sent;
  for (size_t i = 0; i < message->msg_iovlen && left > 0; ++i) {
    const ssize_t part = (ssize_t)message->msg_iov[i].iov_len;
    see(fd, message->msg_iov[i].iov_base, part < left ? part : left);
    left -= part;
  }
  return sent;
}

ssize_t recv(int fd, void* to, size_t bytes, int flags) {
  static ssize_t (*next)(int, void*, size_t, int);
  if (!next) next = (ssize_t(*)(int, void*, size_t, int))dlsym(RTLD_NEXT, "recv");
  const ssize_t got = next(fd, to, bytes, flags);
  change(fd, to, got);
  return got;
}

ssize_t recvmsg(int fd, struct msghdr* message, int flags) {
  static ssize_t (*next)(int, struct msghdr*, int);
  if (!next) next = (ssize_t(*)(int, struct msghdr*, int))dlsym(RTLD_NEXT, "recvmsg");
  const ssize_t got = next(fd, message, flags);
  const ssize_t first = (ssize_t)message->msg_iov[0].iov_len;
  change(fd, message->msg_iov[0].iov_base, got < first ? got : first);
  return got;
}
