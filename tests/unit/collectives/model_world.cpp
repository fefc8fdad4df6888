#include "model_world.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "collectives/schedule_run.hpp"
#include "collectives/shared_banks.hpp"

namespace headway::collectives::test {

using messages::outcome;

struct model_world::process final : transport, peer_copies, rails::shm_slots {
  process(model_world& all, int number, int size, const std::vector<int>& node_of_rank)
      : world(all), rank(number), ranks(*this, number, size) {
    if (!node_of_rank.empty()) {
      levels.emplace(ranks, node_of_rank);
      ranks.memory.levels = &*levels;
    }
    local().memory.copies = this;
    local().memory.lends = all.dice_() % 2 == 0;
  }
  /// The ranks that have memory together with this one.
  [[nodiscard]] team& local() { return levels ? levels->local() : ranks; }
  /// When all ranks are there.
  void open(std::int64_t bytes) {
    const auto all = local_processes();
    if (all.size() == 2) {
      const auto own = static_cast<std::size_t>(local().rank);
      areas.emplace(*this, 0, all[own], all[1 - own]);
    }
    banks = std::make_unique<shared_banks>(
        local(), *this, all, bank_memory::location{.slot = 0, .bytes = bytes, .passed = passed()});
    local().memory.banks = banks.get();
  }

  [[nodiscard]] std::byte* area_of(int of) const {
    return world.processes_[static_cast<std::size_t>(of)]->memory.get() +
           rails::shm_slots::passed_at;
  }
  [[nodiscard]] passed_areas* passed() { return areas ? &*areas : nullptr; }
  /// Shorter than what is under way at once.
  void open_ring() {
    constexpr std::size_t at = rails::shm_slots::banked_bytes / 2;
    ring = std::make_unique<byte_ring>(*this, local_processes(), 1,
                                       byte_ring::extent{.at = at, .bytes = 4096}, false);
  }
  [[nodiscard]] std::vector<rails::peer_id> local_processes() {
    std::vector<rails::peer_id> made;
    for (int i = 0; i < local().size; ++i)
      made.push_back(rails::peer_id{static_cast<unsigned>(local().bound_rank(i))});
    return made;
  }

  std::byte* lines_of(rails::peer_id, std::uint32_t) noexcept override { return nullptr; }
  std::byte* bank_of(rails::peer_id peer, std::uint32_t slot) noexcept override {
    process& its = *world.processes_[static_cast<std::size_t>(peer)];
    return (slot == 0 ? its.memory : its.own_memory).get();
  }
  bool reserve_bank(std::uint32_t) noexcept override { return true; }
  bool reserve_passed(std::uint32_t, std::size_t) noexcept override { return true; }
  void wake(rails::peer_id, bool can_wait) noexcept override {  // all are polled
    if (!can_wait) ++urgent_wakes;
  }
  void watch(watcher&) override {}
  void unwatch(watcher&) noexcept override {}
  void submit(shared_banks& waiting) noexcept override {
    world.events_.push_back([this, &waiting] { world.poll(*this, waiting); });
  }
  void look_now() noexcept override {}
  void rely() noexcept override { ++relying; }
  void rely_no_more() noexcept override { --relying; }

  void send(messages::request& r, std::span<const std::byte> data, int destination,
            messages::label as) noexcept override {
    world.send(rank, r, data, destination, as.tag);
  }
  void send_failure(messages::request& r, outcome, std::size_t due_bytes, int destination,
                    messages::label as) noexcept override {
    world.send(rank, r, wrong_length(due_bytes), destination, as.tag);
  }
  void receive(messages::request& r, std::span<std::byte> buffer, int source,
               messages::label as) noexcept override {
    world.receive(rank, r, buffer, source, as.tag);
  }
  [[nodiscard]] bool read(int from_rank, std::uint64_t from,
                          std::span<std::byte> to) noexcept override {
    const int whose = local().bound_rank(from_rank);
    if (world.dead(whose) || world.shielded_ == whose) return false;
    std::memcpy(to.data(), reinterpret_cast<const std::byte*>(from), to.size());
    return true;
  }
  [[nodiscard]] messages::operation_log& log() noexcept override { return operations; }
  [[nodiscard]] bool lost(int other) const noexcept override { return world.dead(other); }
  void submit(schedule_run& ready) noexcept override {
    world.events_.push_back([this, &ready] {
      if (!dead) ready.take_turn();
    });
  }
  void wait(progress::completion&) noexcept override { std::abort(); }  // all ranks are one thread
  [[nodiscard]] bool begin_lone_spin() noexcept override { return false; }
  void end_lone_spin() noexcept override {}
  void pending_started() noexcept override { ++pending; }
  void pending_ended() noexcept override { --pending; }

