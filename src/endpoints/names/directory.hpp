#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "endpoints/buffers/block.hpp"

namespace headway::endpoints {

/// A question for a name that waits for its answer.
struct inquiry {
  std::uint32_t process = 0;
  std::uint32_t token = 0;
  friend auto operator<=>(const inquiry&, const inquiry&) = default;
};

/// The names that one process keeps for the job: the end-points that own them, the processes that
/// cache them, and the look-ups that are not answered yet.
/// Shape:    grows with what other processes register; a process's part is dropped when it dies.
/// Threads:  the caller locks it.
/// Errors:   no packet of another process can corrupt it: see tests/fuzz/endpoint_packets_fuzz.cpp.
class directory {
 public:
  static constexpr std::size_t names_max = 262'144;  ///< of one process
  explicit directory(std::size_t most = names_max) noexcept : most_(most) {}

  /// True: the name is that of `owner` from now on; the look-ups that waited for it are moved to
  /// `lookups`. False: another end-point has it, or the directory is full.
  bool add(std::string_view name, address owner, std::vector<inquiry>& lookups);
  /// True: `owner` had it; the processes that may cache it are added to `caching`.
  bool remove(std::string_view name, address owner, std::set<std::uint32_t>& caching);
  /// The end-point that has it; id 0: none. In that case, with `wait`, the look-up is kept.
  [[nodiscard]] address ask(std::string_view name, inquiry from, bool wait);
  void forget(inquiry from);
  /// Drops the names and the look-ups of a process.
  void drop_process(std::uint32_t process);

  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  [[nodiscard]] bool full() const noexcept { return names_.size() >= most_; }
  [[nodiscard]] std::size_t question_count() const noexcept { return asking_.size(); }
  /// Look-ups kept at once; more are answered with "not there".
  static constexpr std::size_t questions_max = 65536;

 private:
  struct entry {
    address owner;
    std::set<std::uint32_t> caching;  // processes that cache it
  };
  const std::size_t most_;
  std::map<std::string, entry, std::less<>> names_;
  std::map<inquiry, std::string> asking_;
  std::multimap<std::string, inquiry, std::less<>> waited_for_;
};

/// Which process keeps a name: the living one with the highest score for it. When it dies, its
/// names move to the next; those of other processes stay.
/// Source:   D. Thaler, C. Ravishankar, "Using name-based mappings to increase hit rates" (1998):
///           rendezvous hashing.
[[nodiscard]] std::uint64_t score_of(std::string_view name, std::uint32_t process) noexcept;

}  // namespace headway::endpoints
