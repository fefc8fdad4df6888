#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace headway::simulation {

/// The work of one simulated process, started in small parts and checked when it has ended.
/// Threads:  one.
class workload {
 public:
  virtual ~workload() = default;
  workload(const workload&) = delete;
  workload& operator=(const workload&) = delete;

  /// Checks operations that have ended. Called after each run of the process; `advanced`: something
  /// has advanced in it.
  virtual void check(bool advanced) = 0;
  virtual void start_some() = 0;
  /// Whether more work may be started now, as far as that is known: `start_some` is of no use
  /// otherwise.
  [[nodiscard]] virtual bool may_start() const = 0;
  [[nodiscard]] virtual bool done() const = 0;
  /// The program takes all memory that it can get, or gives it back.
  virtual void hoard(bool) {}
  /// Allows operations that involve that process to fail from now on.
  virtual void process_died(std::uint32_t which) = 0;
  /// Releases everything of the modules below, after the rails have stopped. Checks nothing.
  virtual void close() = 0;
  /// What it has pending at the engine as long as it exists.
  [[nodiscard]] virtual std::size_t always_pending() const { return 0; }
  /// A text that lists the operations under way, for a report.
  [[nodiscard]] virtual std::string state() const = 0;

  /// The first violated invariant; empty: none.
  [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }
  [[nodiscard]] std::uint64_t checked() const noexcept { return checked_; }
  [[nodiscard]] std::uint64_t failed() const noexcept { return failed_; }

 protected:
  workload() = default;
  /// Only the first violation is kept: later ones may be its consequences.
  void complain(std::string why) {
    if (complaint_.empty()) complaint_ = std::move(why);
  }
  std::uint64_t checked_ = 0;  ///< messages, or operations, that ended without an error
  std::uint64_t failed_ = 0;   ///< those that ended because a process was lost

 private:
  std::string complaint_;
};

}  // namespace headway::simulation