  model_world& world;
  int rank;
  messages::operation_log operations;
  team ranks;
  std::optional<node_levels> levels;
  int pending = 0;
  int urgent_wakes = 0, relying = 0;
  bool dead = false;
  struct release {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  /// Areas of worlds that have ended: a fresh one costs a sanitizer more than the operations in it.
  static std::vector<std::unique_ptr<std::byte, release>>& spare_areas() {
    static std::vector<std::unique_ptr<std::byte, release>> kept;
    return kept;
  }
  struct give_back {
    void operator()(std::byte* p) const noexcept { spare_areas().emplace_back(p); }
  };
  using area = std::unique_ptr<std::byte, give_back>;
  [[nodiscard]] static area take_area() {
    auto& kept = spare_areas();
    if (kept.empty()) {
      constexpr auto bytes = rails::shm_slots::banked_bytes;
      constexpr auto alignment = rails::shm_slots::line_bytes;
      return area(static_cast<std::byte*>(std::aligned_alloc(alignment, bytes)));
    }
    area taken(kept.back().release());
    kept.pop_back();
    return taken;
  }
  area memory = take_area();
  area own_memory = take_area();      ///< of persistent operations
  std::optional<passed_areas> areas;  ///< of two ranks
  std::unique_ptr<shared_banks> banks;
  std::unique_ptr<byte_ring> ring;  ///< null: none
};

model_world::model_world(int ranks, std::uint64_t seed, const std::vector<int>& node_of_rank)
    : dice_(seed) {
  for (int i = 0; i < ranks; ++i)
    processes_.push_back(std::make_unique<process>(*this, i, ranks, node_of_rank));
  constexpr std::int64_t small = 256;
  const auto bytes = seed % 2 == 0 ? small : std::int64_t{rails::shm_slots::bank_bytes};
  for (auto& n : processes_) {
    std::memset(n->memory.get(), 0, rails::shm_slots::bank_page_bytes);
    std::memset(n->own_memory.get(), 0, own_banks_max * bank_memory::page_bytes);
    n->open(bytes);
    if (seed % 3 != 0) n->open_ring();
  }
}
model_world::~model_world() = default;

std::unique_ptr<shared_banks> model_world::own_banks(int rank, int number) {
  constexpr std::size_t bytes = 256;
  const auto place = static_cast<std::size_t>(number);
  auto& of = *processes_[static_cast<std::size_t>(rank)];
  return std::make_unique<shared_banks>(
      of.local(), of, of.local_processes(),
      bank_memory::location{.slot = 1,
                            .bytes = bytes,
                            .page_at = place * bank_memory::page_bytes,
                            .bank_at = own_banks_max * bank_memory::page_bytes + place * bytes,
                            .ring = of.ring.get(),
                            .passed = of.passed()});
}

passed_areas& model_world::areas(int rank) {
  return processes_[static_cast<std::size_t>(rank)]->areas.value();
}
std::byte* model_world::area_of(int rank) const { return processes_.front()->area_of(rank); }

int model_world::size() const noexcept { return static_cast<int>(processes_.size()); }
team& model_world::ranks(int rank) { return processes_[static_cast<std::size_t>(rank)]->ranks; }
bool model_world::dead(int rank) const { return processes_[static_cast<std::size_t>(rank)]->dead; }

int model_world::urgent_wakes(int rank) const {
  return processes_[static_cast<std::size_t>(rank)]->urgent_wakes;
}

int model_world::relying(int rank) const {
  return processes_[static_cast<std::size_t>(rank)]->relying;
}

void model_world::shield(int rank) { shielded_ = rank; }

int model_world::pending() const {
  int sum = 0;
  for (const auto& n : processes_) sum += n->dead ? 0 : n->pending;
  return sum;
}

void model_world::finish(messages::request& r, outcome how, int source, std::size_t bytes) {
  events_.push_back([&r, how, source, bytes] {
    r.arrived = {.source = source, .tag = 0, .bytes = bytes, .how = how};
    if (!r.finish || r.finish(r)) r.complete();
  });
}

void model_world::send(int source, messages::request& r, std::span<const std::byte> data,
                       int destination, int tag) {
  ++sent_;
  if (dead(destination)) return finish(r, outcome::peer_lost, destination, 0);
  posting p{&r, {}, data, {}};
  if (dice_() % 2 == 0) {  // eager: the sender may go on, and change its buffer
    p.eager.assign(data.begin(), data.end());
    p.request = nullptr;
    finish(r, outcome::ok, source, data.size());
  }
  const key where{source, destination, tag};
  lines_[where].sends.push_back(std::move(p));
  events_.push_back([this, where] { deliver(where); });
}

void model_world::receive(int destination, messages::request& r, std::span<std::byte> buffer,
                          int source, int tag) {
  const key where{source, destination, tag};
  if (dead(source) && lines_[where].sends.empty()) return finish(r, outcome::peer_lost, source, 0);
  lines_[where].receives.push_back({&r, {}, {}, buffer});
  events_.push_back([this, where] { deliver(where); });
}

void model_world::deliver(const key& where) {
  line& l = lines_[where];
  if (l.sends.empty() || l.receives.empty()) return;
  const posting s = std::move(l.sends.front());
  const posting r = std::move(l.receives.front());
  l.sends.pop_front();
  l.receives.pop_front();
  const auto data = s.request ? s.data : std::span<const std::byte>(s.eager);
  const auto bytes = std::min(data.size(), r.buffer.size());
  if (bytes > 0) std::memcpy(r.buffer.data(), data.data(), bytes);
  finish(*r.request, data.size() > r.buffer.size() ? outcome::truncated : outcome::ok, where.source,
         bytes);
  if (s.request) finish(*s.request, outcome::ok, where.source, data.size());
}

void model_world::kill(int rank) {
  processes_[static_cast<std::size_t>(rank)]->dead = true;
  for (auto& [where, l] : lines_) {
    if (where.source == rank) {
      std::erase_if(l.sends, [](const posting& p) { return p.request != nullptr; });
      for (std::size_t i = l.sends.size(); i < l.receives.size(); ++i) {
        finish(*l.receives[i].request, outcome::peer_lost, rank, 0);
      }
      l.receives.resize(std::min(l.receives.size(), l.sends.size()));
    } else if (where.destination == rank) {
      for (auto& p : l.sends) {
        if (p.request) finish(*p.request, outcome::peer_lost, rank, 0);
      }
      l.sends.clear();
      l.receives.clear();
    }
  }
}

void model_world::poll(process& of, shared_banks& banks) {
  if (of.dead) return;
  switch (banks.poll()) {
    case progress::ltask_result::done:
      return;
    case progress::ltask_result::advanced:
      return events_.push_back([this, &of, &banks] { poll(of, banks); });
    case progress::ltask_result::idle:
      return idle_.push_back({&of, &banks});
  }
}

/// Polls what was idle, because others may have gone on. False: nothing has.
bool model_world::poll_idle() {
  const auto idle = std::exchange(idle_, {});
  for (const auto& [of, banks] : idle) poll(*of, *banks);
  return idle_.size() < idle.size();
}

void model_world::settle(int limit) {
  for (int i = 0; i < limit; ++i) {
    if (events_.empty()) {
      if (!poll_idle()) return;
      continue;
    }
    std::swap(events_[dice_() % events_.size()], events_.back());
    const auto event = std::move(events_.back());
    events_.pop_back();
    event();
  }
}

void model_world::everyone(const std::function<void(int rank, team& t)>& act) {
  for (auto& n : processes_) act(n->rank, n->ranks);
}

}  // namespace headway::collectives::test
