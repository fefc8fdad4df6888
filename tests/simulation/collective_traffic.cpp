#include "tests/simulation/collective_traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "collectives/choice.hpp"
#include "collectives/collectives.hpp"
#include "collectives/schedule_cache.hpp"

namespace headway::simulation {
namespace {

using collectives::algorithm;
using collectives::collective;
using word = std::uint64_t;
using words = std::vector<word>;

constexpr std::uint32_t first_context = 21;  // and every other one from there
// The last ones need a topology, which these communicators have not.
constexpr auto without_neighbors = static_cast<std::size_t>(collective::neighbor_allgather);
constexpr word untouched = 0x5a5a5a5a5a5a5a5a;
constexpr std::int64_t gap = 3;  // elements between the blocks of the v forms

const datatypes::layout& element() { return datatypes::layout::of(datatypes::number::uint64); }

/// The i-th element that `rank` has for the operation.
word value(const planned_collective& what, int rank, std::int64_t i) {
  return dice((word{what.number} << 40) ^ (static_cast<word>(rank) << 20) ^ static_cast<word>(i))
      .next();
}

/// x -> a x + b modulo 2^32, with a in the upper half of the word: composed in the order of ranks.
word compose(word first, word second) {
  const auto a1 = static_cast<std::uint32_t>(first >> 32), b1 = static_cast<std::uint32_t>(first);
  const auto a2 = static_cast<std::uint32_t>(second >> 32), b2 = static_cast<std::uint32_t>(second);
  return (word{a2 * a1} << 32) | (a2 * b1 + b2);
}

word combined(const planned_collective& what, word left, word right) {
  return what.keeps_order ? compose(left, right) : left + right;
}

template <word (*step)(word, word)>
void apply(const collectives::reducer&, const void* left, void* right,
           std::int64_t count) noexcept {
  const auto* l = static_cast<const word*>(left);
  auto* r = static_cast<word*>(right);
  for (std::int64_t i = 0; i < count; ++i) r[i] = step(l[i], r[i]);
}

word sum(word left, word right) { return left + right; }

collectives::reducer reducer_of(const planned_collective& what) {
  return {.apply = what.keeps_order ? &apply<compose> : &apply<sum>,
          .commutative = !what.keeps_order};
}

/// The operands of the ranks in [first, last], combined in their order.
word folded(const planned_collective& what, int first, int last, std::int64_t i) {
  word all = value(what, first, i);
  for (int rank = first + 1; rank <= last; ++rank) all = combined(what, all, value(what, rank, i));
  return all;
}

bool varies(collective c) {
  return c == collective::gatherv || c == collective::scatterv || c == collective::allgatherv ||
         c == collective::alltoallv || c == collective::reduce_scatter;
}

}  // namespace

collective_plan::collective_plan(std::uint32_t processes, std::uint32_t operations,
                                 std::size_t bytes_max, std::uint64_t seed) {
  dice d(seed);
  std::vector<std::uint32_t> all(processes);
  std::iota(all.begin(), all.end(), 0u);
  for (auto count = d.between(1, 3); count > 0; --count) {
    planned_communicator c;
    c.members = all;
    c.oversubscribed = d.one_in(2);
    if (!communicators.empty()) {  // the first has all processes in their order
      for (std::size_t i = all.size(); i > 1; --i)
        std::swap(c.members[i - 1], c.members[d.below(i)]);
      c.members.resize(d.between(1, processes));
    }
    const auto ranks = c.members.size();
    // All blocks of all ranks together are no larger than a few large messages.
    const auto count_max = std::max<std::size_t>(4 * bytes_max / (sizeof(word) * ranks), 1);
    for (std::uint32_t i = 0; i < operations; ++i) {
      planned_collective o{.number = i};
      o.what = static_cast<collective>(d.below(without_neighbors));
      const auto rows = collectives::rules(o.what);
      if (!d.one_in(3)) o.use = rows[d.below(rows.size())].use;
      // These need memory that the processes of a node share.
      if (o.use == algorithm::slots || o.use == algorithm::shared ||
          o.use == algorithm::shared_parts)
        o.use = algorithm::automatic;
      o.root = static_cast<int>(d.below(ranks));
      std::uint64_t most = 1;
      while (most < count_max && !d.one_in(5)) most *= 2;
      o.count = static_cast<std::int64_t>(d.below(std::min<std::uint64_t>(most, count_max) + 1));
      o.keeps_order = d.one_in(2);
      c.operations.push_back(o);
    }
    c.entered.resize(c.operations.size());
    communicators.push_back(std::move(c));
  }
}

/// One rank's part of an operation, with its buffers.
struct collective_traffic::operation {
  operation(const planned_collective& plan, const collectives::team& ranks)
      : what(plan), rank(ranks.rank), size(ranks.size) {
    for (int r = 0; r < size; ++r) {
      places.push_back(end);
      counts.push_back(varies(what.what) ? (what.count * (r % 3 + 1)) / 3 : what.count);
      end += counts.back() + (varies(what.what) ? gap : 0);
    }
    build(ranks);
  }
  ~operation() {
    if (!steps->test()) delete steps.release();  // not ended, and no longer used
  }
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  void build(const collectives::team& ranks);
  /// An error text; empty: the result is right.
  [[nodiscard]] std::string wrong() const;

