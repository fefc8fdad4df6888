#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "mpi/objects/object.hpp"

namespace headway::mpi {

/// An MPI info object: keys with values, in the order in which the keys were first set.
/// Threads:  any; a lock, which no message takes.
class info final : public object {
 public:
  using handle = MPI_Info;
  static constexpr object_kind object_kind_of = object_kind::info;
  static constexpr std::uintptr_t null_value = 0x130;

  info() = default;
  explicit info(std::vector<std::pair<std::string, std::string>> entries)
      : entries_(std::move(entries)) {}

  void set(std::string_view key, std::string_view value);
  [[nodiscard]] std::optional<std::string> get(std::string_view key) const;
  /// False: no such key.
  [[nodiscard]] bool remove(std::string_view key);
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> entries() const;

 private:
  mutable base::mutex lock_;
  std::vector<std::pair<std::string, std::string>> entries_ HEADWAY_GUARDED_BY(lock_);
};

/// Fills MPI_INFO_ENV. Called at start, when the job is known.
void fill_info_env();

}  // namespace headway::mpi
