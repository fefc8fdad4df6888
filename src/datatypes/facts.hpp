#pragma once

#include <cstdint>

#include "datatypes/layout.hpp"
#include "datatypes/plan.hpp"
#include "datatypes/signature.hpp"

namespace headway::datatypes {

/// A layout under construction. The bounds that MPI_Type_create_resized has set are separate from
/// the bounds of the bytes: where some are set, they alone count (MPI-5.0 section 5.1.6).
/// Threads:  one at a time.
struct layout_facts {
  std::int64_t size = 0;
  std::int64_t true_lb = 0, true_ub = 0;  ///< only if size > 0
  std::int64_t set_lb = 0, set_ub = 0;    ///< only if bounds_set
  std::int64_t alignment = 1;
  number kind = number::none;
  number element_kind = number::none;
  bool bounds_set = false;
  bool overflow =
      false;  ///< a size or place did not fit into 64 bits; the other members are invalid
  placed_plan plan = {};
  signature_ptr elements = {};

  [[nodiscard]] static layout_facts of(const layout& l);
  /// `count` rounds, `stride` bytes apart.
  [[nodiscard]] layout_facts repeated(std::int64_t count, std::int64_t stride) const;
  [[nodiscard]] layout_facts moved(std::int64_t offset) const;
  void set_bounds(std::int64_t lb, std::int64_t extent) noexcept;
  [[nodiscard]] bool is_sound() const noexcept;
  /// Makes the layout. Not to be called if `overflow`.
  [[nodiscard]] layout_ptr finish() const;
  /// The same for a predefined layout, which is never deleted.
  static void fill(layout& l, const layout_facts& facts);
  static const layout* new_predefined(const layout_facts& facts);
};

/// Joins layouts to one, in the order in which they are added.
class facts_list {
 public:
  void add(const layout_facts& part);
  [[nodiscard]] layout_facts finish();

 private:
  layout_facts sum_;
  plan_list plans_;
  std::vector<signature_ptr> elements_;
};

}  // namespace headway::datatypes
