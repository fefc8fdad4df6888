#include "datatypes/facts.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace headway::datatypes {
namespace {

/// 64-bit arithmetic that records overflow.
class careful {
 public:
  explicit careful(bool& overflow) noexcept : overflow_(overflow) {}
  std::int64_t times(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) overflow_ = true;
    return product;
  }
  std::int64_t plus(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) overflow_ = true;
    return sum;
  }

 private:
  bool& overflow_;
};

std::int64_t round_up(std::int64_t value, std::int64_t multiple) noexcept {
  const auto rest = value % multiple;
  return rest == 0 ? value : value + multiple - rest;
}

}  // namespace

layout_facts layout_facts::of(const layout& l) {
  return {.size = l.size_,
          .true_lb = l.true_lb_,
          .true_ub = l.true_ub_,
          .set_lb = l.lb_,
          .set_ub = l.ub_,
          .alignment = l.alignment_,
          .kind = l.kind_,
          .element_kind = l.element_kind_,
          .bounds_set = l.bounds_set_,
          .plan = {l.origin_, l.plan_},
          .elements = l.signature_};
}

layout_facts layout_facts::repeated(std::int64_t rounds, std::int64_t stride) const {
  HEADWAY_ASSERT(rounds >= 0);
  if (overflow) return *this;
  if (rounds == 0) return {};
  layout_facts made = *this;
  if (rounds == 1) return made;
  careful sum(made.overflow);
  made.kind = number::none;
  made.size = sum.times(size, rounds);
  const auto last = sum.times(rounds - 1, stride);
  const auto down = std::min<std::int64_t>(last, 0);
  const auto up = std::max<std::int64_t>(last, 0);
  made.true_lb = sum.plus(true_lb, down);
  made.true_ub = sum.plus(true_ub, up);
  made.set_lb = sum.plus(set_lb, down);
  made.set_ub = sum.plus(set_ub, up);
  (void)sum.times(rounds, stride);  // plan.cpp computes this when it folds loops: check it here
  if (made.overflow) return made;
  made.plan = datatypes::repeat(plan, rounds, stride);
  made.elements = datatypes::repeat(elements, rounds);
  return made;
}

layout_facts layout_facts::moved(std::int64_t offset) const {
  layout_facts made = *this;
  careful sum(made.overflow);
  if (offset != 0) made.kind = number::none;
  made.true_lb = sum.plus(true_lb, offset);
  made.true_ub = sum.plus(true_ub, offset);
  made.set_lb = sum.plus(set_lb, offset);
  made.set_ub = sum.plus(set_ub, offset);
  made.plan.offset = sum.plus(plan.offset, offset);
  return made;
}

void layout_facts::set_bounds(std::int64_t lb, std::int64_t extent) noexcept {
  kind = number::none;
  bounds_set = true;
  set_lb = lb;
  set_ub = careful(overflow).plus(lb, extent);
}

/// The plan and the signature describe as many bytes as the layout has, inside its bounds.
bool layout_facts::is_sound() const noexcept {
  return !overflow && size >= 0 && alignment > 0 && (plan.plan ? plan.plan->size : 0) == size &&
         (elements ? elements->bytes : 0) == size &&
         (size == 0 || (true_lb < true_ub && true_lb <= plan.offset));
}

void layout_facts::fill(layout& l, const layout_facts& facts) {
  HEADWAY_ASSERT(facts.is_sound());
  l.size_ = facts.size;
  l.alignment_ = facts.alignment;
  l.kind_ = facts.kind;
  l.element_kind_ = facts.element_kind;
  l.bounds_set_ = facts.bounds_set;
  if (facts.size > 0) {
    l.true_lb_ = facts.true_lb;
    l.true_ub_ = facts.true_ub;
  }
  l.lb_ = facts.bounds_set ? facts.set_lb : l.true_lb_;
  l.ub_ = facts.bounds_set ? facts.set_ub : l.lb_ + round_up(l.true_ub_ - l.lb_, facts.alignment);
  l.origin_ = facts.plan.offset;
  l.plan_ = facts.plan.plan;
  l.signature_ = facts.elements ? facts.elements : std::make_shared<const signature>();
  l.one_block_ = !l.plan_ || l.plan_->shape == plan::form::block;
  l.contiguous_ = l.one_block_ && l.extent() == l.size_;
}

layout_ptr layout_facts::finish() const {
  auto* made = new layout;
  const layout_ptr shared(made);
  fill(*made, *this);
  return shared;
}

const layout* layout_facts::new_predefined(const layout_facts& facts) {
  auto* made = new layout;
  fill(*made, facts);
  made->immortal_ = true;
  return made;
}

void facts_list::add(const layout_facts& part) {
  if (part.overflow) sum_.overflow = true;
  if (sum_.overflow) return;
  if (part.bounds_set) {
    sum_.set_lb = sum_.bounds_set ? std::min(sum_.set_lb, part.set_lb) : part.set_lb;
    sum_.set_ub = sum_.bounds_set ? std::max(sum_.set_ub, part.set_ub) : part.set_ub;
    sum_.bounds_set = true;
  }
  if (part.size == 0) return;
  const bool first = sum_.size == 0;
  sum_.element_kind =
      first || sum_.element_kind == part.element_kind ? part.element_kind : number::none;
  sum_.true_lb = first ? part.true_lb : std::min(sum_.true_lb, part.true_lb);
  sum_.true_ub = first ? part.true_ub : std::max(sum_.true_ub, part.true_ub);
  sum_.alignment = std::max(sum_.alignment, part.alignment);
  sum_.size = careful(sum_.overflow).plus(sum_.size, part.size);
  plans_.add(0, part.plan);
  elements_.push_back(part.elements);
}

layout_facts facts_list::finish() {
  layout_facts made = sum_;
  made.plan = plans_.finish();
  made.elements = join(elements_);
  return made;
}

}  // namespace headway::datatypes
