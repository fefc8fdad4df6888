#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace headway::simulation {

/// What one simulated process does, started a bit at a time and checked when it is over.
/// Threads:  one.
class workload {
 public:
  virtual ~workload() = default;
  workload(const workload&) = delete;
  workload& operator=(const workload&) = delete;

  /// Checks what is over. After each run of the process.
  virtual void check() = 0;
  virtual void start_some() = 0;
  /// Something may be started now.
  [[nodiscard]] virtual bool may_start() const = 0;
  [[nodiscard]] virtual bool done() const = 0;
  /// The program takes all memory that it can get, or gives it back.
  virtual void hoard(bool) {}
  /// From now on what involves that process may fail.
  virtual void process_died(std::uint32_t which) = 0;
  /// The rails have stopped: gives back what the process has of the modules below. Nothing is
  /// checked any more.
  virtual void close() = 0;
  /// What is still under way, for a report.
  [[nodiscard]] virtual std::string state() const = 0;

  /// Empty: all is well.
  [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }
  [[nodiscard]] std::uint64_t checked() const noexcept { return checked_; }
  [[nodiscard]] std::uint64_t failed() const noexcept { return failed_; }

 protected:
  workload() = default;
  /// Only the first complaint is kept: what follows may be its consequence.
  void complain(std::string why) {
    if (complaint_.empty()) complaint_ = std::move(why);
  }
  std::uint64_t checked_ = 0;  ///< messages, or operations, that ended as they should
  std::uint64_t failed_ = 0;   ///< that ended because a process was lost

 private:
  std::string complaint_;
};

}  // namespace headway::simulation
