#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "rails/shm/shm_driver.hpp"

namespace headway::rails::shm {

/// A temporary folder, removed at the end.
struct folder {
  folder() {
    std::array<char, 32> name{"/tmp/headway-shm-XXXXXX"};
    path = mkdtemp(name.data());
  }
  ~folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::size_t files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& e : std::filesystem::directory_iterator(path)) ++count;
    return count;
  }
  std::string path;
};

inline config config_in(const folder& where, std::uint32_t rank, std::uint32_t size = 2) {
  return {.job_id = "job", .rank = rank, .size = size, .how = {.directory = where.path}};
}

}  // namespace headway::rails::shm
