#include "collectives/persistent_banks.hpp"

#include <bit>

#include "collectives/agreement.hpp"

namespace headway::collectives {
namespace {

/// The n-th operation of the team begins behind so many that the one before does not reach its
/// numbers: in a page that both have used, one after the other, numbers only grow.
constexpr int starts_bits = 40;

}  // namespace

struct persistent_banks::given {
  given(persistent_banks& whole, int which, const shared_banks::location& where)
      : from(whole), place(which), banks(whole.team_, whole.memory_, whole.processes_, where) {}

  static void let_go(void* what) {
    auto* const self = static_cast<given*>(what);
    auto& used = self->from.used_;
    const auto bit = std::uint64_t{1} << self->place;
    delete self;
    used.fetch_and(~bit, std::memory_order_release);  // (F)
  }

  persistent_banks& from;
  const int place;
  shared_banks banks;
};

persistent_banks::persistent_banks(team& ranks, rails::shm_slots& memory,
                                   std::span<const rails::peer_id> processes, std::uint32_t slot)
    : team_(ranks),
      memory_(memory),
      processes_(processes.begin(), processes.end()),
      slot_(slot),
      ring_(memory, processes, slot, {.at = ring_at, .bytes = ring_bytes}) {}

void persistent_banks::give(schedule& s, std::optional<std::int64_t> stream_bytes) {
  ++operations_;
  const bool wants = stream_bytes && *stream_bytes <= stream_bytes_max;
  const auto free = agree(team_, wants ? ~used_.load(std::memory_order_acquire) : 0);  // (C)
  if (free == 0) return s.set_persistent();
  const int place = std::countr_zero(free);
  // Relaxed: `give` alone sets bits.
  used_.fetch_or(std::uint64_t{1} << place, std::memory_order_relaxed);
  constexpr auto first_page = rails::shm_slots::bank_page_bytes;
  constexpr auto first_bank = first_page + operations_max * shared_banks::page_bytes;
  const auto number = static_cast<std::size_t>(place);
  auto* const made = new given(*this, place,
                               {.slot = slot_,
                                .bytes = own_bytes,
                                .page_at = first_page + number * shared_banks::page_bytes,
                                .bank_at = first_bank + number * std::size_t{own_bytes},
                                .ring = &ring_});
  s.set_persistent(&made->banks, operations_ << starts_bits);
  s.when_cleared(given::let_go, made);
}

}  // namespace headway::collectives
