#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "messages/numbers.hpp"

namespace headway::mpi {

/// Gives out tags of `messages::partition_tags` in ranges, each again as late as possible: a
/// receiver may still have messages of a range that its sender has given back.
/// Threads:  any; a mutex. Allocates.
class tag_ranges {
 public:
  /// The first of `count` tags in a row, at least one, that no other range has; nothing: there are
  /// not so many.
  [[nodiscard]] std::optional<int> take(std::uint32_t count);
  void give_back(int first) noexcept;

 private:
  base::mutex lock_;
  std::map<std::uint32_t, std::uint32_t> taken_ HEADWAY_GUARDED_BY(lock_);  // begin, end
  std::uint32_t next_ HEADWAY_GUARDED_BY(lock_) = 0;
};

}  // namespace headway::mpi