  const planned_collective& what;
  const int rank, size;
  std::vector<std::int64_t> counts, places;  // of a block for each rank
  std::int64_t end = 0;
  words mine, sent, result, due;
  collectives::schedule_ptr steps = collectives::new_schedule();

 private:
  [[nodiscard]] collectives::block block_of(words& v) const {
    return {v.data(), std::ssize(v), &element()};
  }
  [[nodiscard]] collectives::blocks blocks_of(words& v) const {
    if (!varies(what.what)) return {.data = v.data(), .type = &element(), .count = what.count};
    return {.data = v.data(), .type = &element(), .counts = counts.data(), .places = places.data()};
  }
  /// `mine` = so many elements of this rank.
  void have(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) mine.push_back(value(what, rank, i));
  }
  void expect(std::size_t at, word w) { due[at] = w; }
  void want(std::int64_t count) { due.assign(static_cast<std::size_t>(count), untouched); }
  void build_reduction(const collectives::team& ranks);
  void build_move(const collectives::team& ranks);
  void build_alltoall(const collectives::team& ranks);
};

void collective_traffic::operation::build(const collectives::team& ranks) {
  switch (what.what) {
    case collective::barrier:
      barrier(*steps, ranks);
      break;
    case collective::reduce:
    case collective::allreduce:
    case collective::scan:
    case collective::exscan:
    case collective::reduce_scatter:
      build_reduction(ranks);
      break;
    case collective::alltoall:
    case collective::alltoallv:
      build_alltoall(ranks);
      break;
    default:
      build_move(ranks);
  }
  sent = mine;
}

void collective_traffic::operation::build_reduction(const collectives::team& ranks) {
  const auto total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const auto count = what.what == collective::reduce_scatter ? total : what.count;
  have(count);
  want(count);
  result = due;
  const collectives::reduction r{.send = mine.data(),
                                 .receive = result.data(),
                                 .count = count,
                                 .type = &element(),
                                 .op = reducer_of(what)};
  const auto all = [&](std::int64_t i, int first, int last) {
    return folded(what, first, last, i);
  };
  const auto n = static_cast<std::size_t>(count);
  if (what.what == collective::reduce) {
    reduce(*steps, ranks, r, what.root);
    for (std::size_t i = 0; i < n && rank == what.root; ++i)
      due[i] = all(static_cast<std::int64_t>(i), 0, size - 1);
  } else if (what.what == collective::allreduce) {
    allreduce(*steps, ranks, r);
    for (std::size_t i = 0; i < n; ++i) due[i] = all(static_cast<std::int64_t>(i), 0, size - 1);
  } else if (what.what == collective::scan) {
    scan(*steps, ranks, r);
    for (std::size_t i = 0; i < n; ++i) due[i] = all(static_cast<std::int64_t>(i), 0, rank);
  } else if (what.what == collective::exscan) {
    exscan(*steps, ranks, r);
    for (std::size_t i = 0; i < n && rank > 0; ++i)
      due[i] = all(static_cast<std::int64_t>(i), 0, rank - 1);
  } else {
    reduce_scatter(*steps, ranks, r, counts.data());
    const auto first = std::accumulate(counts.begin(), counts.begin() + rank, std::int64_t{0});
    for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(rank)]; ++i)
      due[static_cast<std::size_t>(i)] = all(first + i, 0, size - 1);
  }
}

