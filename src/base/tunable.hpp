#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic.hpp"

namespace headway::base {

/// One setting: its description for `headway info` and MPI_T, and its value, which comes from the
/// environment variable of its name or from `set`. One object of static storage in its module's
/// tunables.cpp; only the module's `settings::from_environment` reads its value.
/// Shape:    the name begins with HEADWAY_; sizes accept k, M, G (powers of 1024).
/// Threads:  any; the environment is read once, on first use. `set` alone: no other thread reads
///           the tunable meanwhile.
/// Errors:   for a value that is malformed or out of bounds, one line on standard error, and the
///           default is used.
class tunable {
 public:
  tunable(const char* name, const char* unit, const char* why);
  tunable(const tunable&) = delete;
  tunable& operator=(const tunable&) = delete;

  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] const char* unit() const noexcept { return unit_; }
  [[nodiscard]] const char* why() const noexcept { return why_; }
  /// Where the present value comes from: "default", "environment" or "MPI_T".
  [[nodiscard]] virtual const char* origin() const = 0;
  [[nodiscard]] virtual std::string value_text() const = 0;
  [[nodiscard]] virtual std::string fallback_text() const = 0;
  /// The accepted values, as a text: "0 … 1000", "off|explicit|auto".
  [[nodiscard]] virtual std::string range_text() const = 0;

  /// Every tunable of the program, sorted by name: for `headway info` and MPI_T.
  static std::vector<tunable*> all();

 protected:
  ~tunable();
  /// The environment's text, or nullptr. The only `getenv` for settings.
  [[nodiscard]] const char* environment_text() const;
  /// Reports on standard error that `text` is not a valid value.
  void report_invalid(std::string_view text, std::string_view accepted) const;
  /// Where a value comes from.
  enum class source : std::uint8_t { fallback, environment, tool };
  static const char* origin_text(source from) noexcept;

 private:
  const char* name_;
  const char* unit_;
  const char* why_;
};

/// A whole number with bounds, both included.
class number_tunable final : public tunable {
 public:
  number_tunable(const char* name, const char* unit, std::int64_t fallback, std::int64_t min,
                 std::int64_t max, const char* why);
  /// One load after the first call.
  [[nodiscard]] std::int64_t get() const {
    return known_.load(std::memory_order_acquire) ? value_ : read_environment();  // (K)
  }
  /// False: out of bounds, and nothing changes.
  [[nodiscard]] bool set(std::int64_t value);
  [[nodiscard]] const char* origin() const override;
  [[nodiscard]] std::string value_text() const override;
  [[nodiscard]] std::string fallback_text() const override;
  [[nodiscard]] std::string range_text() const override;

 private:
  std::int64_t read_environment() const;

  std::int64_t fallback_, min_, max_;
  mutable std::once_flag read_;  // excludes writers of the three below
  mutable std::int64_t value_;
  mutable source from_ = source::fallback;
  mutable atomic<bool> known_{false};  // release (K): the two above no longer change
};

/// One word out of a list.
class choice_tunable final : public tunable {
 public:
  choice_tunable(const char* name, std::vector<const char*> choices, const char* fallback,
                 const char* why);
  /// Position of the chosen word in the list.
  [[nodiscard]] int index() const;
  [[nodiscard]] const std::vector<const char*>& choices() const noexcept { return choices_; }
  /// False: there is no such position, and nothing changes.
  [[nodiscard]] bool set(int index);
  [[nodiscard]] const char* origin() const override;
  [[nodiscard]] std::string value_text() const override;
  [[nodiscard]] std::string fallback_text() const override;
  [[nodiscard]] std::string range_text() const override;

 private:
  std::vector<const char*> choices_;
  int fallback_ = 0;
  mutable std::once_flag read_;  // excludes writers of the two below
  mutable int value_ = 0;
  mutable source from_ = source::fallback;
};

/// Free text, which the module that reads it checks.
class text_tunable final : public tunable {
 public:
  text_tunable(const char* name, const char* fallback, const char* shape, const char* why);
  [[nodiscard]] const std::string& get() const;
  void set(std::string_view text);
  [[nodiscard]] const char* origin() const override;
  [[nodiscard]] std::string value_text() const override;
  [[nodiscard]] std::string fallback_text() const override;
  [[nodiscard]] std::string range_text() const override;

 private:
  const char* fallback_;
  const char* shape_;
  mutable std::once_flag read_;  // excludes writers of the two below
  mutable std::string value_;
  mutable source from_ = source::fallback;
};

}  // namespace headway::base
