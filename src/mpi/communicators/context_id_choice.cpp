#include "mpi/communicators/context_id_choice.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace headway::mpi {

void context_id_choice::begin() {
  const std::uint32_t lowest = table_.reserve_lowest();
  // Without a free id the window is at the table's end, which windows reach as they widen.
  const std::size_t word =
      lowest == context_id_none ? context_ids::words - 1 : lowest / context_ids::word_bits;
  begin_round(lowest, word);
}

/// `proposal` is an id that is reserved, or `context_id_none`.
void context_id_choice::begin_round(std::uint32_t proposal, std::size_t first_word) {
  ++round_;
  reserved_ = proposal;
  const bool proposes = proposal != context_id_none;
  own_[0] = std::bit_cast<std::uint64_t>(head{.proposal = proposal,
                                              .first_word = static_cast<std::uint16_t>(first_word),
                                              .agreed = proposes});
  const auto free = std::span(own_).subspan(window_begin);
  table_.copy_free(first_word, free);
  const std::size_t word = proposal / context_ids::word_bits - first_word;
  if (proposes && word < free.size())  // the own reservation counts as free
    free[word] |= std::uint64_t{1} << (proposal % context_ids::word_bits);
}

void context_id_choice::combine() noexcept {
  head ours = head_of(own_);
  const head theirs = head_of(incoming_);
  ours.agreed = ours.agreed && theirs.agreed && ours.proposal == theirs.proposal;
  if (!ours.agreed) ours.proposal = context_id_none;
  HEADWAY_ASSERT(theirs.first_word + width() <= context_ids::words);
  const auto latest = std::max(own_[incarnation_at], incoming_[incarnation_at]);
  if (ours.first_word == theirs.first_word) {
    for (std::size_t i = window_begin; i < own_.size(); ++i) own_[i] &= incoming_[i];
  } else if (ours.first_word < theirs.first_word) {
    ours.first_word = theirs.first_word;
    std::ranges::copy(incoming_, own_.begin());
  }
  own_[0] = std::bit_cast<std::uint64_t>(ours);
  own_[incarnation_at] = latest;
}

bool context_id_choice::conclude() {
  const head all = head_of(own_);
  if (all.agreed) {
    id_ = std::exchange(reserved_, context_id_none);
    return true;
  }
  give_up();
  const std::uint32_t wanted = pick();
  if (wanted == context_id_none && width() == context_ids::words) return true;
  // From the third round on, other agreements compete for the same ids.
  if (wanted == context_id_none || round_ > 2) widen();
  const std::size_t first_word = all.first_word / width() * width();
  if (wanted == context_id_none) {
    begin_round(table_.reserve_lowest(first_word), first_word);
  } else {
    begin_round(table_.reserve(wanted) ? wanted : context_id_none, first_word);
  }
  return false;
}

void context_id_choice::give_up() noexcept {
  if (reserved_ == context_id_none) return;
  table_.give_back(std::exchange(reserved_, context_id_none));
}

void context_id_choice::widen() {
  const std::size_t wide = std::min(width() * width_step, context_ids::words);
  own_.resize(window_begin + wide);
  incoming_.resize(window_begin + wide);
}

/// An id that is free in all members, the same in all; different for each agreement and round.
std::uint32_t context_id_choice::pick() const noexcept {
  const auto free = std::span(own_).subspan(window_begin);
  std::uint32_t count = 0;
  for (const std::uint64_t word : free) count += static_cast<std::uint32_t>(std::popcount(word));
  if (count == 0) return context_id_none;
  std::uint32_t mixed = (seed_ + round_ * 0x9e3779b9u) * 0x85ebca6bu;
  mixed = (mixed ^ mixed >> 15) * 0x2c1b3c6du;
  std::uint32_t left = (mixed ^ mixed >> 16) % count;
  for (std::size_t i = 0; i < free.size(); ++i) {
    std::uint64_t bits = free[i];
    const auto here = static_cast<std::uint32_t>(std::popcount(bits));
    if (left < here) {
      for (; left > 0; --left) bits &= bits - 1;
      return static_cast<std::uint32_t>((head_of(own_).first_word + i) * context_ids::word_bits) +
             static_cast<std::uint32_t>(std::countr_zero(bits));
    }
    left -= here;
  }
  return context_id_none;
}

}  // namespace headway::mpi