void collective_traffic::operation::build_move(const collectives::team& ranks) {
  const auto own = static_cast<std::size_t>(rank);
  const auto scatters = what.what == collective::scatter || what.what == collective::scatterv;
  if (what.what == collective::bcast) {
    want(what.count);
    for (std::size_t i = 0; i < due.size(); ++i)
      due[i] = value(what, what.root, static_cast<std::int64_t>(i));
    result = rank == what.root ? due : words(due.size(), untouched);
    return bcast(*steps, ranks, block_of(result), what.root);
  }
  if (scatters) {
    if (rank == what.root) have(end);
    want(counts[own]);
    for (std::size_t i = 0; i < due.size(); ++i)
      due[i] = value(what, what.root, places[own] + static_cast<std::int64_t>(i));
    result.assign(due.size(), untouched);
    const auto to = block_of(result);
    return what.what == collective::scatter
               ? scatter(*steps, ranks, blocks_of(mine), &to, what.root)
               : scatterv(*steps, ranks, blocks_of(mine), &to, what.root);
  }
  have(counts[own]);
  const bool receives = what.what == collective::allgather || what.what == collective::allgatherv ||
                        rank == what.root;
  want(receives ? end : 0);
  result = due;
  for (std::size_t from = 0; receives && from < counts.size(); ++from)
    for (std::int64_t i = 0; i < counts[from]; ++i)
      due[static_cast<std::size_t>(places[from] + i)] = value(what, static_cast<int>(from), i);
  const auto from = block_of(mine);
  const auto to = blocks_of(result);
  if (what.what == collective::gather) gather(*steps, ranks, &from, to, what.root);
  else if (what.what == collective::gatherv) gatherv(*steps, ranks, &from, to, what.root);
  else allgather(*steps, ranks, &from, to);
}

/// Rank r has as many elements for every rank as it gets from each: so the blocks from one rank are
/// as long as those to it, in the v form too, where `counts` is what goes to a rank from any other.
void collective_traffic::operation::build_alltoall(const collectives::team& ranks) {
  const auto own = static_cast<std::size_t>(rank);
  have(end);
  const auto each = counts[own];  // what comes here, from each rank
  std::vector<std::int64_t> in_counts(counts.size(), each), in_places;
  const auto step = each + (varies(what.what) ? gap : 0);
  for (std::int64_t r = 0; r < size; ++r) in_places.push_back(r * step);
  want(step * size);
  result = due;
  for (int from = 0; from < size; ++from)
    for (std::int64_t i = 0; i < each; ++i)
      due[static_cast<std::size_t>(from * step + i)] = value(what, from, places[own] + i);
  auto to = blocks_of(result);
  if (varies(what.what)) to.counts = in_counts.data(), to.places = in_places.data();
  const auto from = blocks_of(mine);
  alltoall(*steps, ranks, &from, to);
}

std::string collective_traffic::operation::wrong() const {
  if (mine != sent) return "has changed what it only reads";
  for (std::size_t i = 0; i < due.size(); ++i)
    if (result[i] != due[i] && !(what.what == collective::reduce_scatter && due[i] == untouched))
      return fmt::format("element {} of {} is {:x} instead of {:x}", i, due.size(), result[i],
                         due[i]);
  return {};
}

struct collective_traffic::communicator {
  communicator(process& on, planned_communicator& all, std::uint32_t number, int own_rank)
      : plan(all),
        context(
            on.messages().open_context(first_context + 2 * number, own_rank, members(all), true)),
        transport(on.messages(), *context),
        ranks(transport, own_rank, static_cast<int>(all.members.size()), all.oversubscribed) {}

