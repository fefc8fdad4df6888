#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/job.hpp"
#include "rails/driver.hpp"

namespace headway::engine {

/// A rail that was opened, and what others need to reach it.
struct opened_rail {
  std::string driver;  ///< "self", "shm", "tcp"
  std::unique_ptr<rails::driver> rail;
  std::vector<std::byte> address;
  std::string address_text;  ///< the same, for people
};

/// Opens every rail that HEADWAY_RAILS admits, nearest first. The one place that names the drivers.
[[nodiscard]] base::result<std::vector<opened_rail>> open_rails(const launch::job& job);

}  // namespace headway::engine
