#include "tools/headway/rail_meter.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>

#include "base/clock.hpp"

namespace headway::tool {
namespace {

constexpr std::size_t repeats_min = 4;
constexpr std::size_t repeats_usual = 12;  // fewer if they take far longer than `size_ns`
constexpr std::size_t repeats_max = 200;
constexpr int warm_ups = 30;

std::uint64_t processor_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

rail_meter::rail_meter(rails::driver& rail, rails::peer_id other, const settings& how)
    : rail_(&rail),
      other_(other),
      how_(how),
      connection_(std::span(&rail_, 1), other, how.patience_ns),
      limits_(rail.query()),
      memory_(std::max(how.bytes_max, limits_.eager_bytes_max), std::byte{0x55}),
      memory_bytes_per_ns_(2 * sampling::memory_bytes_per_ns()),  // both ends may copy at once
      clock_ns_(sampling::clock_read_ns()) {}

base::result<> rail_meter::await(word_kind wanted, bool asleep) {
  if (const auto w = connection_.receive_kind(wanted, asleep); !w)
    return std::unexpected(w.error());
  return {};
}

// ---- leading ------------------------------------------------------------------------------------

base::result<> rail_meter::one_packet(std::size_t bytes) {
  if (auto done = connection_.send_word({.kind = word_kind::packet, .bytes = bytes},
                                        std::span(memory_).first(bytes));
      !done)
    return done;
  return await(word_kind::arrived);
}

base::result<> rail_meter::one_piece(std::size_t bytes, std::uint64_t& ns, std::uint64_t& processor,
                                     bool asleep) {
  if (auto done = connection_.send_word({.kind = word_kind::expect, .bytes = bytes}); !done)
    return done;
  const auto ready = connection_.receive_kind(word_kind::ready);
  if (!ready) return std::unexpected(ready.error());
  const auto processor_before = processor_ns();
  const auto before = base::machine_now_ns();
  auto done = connection_.put({.exposed = ready->target}, std::span(memory_).first(bytes));
  if (done) done = await(word_kind::arrived, asleep);
  ns = base::machine_now_ns() - before;
  processor = processor_ns() - processor_before;
  if (done) done = connection_.wait([&] { return connection_.all_sent(); }, asleep);
  return done;
}

base::result<std::vector<double>> rail_meter::repeated(
    const std::function<base::result<double>()>& once) {
  std::vector<double> all;
  const auto begin = base::machine_now_ns();
  while (all.size() < repeats_max) {
    const auto spent_ns = base::machine_now_ns() - begin;
    const auto enough = spent_ns < 10 * how_.size_ns ? repeats_usual : repeats_min;
    if (all.size() >= enough && spent_ns >= how_.size_ns) break;
    const auto ns = once();
    if (!ns) return std::unexpected(ns.error());
    all.push_back(*ns);
  }
  return all;
}

/// The lower quartile: without the times in which another program had the core.
base::result<double> rail_meter::usual(const std::function<base::result<double>()>& once) {
  auto all = repeated(once);
  if (!all) return std::unexpected(std::move(all).error());
  const auto at = all->begin() + static_cast<std::ptrdiff_t>(all->size() / 4);
  std::ranges::nth_element(*all, at);
  return *at;
}

base::result<double> rail_meter::plausible(std::size_t bytes, const double& empty_ns,
                                           measured& into,
                                           const std::function<base::result<double>()>& once) {
  const auto found = sampling::read_until_plausible(
      how_.attempts,
      [&]() -> base::result<sampling::reading> {
        auto all = repeated(once);
        if (!all) return std::unexpected(std::move(all).error());
        return sampling::read(*all, bytes,
                              {.empty_ns = empty_ns,
                               .bytes_per_ns_max = memory_bytes_per_ns_,
                               .clock_ns = clock_ns_});
      },
      [&](sampling::doubt) { return measure_empty(); });
  if (!found) return std::unexpected(found.error());
  if (found->why != sampling::doubt::none && into.why == sampling::doubt::none) {
    into.why = found->why;
    into.doubtful_bytes = bytes;
  }
  return found->ns;
}

base::result<double> rail_meter::round_trip(std::size_t bytes) {
  const auto before = base::machine_now_ns();
  if (auto done = one_packet(bytes); !done) return std::unexpected(done.error());
  return static_cast<double>(base::machine_now_ns() - before);
}

/// It is subtracted from all others: the quickest of all so far, or a busy moment would make them
/// nothing.
base::result<> rail_meter::measure_empty() {
  const auto empty = repeated([&] { return round_trip(0); });
  if (!empty) return std::unexpected(empty.error());
  empty_ns_ = std::min(empty_ns_, *std::ranges::min_element(*empty));
  answer_ns_ = empty_ns_ / 2;
  return {};
}

/// Whether a size is slow because of its bytes, and not because the machine is busy: then an empty
/// or a small message takes as long.
bool rail_meter::is_too_slow(std::size_t bytes, double ns) const noexcept {
  constexpr std::size_t few = 16 << 10;
  return bytes >= few && ns > static_cast<double>(how_.slow_ns) && ns > 4 * answer_ns_;
}

base::result<> rail_meter::measure_packets(measured& into) {
  for (int i = 0; i < warm_ups; ++i)
    if (auto done = one_packet(0); !done) return done;
  if (auto done = measure_empty(); !done) return done;
  for (std::size_t i = 0; i < into.eager.size(); ++i) {
    const auto bytes = sampling::curve::bytes_of(i);
    if (bytes > limits_.eager_bytes_max || bytes > how_.bytes_max) break;
    const auto both = plausible(bytes, empty_ns_, into, [&] { return round_trip(bytes); });
    if (!both) return std::unexpected(both.error());
    into.eager[i] = *both;
    if (is_too_slow(bytes, *both)) break;
  }
  return {};
}

base::result<> rail_meter::measure_pieces(measured& into) {
  for (std::size_t i = 0; i < into.piece.size(); ++i) {
    const auto bytes = sampling::curve::bytes_of(i);
    if (bytes > how_.bytes_max) break;
    std::uint64_t ns = 0;
    std::uint64_t processor = 0;
    const auto whole = plausible(bytes, answer_ns_, into, [&]() -> base::result<double> {
      if (auto done = one_piece(bytes, ns, processor, false); !done)
        return std::unexpected(done.error());
      return static_cast<double>(ns);
    });
    if (!whole) return std::unexpected(whole.error());
    into.piece[i] = *whole;
    const auto cost = usual([&]() -> base::result<double> {
      if (auto done = one_piece(bytes, ns, processor, true); !done)
        return std::unexpected(done.error());
      return static_cast<double>(processor);
    });
    if (!cost) return std::unexpected(cost.error());
    into.cost[i] = std::max(*cost, 1.0);
    if (is_too_slow(bytes, *whole)) break;
  }
  return {};
}

base::result<measured> rail_meter::lead() {
  measured found;
  if (auto done = measure_packets(found); !done) return std::unexpected(done.error());
  if (auto done = measure_pieces(found); !done) return std::unexpected(done.error());
  // What was measured is there and back; the way back is the same for all.
  for (auto* all : {&found.eager, &found.piece})
    for (double& ns : *all)
      if (ns != 0) ns = std::max(ns - answer_ns_, 1.0);
  static_assert(sizeof(measured) <= 1024 && std::is_trivially_copyable_v<measured>);
  if (auto done = connection_.send_word({.kind = word_kind::result, .bytes = sizeof found},
                                        std::as_bytes(std::span(&found, 1)));
      !done)
    return std::unexpected(done.error());
  if (auto done = await(word_kind::over); !done) return std::unexpected(done.error());
  return found;
}

// ---- following ----------------------------------------------------------------------------------

base::result<measured> rail_meter::follow() {
  const auto stop = [&](base::result<> how) { return std::unexpected(how.error()); };
  const auto shown =
      rail_->memory()->expose({.bytes = memory_, .who = rails::process_set::only(other_)});
  if (!shown) return std::unexpected(shown.error());
  measured found;
  while (true) {
    const auto w = connection_.receive();
    if (!w) return std::unexpected(w.error());
    if (w->kind == word_kind::packet) {
      if (auto done = connection_.send_word({.kind = word_kind::arrived}); !done) return stop(done);
    } else if (w->kind == word_kind::expect) {
      connection_.forget_landed();
      if (auto done = connection_.send_word({.kind = word_kind::ready, .target = *shown}); !done)
        return stop(done);
      if (auto done = connection_.wait([&] { return connection_.landed() >= w->bytes; }); !done)
        return stop(done);
      if (auto done = connection_.send_word({.kind = word_kind::arrived}); !done) return stop(done);
    } else {
      if (w->kind != word_kind::result || connection_.payload().size() != sizeof found)
        return connection_.refuse();
      std::memcpy(&found, connection_.payload().data(), sizeof found);
      rail_->memory()->withdraw(*shown);
      if (auto done = connection_.send_word({.kind = word_kind::over}); !done) return stop(done);
      return found;
    }
  }
}

}  // namespace headway::tool
