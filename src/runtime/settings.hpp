#pragma once

#include <filesystem>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "collectives/settings.hpp"
#include "endpoints/settings.hpp"
#include "launch/settings.hpp"
#include "packets/settings.hpp"
#include "progress/core/settings.hpp"
#include "rails/settings.hpp"
#include "rails/shm/settings.hpp"
#include "rails/tcp/settings.hpp"
#include "sampling/settings.hpp"
#include "topology/settings.hpp"
#include "watch/settings.hpp"
#include "windows/settings.hpp"

namespace headway::runtime {

/// The user's settings for all parts of an instance and for the modules above it.
struct settings {
  base::log_settings log = {};
  topology::settings topology = {};
  progress::settings progress = {};
  watch::settings watch = {};
  launch::settings launch = {};
  sampling::settings sampling = {};
  rails::settings rails = {};
  rails::shm::settings shm = {};
  rails::tcp::settings tcp = {};
  packets::settings packets = {};  ///< `processes` comes from the job
  endpoints::settings endpoints = {};
  collectives::settings collectives = {};
  std::filesystem::path cache = {};  ///< with the table of `headway tune`; empty: there is none
  windows::settings windows = {};
  /// Of the engine, the rails and all modules above; by default the machine's.
  base::clock clock = {};

  /// The only place that reads the environment for an instance.
  [[nodiscard]] static settings from_environment();
};

}  // namespace headway::runtime
