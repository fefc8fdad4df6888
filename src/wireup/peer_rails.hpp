#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "wireup/opened_rail.hpp"
#include "wireup/process_record.hpp"

namespace headway::wireup {

/// The rail of another process that one of this process's rails is connected to.
struct peer_rail {
  std::optional<rail_address> address = {};  ///< nothing: our rail does not reach that process
  std::size_t turn = 0;  ///< both processes number the pairs of rails between them alike
};

/// Our rails by driver and interface: what is published about them, and which of them reach another
/// process.
/// Threads:  any, after construction.
class own_rails {
 public:
  explicit own_rails(std::span<const opened_rail> rails);

  /// For our record.
  [[nodiscard]] std::map<std::string, std::vector<nic_address>> addresses() const;
  /// An element for each of our rails, in their order. `lower`: our name (job, rank) is not above
  /// the peer's.
  [[nodiscard]] std::vector<peer_rail> to(const process_record& peer, bool lower) const;

 private:
  /// Our interfaces of one driver, and the indices of the rails that are the connections of each.
  struct of_driver {
    std::vector<std::string> interfaces;
    std::vector<nic_address> addresses;
    std::vector<std::vector<std::size_t>> rails;
    nearness_of judge = nullptr;
  };

  std::size_t count_;
  std::map<std::string, of_driver> drivers_;
};

}  // namespace headway::wireup
