// Bytes from ranks, as mpiexec's server reads them: the first byte of each piece says which rank
// sends it and how long it is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "tools/mpiexec/pmi_server.hpp"

namespace {

struct quiet_host final : headway::mpiexec::pmi_host {
  void reply(int rank, std::shared_ptr<const std::string> bytes) override {
    HEADWAY_ASSERT(rank >= 0 && rank < 2 && bytes->starts_with("cmd="));
  }
  void abort_wanted(int, int, std::string) override {}
  void protocol_broken(int, std::string) override {}
  headway::base::result<pid_t> spawn_wanted(const headway::launch::spawn_request& what) override {
    HEADWAY_ASSERT(headway::launch::spawn_request::unpack(what.packed()) == what);
    return headway::base::failed(headway::base::fault_kind::refused, "not here");
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  quiet_host host;
  headway::mpiexec::pmi_server server(host, {2, "job", "00", {0, 0}});
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const auto head = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    const auto piece = rest.substr(0, head >> 1);
    rest.remove_prefix(piece.size());
    if (head == 0xff) server.rank_ended(0);
    server.receive(head & 1, piece);
  }
  return 0;
}
