#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic.hpp"

namespace headway::base {

/// Describes one environment variable, for `headway info`, and reads it: one object of static
/// storage in its module's tunables.cpp. Only the module's `settings::from_environment` asks for
/// its value.
/// Shape:    name HEADWAY_…; the unit is part of the entry, sizes accept k, M, G (powers of 1024).
/// Threads:  read from the environment once, on first use; any thread after that.
/// Errors:   a value that makes no sense or is out of bounds is reported in one line on standard
///           error and the default is used.
class tunable {
 public:
  tunable(const char* name, const char* unit, const char* why);
  tunable(const tunable&) = delete;
  tunable& operator=(const tunable&) = delete;

  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] const char* unit() const noexcept { return unit_; }
  [[nodiscard]] const char* why() const noexcept { return why_; }
  /// Where the value in force comes from: "default" or "environment".
  [[nodiscard]] virtual const char* origin() const = 0;
  [[nodiscard]] virtual std::string value_text() const = 0;
  [[nodiscard]] virtual std::string fallback_text() const = 0;
  /// What values are accepted, in words or numbers: "0 … 1000", "off|explicit|auto".
  [[nodiscard]] virtual std::string range_text() const = 0;

  /// Every tunable of the program, sorted by name: for `headway info` and MPI_T.
  static std::vector<const tunable*> all();

 protected:
  ~tunable();
  /// The environment's text, or nullptr. The only `getenv` for settings.
  [[nodiscard]] const char* environment_text() const;
  void complain(std::string_view text, std::string_view accepted) const;
  static const char* origin_text(bool from_environment) noexcept;

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
  /// One load after the first time.
  [[nodiscard]] std::int64_t get() const {
    return known_.load(std::memory_order_acquire) ? value_ : read_environment();  // (K)
  }
  [[nodiscard]] const char* origin() const override;
  [[nodiscard]] std::string value_text() const override;
  [[nodiscard]] std::string fallback_text() const override;
  [[nodiscard]] std::string range_text() const override;

 private:
  std::int64_t read_environment() const;

  std::int64_t fallback_, min_, max_;
  mutable std::once_flag read_;  // excludes writers of the three below
  mutable std::int64_t value_;
  mutable bool from_environment_ = false;
  mutable atomic<bool> known_{false};  // release (K): the two above are what they stay
};

/// One word out of a list.
class choice_tunable final : public tunable {
 public:
  choice_tunable(const char* name, std::vector<const char*> choices, const char* fallback,
                 const char* why);
  /// Position of the chosen word in the list.
  [[nodiscard]] int index() const;
  [[nodiscard]] const char* origin() const override;
  [[nodiscard]] std::string value_text() const override;
  [[nodiscard]] std::string fallback_text() const override;
  [[nodiscard]] std::string range_text() const override;

 private:
  std::vector<const char*> choices_;
  int fallback_ = 0;
  mutable std::once_flag read_;  // excludes writers of the two below
  mutable int value_ = 0;
  mutable bool from_environment_ = false;
};

/// Free text, which its user checks.
class text_tunable final : public tunable {
 public:
  text_tunable(const char* name, const char* fallback, const char* shape, const char* why);
  [[nodiscard]] const std::string& get() const;
  [[nodiscard]] const char* origin() const override;
  [[nodiscard]] std::string value_text() const override;
  [[nodiscard]] std::string fallback_text() const override;
  [[nodiscard]] std::string range_text() const override;

 private:
  const char* fallback_;
  const char* shape_;
  mutable std::once_flag read_;  // excludes writers of the two below
  mutable std::string value_;
  mutable bool from_environment_ = false;
};

}  // namespace headway::base
