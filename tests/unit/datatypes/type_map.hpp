#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "datatypes/layout.hpp"

namespace headway::datatypes::test {

/// The naive reference: a datatype as the list of its basic elements, exactly as MPI-5.0 section
/// 5.1 defines it, bound markers included. Slow, obvious, and built without the code under test.
struct type_map {
  struct element {
    std::int64_t offset;
    number kind;
  };
  std::vector<element> elements;
  std::vector<std::int64_t> lb_markers, ub_markers;

  [[nodiscard]] static type_map of(number kind);
  [[nodiscard]] type_map at(std::int64_t offset) const;
  void append(const type_map& other);
  [[nodiscard]] type_map repeated(std::int64_t count, std::int64_t stride) const;

  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] std::int64_t lb() const;
  [[nodiscard]] std::int64_t ub() const;
  [[nodiscard]] std::int64_t extent() const { return ub() - lb(); }
  [[nodiscard]] std::int64_t true_lb() const;
  [[nodiscard]] std::int64_t true_ub() const;
  [[nodiscard]] std::vector<std::byte> pack(const std::byte* from, std::int64_t count) const;
};

/// Both forms of one type.
struct twin {
  layout_ptr made;
  type_map reference;
};

/// A random type: up to `depth` constructors on top of a predefined type.
[[nodiscard]] twin random_type(std::uint64_t seed, int depth);

}  // namespace headway::datatypes::test
