/// The ping-pong of E14 over one socket of the kernel's own multipath TCP, which spreads bytes over
/// interfaces as their windows allow. MPI only exchanges the address.
///
/// Runs in two network namespaces as root: it allows subflows on every further interface, until the
/// namespaces are deleted.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"
#include "connection.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

/// The first address of an interface other than the loopback, to which the other rank connects.
/// With `subflows`, each further address may carry a subflow.
static struct in_addr own_address(bool subflows) {
  struct sockaddr_in first = {.sin_family = AF_UNSPEC};
  struct ifaddrs* all = NULL;
  if (getifaddrs(&all) != 0) connection_failed("getifaddrs");
  if (subflows && system("ip mptcp limits set subflow 7 add_addr_accepted 7") != 0)
    connection_failed("ip mptcp limits");
  for (const struct ifaddrs* i = all; i; i = i->ifa_next) {
    if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || i->ifa_flags & IFF_LOOPBACK) continue;
    const struct sockaddr_in* in = (const struct sockaddr_in*)(const void*)i->ifa_addr;
    if (first.sin_family == AF_UNSPEC) {
      first = *in;
      continue;
    }
    char command[160];
    snprintf(command, sizeof command, "ip mptcp endpoint add %s dev %s signal subflow 2>/dev/null",
             inet_ntoa(in->sin_addr), i->ifa_name);
    if (subflows && system(command) != 0) fprintf(stderr, "mptcp: no subflow by %s\n", i->ifa_name);
  }
  freeifaddrs(all);
  return first.sin_addr;
}

static double there_and_back_ns(int rank, int fd, char* memory, size_t bytes) {
  const uint64_t start = now_ns();
  if (rank == 0) send_all(fd, memory, bytes);
  receive_all(fd, memory, bytes, 0);
  if (rank == 1) send_all(fd, memory, bytes);
  return (double)(now_ns() - start);
}

int main(int argc, char** argv) {
  struct bench b = {.name = "mptcp",
                    .about = "mptcp: ping-pong over one socket of the kernel's multipath TCP.",
                    .thread_level = MPI_THREAD_SINGLE,
                    .ranks = 2,
                    .seconds = 0.5};
  struct list sizes = {.count = 0};
  list_read(&sizes, "256K,1M,4M,16M");
  bool single = false;
  const struct option own[] = {{"--sizes", option_list, &sizes, "bytes of a message"},
                               {"--single", option_flag, &single, "plain TCP, to compare"},
                               {NULL, option_flag, NULL, NULL}};
  bench_start(&b, own, argc, argv);
  const struct column columns[] = {{"bytes", 0}, {"median_us", 3}, {"mb_per_s", 1}};
  bench_table(&b, NULL, columns, 3);
  const int fd =
      connect_ranks_at(b.rank, single ? IPPROTO_TCP : IPPROTO_MPTCP, own_address(!single));
  for (int i = 0; i < sizes.count; ++i) {
    const size_t bytes = sizes.value[i];
    char* memory = buffer(bytes);
    for (int warm = 0; warm < 2; ++warm) there_and_back_ns(b.rank, fd, memory, bytes);
    const double one_ns = there_and_back_ns(b.rank, fd, memory, bytes);
    const long rounds = bench_repeat(&b, one_ns, 5, 10000);
    struct samples samples = {0};
    for (long r = 0; r < rounds; ++r)
      samples_add(&samples, there_and_back_ns(b.rank, fd, memory, bytes) / 2000);
    const struct summary s = summarise(&samples);
    samples_free(&samples);
    table_row(&b.table, NULL,
              (double[]){(double)bytes, s.median, s.median > 0 ? (double)bytes / s.median : 0});
    free(memory);
  }
  close(fd);
  return bench_finish(&b);
}
