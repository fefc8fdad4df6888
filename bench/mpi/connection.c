#include "connection.h"

#include <errno.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void connection_failed(const char* what) {
  fprintf(stderr, "bare connection: %s: %s\n", what, strerror(errno));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static struct in_addr first_address(void) {
  struct in_addr found = {htonl(INADDR_LOOPBACK)};
  struct ifaddrs* all = NULL;
  if (getifaddrs(&all) != 0) connection_failed("getifaddrs");
  for (const struct ifaddrs* one = all; one != NULL; one = one->ifa_next) {
    if (one->ifa_addr == NULL || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) continue;
    found = ((const struct sockaddr_in*)(const void*)one->ifa_addr)->sin_addr;
    break;
  }
  freeifaddrs(all);
  return found;
}

int connect_ranks(int rank) { return connect_ranks_at(rank, IPPROTO_TCP, first_address()); }

int connect_ranks_at(int rank, int protocol, struct in_addr own) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = own};
  const int created = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, protocol);
  if (created < 0) connection_failed("socket");
  if (rank == 1) {
    socklen_t length = sizeof address;
    if (bind(created, (struct sockaddr*)&address, sizeof address) != 0 || listen(created, 1) != 0 ||
        getsockname(created, (struct sockaddr*)&address, &length) != 0)
      connection_failed("listen");
  }
  MPI_Bcast(&address, sizeof address, MPI_BYTE, 1, MPI_COMM_WORLD);
  int connected = created;
  if (rank == 1) {
    connected = accept(created, NULL, NULL);
    if (connected < 0) connection_failed("accept");
    close(created);
  } else if (connect(connected, (struct sockaddr*)&address, sizeof address) != 0) {
    connection_failed("connect");
  }
  const int on = 1;
  // Some kernels have no such option for MPTCP.
  if (setsockopt(connected, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 &&
      protocol == IPPROTO_TCP)
    connection_failed("TCP_NODELAY");
  return connected;
}

void send_all(int fd, const void* from, size_t bytes) {
  for (const char* next = from; bytes > 0;) {
    const ssize_t sent = send(fd, next, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) connection_failed("send");
    next += sent;
    bytes -= (size_t)sent;
  }
}

void receive_all(int fd, void* into, size_t bytes, int flags) {
  for (char* next = into; bytes > 0;) {
    const ssize_t got = recv(fd, next, bytes, flags);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got == 0) errno = ECONNRESET;
    if (got <= 0) connection_failed("recv");
    next += got;
    bytes -= (size_t)got;
  }
}
