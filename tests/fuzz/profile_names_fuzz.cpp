// Names of hosts, rails and hardware of any bytes, as other processes publish them: the file of a
// profile is inside of the folder, and two profiles never share one.

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/log.hpp"
#include "sampling/record.hpp"
#include "sampling/store.hpp"

using namespace headway::sampling;

namespace {

constexpr std::uint64_t now_s = 1'800'000'000;

void require(bool holds) {
  if (!holds) std::abort();
}

const std::filesystem::path& folder() {
  static const auto made = [] {
    auto path = std::filesystem::temp_directory_path() / fmt::format("headway-fuzz-{}", getpid());
    std::filesystem::create_directories(path);
    std::atexit([] { std::filesystem::remove_all(folder()); });
    return path;
  }();
  return made;
}

/// The next of the names, which are parted by zero bytes.
std::string next_name(std::string& all) {
  const auto end = all.find('\0');
  auto name = all.substr(0, end);
  all = end == std::string::npos ? "" : all.substr(end + 1);
  return name;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  headway::base::log_as({.least = headway::base::severity::error});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string all(reinterpret_cast<const char*>(data), size);
  const profile_key key{.here = next_name(all), .there = next_name(all), .rail = next_name(all)};
  const profile_key other{.here = next_name(all), .there = next_name(all), .rail = next_name(all)};
  const store kept({.folder = folder()});
  require(kept.file_of(key).parent_path() == folder());
  require(kept.file_of(key).lexically_normal().parent_path() == folder());
  const bool alike = key.here == other.here && key.there == other.there && key.rail == other.rail;
  require((kept.file_of(key) == kept.file_of(other)) == alike);
  record r;
  r.key = key;
  r.hardware = next_name(all);
  constexpr std::uint64_t day_s = 24 * 60 * 60;
  constexpr std::array<std::uint64_t, 4> times{now_s, now_s, now_s + 2 * day_s, now_s / 2};
  r.measured_at = times[size / 2 % times.size()];
  r.found.connections = 1 + static_cast<int>(size % 2);
  require(!store({}).save(r));  // there is no folder
  if (!kept.save(r)) return 0;  // a name that is too long for the file system
  if (kept.find(key, r.hardware, now_s)) require(r.measured_at == now_s);
  static_cast<void>(kept.several(key.here, key.rail, r.hardware, now_s));
  std::error_code gone;
  std::filesystem::remove(kept.file_of(key), gone);
  std::filesystem::remove(folder() / "several" / kept.file_of(key).filename(), gone);
  return 0;
}
