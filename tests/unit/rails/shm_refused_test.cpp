// Processes whose kernel lets none of them read or write another one's memory, as in a container
// without ptrace: a filter of system calls refuses it here, for a child.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <vector>

#include "rails/shm/host.hpp"
#include "rails/shm/shm_driver.hpp"
#include "shm_folder.hpp"

namespace headway::rails::shm {
namespace {

/// From now on this process can read and write no other one's memory. False: no filter here.
bool refuse_other_memory() {
  std::array filter{sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                    sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
                    sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
                    sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                    sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program{.len = filter.size(), .filter = filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Runs both drivers until the first has ended `wanted` operations and so many bytes have landed.
bool run(shm_driver& first, shm_driver& last, std::size_t wanted, std::size_t landed_bytes) {
  std::array<event, 8> events;
  std::size_t ended = 0, landed = 0;
  for (int i = 0; i < 10'000'000 && (ended < wanted || landed < landed_bytes); ++i) {
    for (const event& e : std::span(events).first(first.reap(events)))
      if (e.kind == event_kind::sent) ++ended;
    for (const event& e : std::span(events).first(last.reap(events)))
      if (e.kind == event_kind::landed) landed += e.count;
  }
  return ended == wanted && landed == landed_bytes;
}

/// The first thing that is not as it shall be; 0: none.
int use_memory_of_a_peer(const folder& where) {
  shm_driver first(config_in(where, 0)), last(config_in(where, 1));
  const auto to_first = first.open(), to_last = last.open();
  if (!to_first || !to_last) return 2;
  std::vector<std::byte> one(1, std::byte{1}), other(1);
  if (read_remote(getpid(), reinterpret_cast<std::uintptr_t>(one.data()), other)) return 3;
  if (!first.connect(peer_id{1}, *to_last) || !last.connect(peer_id{0}, *to_first)) return 4;
  const auto limits = first.memory()->limits_to(peer_id{1});
  if (!limits.get || !limits.put || !limits.atomic || !limits.flush || limits.direct) return 5;
  std::vector<std::byte> shown(1'000'000, std::byte{3}), mine(shown.size());
  const auto all = last.memory()->expose({.bytes = shown, .rights = access::get | access::put});
  if (first.memory()->get(peer_id{1}, {.exposed = *all}, mine, 1) != post::posted) return 6;
  if (!run(first, last, 1, 0) || mine != shown) return 7;
  const auto told = last.memory()->expose({.bytes = shown});
  mine.assign(mine.size(), std::byte{4});
  if (first.memory()->put(peer_id{1}, {.exposed = *told}, mine, 2) != post::posted) return 8;
  return run(first, last, 1, mine.size()) && mine == shown ? 0 : 9;
}

TEST(shm_without_ptrace, the_memory_contract_holds) {
  const folder where;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(refuse_other_memory() ? use_memory_of_a_peer(where) : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "1: no filter can be set; else see use_memory_of_a_peer";
}

}  // namespace
}  // namespace headway::rails::shm
