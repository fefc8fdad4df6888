#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "datatypes/number.hpp"

namespace headway::datatypes {

struct signature;
using signature_ptr = std::shared_ptr<const signature>;

/// The basic elements of a layout, in order, without their offsets.
/// Shape:    a run (`count` times `kind`), a loop (`count` times `child`) or a list.
/// Threads:  immutable; shared between layouts.
struct signature {
  enum class form : std::uint8_t { run, loop, list };

  form shape = form::run;
  number kind = number::none;
  std::int64_t count = 0;
  signature_ptr child = {};
  std::vector<signature_ptr> parts = {};
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
};

/// Bytes of a basic element (not of a pair).
[[nodiscard]] std::int64_t bytes_of(number kind) noexcept;

/// A run; null, which is the empty signature, if `count` is 0.
[[nodiscard]] signature_ptr run_signature(number kind, std::int64_t count);
[[nodiscard]] signature_ptr repeat(const signature_ptr& what, std::int64_t count);
/// The signatures in sequence; neighbouring runs of one kind become one run.
[[nodiscard]] signature_ptr join(const std::vector<signature_ptr>& parts);

/// The number of elements in the first `bytes`; -1 if these end inside an element.
[[nodiscard]] std::int64_t elements_in(const signature& s, std::int64_t bytes) noexcept;

/// Calls `visit(kind, count)` for each run in the order of the packed form.
template <class Visit>
void for_each_run(const signature& s, const Visit& visit) {
  switch (s.shape) {
    case signature::form::run:
      visit(s.kind, s.count);
      break;
    case signature::form::loop:
      for (std::int64_t i = 0; i < s.count; ++i) for_each_run(*s.child, visit);
      break;
    case signature::form::list:
      for (const auto& part : s.parts) for_each_run(*part, visit);
      break;
  }
}

}  // namespace headway::datatypes
