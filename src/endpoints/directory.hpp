#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "endpoints/block.hpp"

namespace headway::endpoints {

/// Whoever asked for a name.
struct asker {
  std::uint32_t process = 0;
  std::uint32_t token = 0;
  friend auto operator<=>(const asker&, const asker&) = default;
};

/// The names that one process keeps for the job: whose they are, who was told, who still asks.
/// Shape:    grows with what others register; a process's part goes when it dies.
/// Threads:  none; its owner locks it.
/// Errors:   whatever others say, nothing is broken: see tests/fuzz/endpoint_packets_fuzz.cpp.
class directory {
 public:
  static constexpr std::size_t names_max = 262'144;  ///< of one keeper
  explicit directory(std::size_t most = names_max) noexcept : most_(most) {}

  /// True: `who` has the name now, and `waited` are those who asked for it. False: another has it,
  /// or the directory is full.
  bool add(std::string_view name, address who, std::vector<asker>& waited);
  /// True if `who` had it; `told` are the processes that may know it.
  bool remove(std::string_view name, address who, std::set<std::uint32_t>& told);
  /// Whose it is; id 0: nobody's. With `wait`, the question is kept then.
  [[nodiscard]] address ask(std::string_view name, asker from, bool wait);
  void forget(asker from);
  /// What it had and what it asked for.
  void drop_process(std::uint32_t process);

  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  [[nodiscard]] bool full() const noexcept { return names_.size() >= most_; }
  [[nodiscard]] std::size_t question_count() const noexcept { return asking_.size(); }
  /// Questions of one process at once; more are answered "not there".
  static constexpr std::size_t questions_max = 65536;

 private:
  struct entry {
    address who;
    std::set<std::uint32_t> told;
  };
  const std::size_t most_;
  std::map<std::string, entry, std::less<>> names_;
  std::map<asker, std::string> asking_;
  std::multimap<std::string, asker, std::less<>> waited_for_;
};

/// Which process keeps a name: the living one with the highest score for it. When it dies, its
/// names go to the next, and nobody else's move.
/// Source:   D. Thaler, C. Ravishankar, "Using name-based mappings to increase hit rates" (1998):
///           rendezvous hashing.
[[nodiscard]] std::uint64_t score_of(std::string_view name, std::uint32_t process) noexcept;

}  // namespace headway::endpoints