  static processes::membership_ref members(const planned_communicator& all) {
    std::vector<processes::peer_id> peers;
    for (const auto p : all.members) peers.push_back(processes::peer_id{p});
    return std::make_shared<const processes::membership>(peers);
  }

  planned_communicator& plan;
  messages::context* context;
  collectives::exchange_transport transport;
  collectives::team ranks;
  std::size_t next = 0;
  std::deque<std::unique_ptr<operation>> under_way;
};

collective_traffic::collective_traffic(process& on, collective_plan& all, std::uint64_t seed)
    : on_(on), dice_(seed) {
  for (std::uint32_t i = 0; i < all.communicators.size(); ++i) {
    auto& c = all.communicators[i];
    const auto found = std::ranges::find(c.members, on.self());
    if (found == c.members.end()) continue;
    communicators_.push_back(
        std::make_unique<communicator>(on, c, i, static_cast<int>(found - c.members.begin())));
  }
}

collective_traffic::~collective_traffic() = default;

bool collective_traffic::may_start(const communicator& c) const {
  return c.next < c.plan.operations.size() && c.under_way.size() < under_way_max;
}

bool collective_traffic::may_start() const {
  return std::ranges::any_of(communicators_, [&](const auto& c) { return may_start(*c); });
}

void collective_traffic::start(communicator& c) {
  const auto& what = c.plan.operations[c.next];
  ++c.plan.entered[c.next++];
  collectives::settings chosen;
  chosen.forced[static_cast<std::size_t>(what.what)] = what.use;
  const collectives::team shaped(c.transport, c.ranks.rank, c.ranks.size, c.ranks.oversubscribed,
                                 chosen);
  auto& o = *c.under_way.emplace_back(std::make_unique<operation>(what, shaped));
  o.steps->bind(c.ranks);
  o.steps->start();
}

void collective_traffic::start_some() {
  for (auto& c : communicators_)
    while (may_start(*c) && !dice_.one_in(3)) start(*c);
}

void collective_traffic::check(communicator& c, operation& o) {
  const auto complain_of = [&](const std::string& why) {
    complain(
        fmt::format("process {}: {} (algorithm {}) number {} of {} ranks, root {}, {} elements: "
                    "{}",
                    on_.self(), name_of(o.what.what), name_of(o.what.use), o.what.number, o.size,
                    o.what.root, o.what.count, why));
  };
  if (o.steps->how() != messages::outcome::ok) {
    ++failed_;
    if (!c.plan.has_lost) complain_of("failed, and no member has died");
    return;
  }
  if (o.what.what == collective::barrier && c.plan.entered[o.what.number] != o.size)
    complain_of("ended before all ranks had entered it");
  if (const auto why = o.wrong(); !why.empty()) complain_of(why);
  ++checked_;
}

void collective_traffic::check(bool) {
  for (auto& c : communicators_) {
    for (auto& o : c->under_way) {
      if (!o->steps->test()) continue;
      check(*c, *o);
      o = nullptr;
    }
    std::erase(c->under_way, nullptr);
  }
}

bool collective_traffic::done() const {
  return std::ranges::all_of(communicators_, [](const auto& c) {
    return c->next == c->plan.operations.size() && c->under_way.empty();
  });
}

void collective_traffic::process_died(std::uint32_t which) {
  for (auto& c : communicators_)
    c->plan.has_lost |= std::ranges::find(c->plan.members, which) != c->plan.members.end();
}

void collective_traffic::close() {
  for (auto& c : communicators_) on_.messages().close_context(c->context);
}

std::string collective_traffic::state() const {
  std::string text;
  for (const auto& c : communicators_) {
    text += fmt::format(" {} of {} collectives started on {} ranks;", c->next,
                        c->plan.operations.size(), c->ranks.size);
    for (const auto& o : c->under_way)
      text += fmt::format(" {} ({}) number {}, root {}, {} elements;", name_of(o->what.what),
                          name_of(o->what.use), o->what.number, o->what.root, o->what.count);
  }
  return text;
}

}  // namespace headway::simulation
