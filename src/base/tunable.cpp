#include "base/tunable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/mutex.hpp"
#include "base/once_a_job.hpp"

namespace headway::base {
namespace {

struct registry {
  mutex lock;  // taken when a tunable is built and when all are listed
  std::vector<tunable*> entries HEADWAY_GUARDED_BY(lock);
};

registry& all_tunables() {
  static registry one;
  return one;
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  int shift = 0;
  if (suffix == "k" || suffix == "K") shift = 10;
  else if (suffix == "M") shift = 20;
  else if (suffix == "G") shift = 30;
  else if (!suffix.empty()) return std::nullopt;
  const std::int64_t most = INT64_MAX >> shift;
  if (value > most || value < -most) return std::nullopt;
  return value * (std::int64_t{1} << shift);
}

}  // namespace

tunable::tunable(const char* name, const char* unit, const char* why)
    : name_(name), unit_(unit), why_(why) {
  auto& r = all_tunables();
  const lock_guard guard(r.lock);
  r.entries.push_back(this);
}

tunable::~tunable() {
  auto& r = all_tunables();
  const lock_guard guard(r.lock);
  std::erase(r.entries, this);
}

std::vector<tunable*> tunable::all() {
  auto& r = all_tunables();
  const lock_guard guard(r.lock);
  auto sorted = r.entries;
  std::ranges::sort(sorted, [](auto* a, auto* b) { return std::strcmp(a->name(), b->name()) < 0; });
  return sorted;
}

const char* tunable::environment_text() const { return std::getenv(name_); }

const char* tunable::origin_text(source from) noexcept {
  switch (from) {
    case source::environment:
      return "environment";
    case source::tool:
      return "MPI_T";
    case source::fallback:
      break;
  }
  return "default";
}

void tunable::report_invalid(std::string_view text, std::string_view accepted) const {
  const auto line = fmt::format("headway: {}={} is not understood (accepted: {}); using {}\n",
                                name_, text, accepted, fallback_text());
  if (first_of_job(line)) std::fputs(line.c_str(), stderr);
}

number_tunable::number_tunable(const char* name, const char* unit, std::int64_t fallback,
                               std::int64_t min, std::int64_t max, const char* why)
    : tunable(name, unit, why), fallback_(fallback), min_(min), max_(max), value_(fallback) {}

std::int64_t number_tunable::read_environment() const {
  std::call_once(read_, [this] {
    if (const char* text = environment_text()) {
      const auto given = parse_number(text);
      const bool valid = given && *given >= min_ && *given <= max_;
      if (valid) {
        value_ = *given;
        from_ = source::environment;
      } else {
        report_invalid(text, range_text());
      }
    }
    known_.store(true, std::memory_order_release);  // (K)
  });
  return value_;
}

bool number_tunable::set(std::int64_t value) {
  if (value < min_ || value > max_) return false;
  static_cast<void>(get());  // what the environment says must not come later
  value_ = value;
  from_ = source::tool;
  return true;
}

const char* number_tunable::origin() const {
  static_cast<void>(get());
  return origin_text(from_);
}
std::string number_tunable::value_text() const { return std::to_string(get()); }
std::string number_tunable::fallback_text() const { return std::to_string(fallback_); }
std::string number_tunable::range_text() const { return fmt::format("{} … {}", min_, max_); }

choice_tunable::choice_tunable(const char* name, std::vector<const char*> choices,
                               const char* fallback, const char* why)
    : tunable(name, "", why), choices_(std::move(choices)) {
  for (std::size_t i = 0; i < choices_.size(); ++i)
    if (!std::strcmp(choices_[i], fallback)) fallback_ = static_cast<int>(i);
  value_ = fallback_;
}

int choice_tunable::index() const {
  std::call_once(read_, [this] {
    const char* text = environment_text();
    if (!text) return;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (std::strcmp(choices_[i], text) != 0) continue;
      value_ = static_cast<int>(i);
      from_ = source::environment;
      return;
    }
    report_invalid(text, range_text());
  });
  return value_;
}

bool choice_tunable::set(int index) {
  if (index < 0 || static_cast<std::size_t>(index) >= choices_.size()) return false;
  static_cast<void>(this->index());  // as in number_tunable::set
  value_ = index;
  from_ = source::tool;
  return true;
}

const char* choice_tunable::origin() const {
  static_cast<void>(index());
  return origin_text(from_);
}
std::string choice_tunable::value_text() const {
  return choices_[static_cast<std::size_t>(index())];
}
std::string choice_tunable::fallback_text() const {
  return choices_[static_cast<std::size_t>(fallback_)];
}
std::string choice_tunable::range_text() const {
  return fmt::format("{}", fmt::join(choices_, "|"));
}

text_tunable::text_tunable(const char* name, const char* fallback, const char* shape,
                           const char* why)
    : tunable(name, "", why), fallback_(fallback), shape_(shape) {}

const std::string& text_tunable::get() const {
  std::call_once(read_, [this] {
    const char* text = environment_text();
    if (text) from_ = source::environment;
    value_ = text ? text : fallback_;
  });
  return value_;
}

void text_tunable::set(std::string_view text) {
  static_cast<void>(get());  // as in number_tunable::set
  value_ = text;
  from_ = source::tool;
}

const char* text_tunable::origin() const {
  static_cast<void>(get());
  return origin_text(from_);
}
std::string text_tunable::value_text() const { return get(); }
std::string text_tunable::fallback_text() const { return fallback_; }
std::string text_tunable::range_text() const { return shape_; }

}  // namespace headway::base
