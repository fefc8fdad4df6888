#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace headway::testing {

/// A TCP port of the loopback on which nothing listens; "0" if there is none.
[[nodiscard]] inline std::string free_port() {
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof here;
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool found = bind(probe, reinterpret_cast<sockaddr*>(&here), bytes) == 0 &&
                     getsockname(probe, reinterpret_cast<sockaddr*>(&here), &bytes) == 0;
  close(probe);
  return std::to_string(found ? ntohs(here.sin_port) : 0);
}

}  // namespace headway::testing
