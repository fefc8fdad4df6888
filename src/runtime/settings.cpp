#include "runtime/settings.hpp"

namespace headway::runtime {

settings settings::from_environment() {
  return {.log = base::log_settings::from_environment(),
          .topology = topology::settings::from_environment(),
          .progress = progress::settings::from_environment(),
          .watch = watch::settings::from_environment(),
          .launch = launch::settings::from_environment(),
          .sampling = sampling::settings::from_environment(),
          .rails = rails::settings::from_environment(),
          .shm = rails::shm::settings::from_environment(),
          .tcp = rails::tcp::settings::from_environment(),
          .packets = packets::settings::from_environment(),
          .endpoints = endpoints::settings::from_environment(),
          .collectives = collectives::settings::from_environment(),
          .cache = sampling::cache_folder(),
          .windows = windows::settings::from_environment()};
}

}  // namespace headway::runtime
