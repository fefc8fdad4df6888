#include "collectives/choice.hpp"

#include <array>
#include <limits>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "collectives/tunables.hpp"

namespace headway::collectives {
namespace {

constexpr auto any_bytes = std::numeric_limits<std::int64_t>::max();
constexpr int any_ranks = std::numeric_limits<int>::max();
constexpr auto always = rule::crowd::any;
constexpr auto crowded = rule::crowd::yes;
constexpr auto room = rule::crowd::no;
constexpr std::int64_t kb = 1024;

using enum algorithm;

// From top to bottom: the first row that fits is taken.
constexpr rule table[] = {
    {collective::barrier, flat, any_bytes, 64, crowded, false, "reasoned: one wake-up per rank"},
    {collective::barrier, binomial, any_bytes, any_ranks, crowded, false, "reasoned: few wake-ups"},
    {collective::barrier, dissemination, any_bytes, any_ranks, always, false, "least rounds"},

    {collective::bcast, binomial, 64 * kb, any_ranks, always, false, "least rounds"},
    {collective::bcast, pipeline, any_bytes, 16, always, false, "each byte copied once a rank"},
    {collective::bcast, scatter_ring, any_bytes, any_ranks, always, false, "least bytes per link"},

    {collective::reduce, flat, 4 * kb, 64, crowded, false, "reasoned: one wake-up per rank"},
    {collective::reduce, binomial, 64 * kb, any_ranks, always, false, "least rounds"},
    {collective::reduce, ring, any_bytes, any_ranks, always, true, "least bytes per link"},
    {collective::reduce, binomial, any_bytes, any_ranks, always, false, "keeps the order"},

    {collective::allreduce, doubling, 4 * kb, 4, always, false, "4 ranks on 2 cores: 0.87 of flat"},
    {collective::allreduce, flat, 4 * kb, 64, crowded, false,
     "2 cores, by bench/mpi/allreduce.c: 8 ranks 0.55, 16 ranks 0.49 of doubling"},
    {collective::allreduce, doubling, 8 * kb, any_ranks, always, false, "least rounds"},
    {collective::allreduce, direct, any_bytes, 8, room, false,
     "2 ranks, by bench/mpi/allreduce.c: 16 KB 0.77, 256 KB 0.55, 1 MB 0.45 of ring"},
    {collective::allreduce, ring, any_bytes, any_ranks, always, true, "least bytes per link"},
    {collective::allreduce, doubling, any_bytes, any_ranks, always, false, "keeps the order"},

    {collective::gather, linear, any_bytes, 8, always, false, "few ranks: no forwarding"},
    {collective::gather, binomial, 4 * kb, any_ranks, always, false, "least rounds"},
    {collective::gather, linear, any_bytes, any_ranks, always, false, "no forwarding"},

    {collective::scatter, linear, any_bytes, 8, always, false, "few ranks: no forwarding"},
    {collective::scatter, binomial, 4 * kb, any_ranks, always, false, "least rounds"},
    {collective::scatter, linear, any_bytes, any_ranks, always, false, "no forwarding"},

    {collective::allgather, flat, 4 * kb, 64, crowded, false, "reasoned: one wake-up per rank"},
    {collective::allgather, bruck, 8 * kb, any_ranks, always, false, "least rounds"},
    {collective::allgather, ring, any_bytes, any_ranks, always, false, "least bytes per link"},
    {collective::allgatherv, ring, any_bytes, any_ranks, always, false, "least bytes per link"},

    {collective::alltoall, linear, 32 * kb, 8, always, false, "few ranks: all at once"},
    {collective::alltoall, bruck, 256, any_ranks, always, false, "least rounds"},
    {collective::alltoall, linear, 4 * kb, 32, always, false, "all at once while it fits"},
    {collective::alltoall, pairwise, any_bytes, any_ranks, always, false, "bounded memory"},
    {collective::alltoallv, linear, any_bytes, 32, always, false, "sizes unknown: all at once"},
    {collective::alltoallv, pairwise, any_bytes, any_ranks, always, false, "bounded memory"},

    {collective::scan, chain, any_bytes, any_ranks, crowded, false, "one wake-up per rank"},
    {collective::scan, doubling, any_bytes, any_ranks, always, false, "least rounds"},

    {collective::reduce_scatter, pairwise, any_bytes, any_ranks, always, true, "least bytes"},
    {collective::reduce_scatter, ordered, any_bytes, any_ranks, always, false, "keeps the order"},
};

constexpr std::array algorithm_names = {
    "automatic",    "dissemination", "doubling", "binomial", "flat",     "chain",   "pipeline",
    "scatter_ring", "ring",          "bruck",    "linear",   "pairwise", "ordered", "direct"};
constexpr std::array collective_names = {"barrier",  "bcast",     "reduce",    "allreduce",
                                         "gather",   "scatter",   "allgather", "allgatherv",
                                         "alltoall", "alltoallv", "scan",      "reduce_scatter"};

template <class Names>
int position(const Names& names, std::string_view name) noexcept {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return static_cast<int>(i);
  }
  return -1;
}

/// The user's choice per collective, read once.
struct overrides {
  std::array<algorithm, collective_names.size()> use{};

  overrides() {
    const std::string all = forced_algorithms.get();
    for (std::string_view rest = all; !rest.empty();) {
      const auto comma = rest.find(',');
      add(rest.substr(0, comma));
      rest = comma == rest.npos ? std::string_view{} : rest.substr(comma + 1);
    }
  }

 private:
  void add(std::string_view entry) {
    const auto colon = entry.find(':');
    const int what = position(collective_names, entry.substr(0, colon));
    const int how = colon == entry.npos ? -1 : position(algorithm_names, entry.substr(colon + 1));
    if (what < 0 || how < 0) {
      base::log(base::severity::error, "HEADWAY_COLLECTIVES: '{}' is not collective:algorithm",
                entry);
      return;
    }
    use[static_cast<std::size_t>(what)] = static_cast<algorithm>(how);
  }
};

/// What the rule's algorithm asks for is there.
bool serves(const rule& r, const question& q) noexcept {
  return r.what == q.what && (!r.any_order || q.commutative) && (r.use != direct || q.direct);
}

bool fits(const rule& r, const question& q) noexcept {
  return serves(r, q) && q.bytes <= r.bytes_max && q.ranks <= r.ranks_max &&
         (r.where == rule::crowd::any || (r.where == rule::crowd::yes) == q.crowded);
}

/// Some rule uses it for this collective, and what it asks for is there.
bool allowed(algorithm a, const question& q) noexcept {
  for (const rule& r : table) {
    if (r.use == a && serves(r, q)) return true;
  }
  return false;
}

}  // namespace

algorithm choose(const question& q) noexcept {
  static const overrides users;
  const auto forced = users.use[static_cast<std::size_t>(q.what)];
  if (forced != automatic && allowed(forced, q)) return forced;
  for (const rule& r : table) {
    if (fits(r, q)) return r.use;
  }
  return automatic;
}

std::span<const rule> rules() noexcept { return table; }
const char* name_of(algorithm a) noexcept { return algorithm_names[static_cast<std::size_t>(a)]; }
const char* name_of(collective c) noexcept { return collective_names[static_cast<std::size_t>(c)]; }

}  // namespace headway::collectives
