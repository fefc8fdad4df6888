#include "collectives/persistent_banks.hpp"

#include <bit>

#include "base/assert.hpp"
#include "collectives/agreement.hpp"

namespace headway::collectives {
namespace {

/// The n-th operation of the team begins behind so many that the one before does not reach its
/// numbers: in a page that both have used, one after the other, numbers only grow.
constexpr int starts_bits = 40;

}  // namespace

struct persistent_banks::given {
  explicit given(persistent_banks& whole)
      : from(whole),
        banks(whole.local_, whole.memory_, whole.processes_,
              {.slot = whole.slot_,
               .bytes = own_bytes,
               .ring = &whole.ring_,
               .passed = whole.areas_}) {}

  void use(int which) noexcept {
    constexpr auto first_page = rails::shm_slots::bank_page_bytes;
    constexpr auto first_bank = first_page + operations_max * bank_memory::page_bytes;
    place = which;
    const auto number = static_cast<std::size_t>(which);
    banks.memory().move_to(first_page + number * bank_memory::page_bytes,
                           first_bank + number * std::size_t{own_bytes});
  }

  static void let_go(void* what) {
    auto* const self = static_cast<given*>(what);
    auto& used = self->from.used_;
    const auto bit = std::uint64_t{1} << self->place;
    delete self;
    used.fetch_and(~bit, std::memory_order_release);  // (F)
  }

  persistent_banks& from;
  int place = -1;
  shared_banks banks;
};

persistent_banks::persistent_banks(team& ranks, team& local, rails::shm_slots& memory,
                                   std::span<const rails::peer_id> processes, std::uint32_t slot,
                                   passed_areas* areas)
    : team_(ranks),
      local_(local),
      memory_(memory),
      processes_(processes.begin(), processes.end()),
      slot_(slot),
      ring_(memory, processes, slot, {.at = ring_at, .bytes = ring_bytes}, local.oversubscribed),
      areas_(areas) {
  HEADWAY_ASSERT(processes.size() == static_cast<std::size_t>(local.size));
}

persistent_banks::~persistent_banks() = default;

void persistent_banks::begin(schedule& s) {
  begun_ = std::make_unique<given>(*this);
  s.set_persistent(&begun_->banks, ++operations_ << starts_bits);
}

int persistent_banks::agree_on_place(bool wants) {
  const auto free = agree(team_, wants ? ~used_.load(std::memory_order_acquire) : 0);  // (C)
  if (free == 0) return -1;
  const int place = std::countr_zero(free);
  // Relaxed: this function alone sets bits.
  used_.fetch_or(std::uint64_t{1} << place, std::memory_order_relaxed);
  return place;
}

bool persistent_banks::settle(schedule& s, bool is_built) {
  HEADWAY_ASSERT(begun_);
  const auto stream_bytes = is_built ? s.stream_bytes_max() : std::nullopt;
  const int place = agree_on_place(stream_bytes && *stream_bytes <= stream_bytes_max);
  if (place >= 0) {
    begun_->use(place);
    s.when_cleared(given::let_go, begun_.release());
    return true;
  }
  const bool needs_none = is_built && !stream_bytes;
  if (!needs_none) s.clear();
  s.set_persistent();
  begun_.reset();
  return needs_none;
}

}  // namespace headway::collectives
