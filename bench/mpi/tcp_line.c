#include "tcp_line.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void tcp_line_failed(const char* what) {
  fprintf(stderr, "bare connection: %s: %s\n", what, strerror(errno));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static struct in_addr own_address(void) {
  struct in_addr found = {htonl(INADDR_LOOPBACK)};
  struct ifaddrs* all = NULL;
  if (getifaddrs(&all) != 0) tcp_line_failed("getifaddrs");
  for (const struct ifaddrs* one = all; one != NULL; one = one->ifa_next) {
    if (one->ifa_addr == NULL || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) continue;
    found = ((const struct sockaddr_in*)(const void*)one->ifa_addr)->sin_addr;
    break;
  }
  freeifaddrs(all);
  return found;
}

int tcp_line(int rank) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  const int own = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (own < 0) tcp_line_failed("socket");
  if (rank == 0) {
    socklen_t length = sizeof address;
    address.sin_addr = own_address();
    if (bind(own, (struct sockaddr*)&address, sizeof address) != 0 || listen(own, 1) != 0 ||
        getsockname(own, (struct sockaddr*)&address, &length) != 0)
      tcp_line_failed("listen");
  }
  MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
  int made = own;
  if (rank == 0) {
    made = accept(own, NULL, NULL);
    if (made < 0) tcp_line_failed("accept");
    close(own);
  } else if (connect(made, (struct sockaddr*)&address, sizeof address) != 0) {
    tcp_line_failed("connect");
  }
  const int on = 1;
  if (setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
    tcp_line_failed("TCP_NODELAY");
  return made;
}
