#include "collectives/choice.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/assert.hpp"
#include "base/log.hpp"

namespace headway::collectives {
namespace {

constexpr auto any_bytes = std::numeric_limits<std::int64_t>::max();
constexpr auto only_forced = rule::only_forced;
constexpr int any_ranks = std::numeric_limits<int>::max();
constexpr auto always = rule::load::any;
constexpr auto oversubscribed = rule::load::yes;
constexpr auto a_core_each = rule::load::no;
constexpr std::int64_t kb = 1024;

using enum algorithm;

constexpr const char* by_request = "never measured to be the best";

// In the order of `collective`. Within one from top to bottom: the first row that fits is taken.
// Ratios are of medians of bench/mpi/collectives.c, on 2 ranks and on 16 ranks on 2 cores where two
// are given. What holds where each rank has a core was measured with 4, 8 and 16 ranks on 16 cores.
constexpr rule rule_table[] = {
    {collective::barrier, slots, any_bytes, 64, always, shared_slots, "one step, no message"},
    {collective::barrier, shared, any_bytes, 64, always, node_banks,
     "reasoned: one step, no message"},
    {collective::barrier, two_levels, any_bytes, any_ranks, always, several_nodes,
     "2 nodes, 4 and 16 ranks 0.7 and 0.5 of dissemination and flat"},
    {collective::barrier, flat, any_bytes, 64, oversubscribed, no_needs,
     "reasoned: one wake-up per rank"},
    {collective::barrier, binomial, any_bytes, any_ranks, oversubscribed, no_needs,
     "reasoned: few wake-ups"},
    {collective::barrier, dissemination, any_bytes, any_ranks, always, no_needs, "least rounds"},
    {collective::barrier, chain, only_forced, any_ranks, always, no_needs, by_request},

    {collective::bcast, shared, any_bytes, 64, always, node_banks, "64 KB 0.5 and 0.2 of messages"},
    {collective::bcast, two_levels, any_bytes, any_ranks, always, several_nodes,
     "2 nodes, 16 ranks, 8 B and 1 MB 0.14 and 0.25 of messages"},
    {collective::bcast, binomial, any_bytes, 2, always, no_needs,
     "one message; TCP, 512 KB and 4 MB 0.82 and 0.75 of pipeline"},
    {collective::bcast, binomial, 64 * kb, any_ranks, always, no_needs, "least rounds"},
    {collective::bcast, pipeline, any_bytes, 16, always, no_needs, "each byte copied once a rank"},
    {collective::bcast, scatter_ring, any_bytes, any_ranks, always, no_needs,
     "least bytes per link"},
    {collective::bcast, flat, only_forced, any_ranks, always, no_needs, by_request},
    {collective::bcast, chain, only_forced, any_ranks, always, no_needs, by_request},

    {collective::reduce, shared, 8 * kb, 64, always, node_banks, "64 KB 0.6 and 0.6 of messages"},
    {collective::reduce, shared, any_bytes, 2, always, node_banks, "64 KB 0.4 of shared_parts"},
    {collective::reduce, shared, 64 * kb, 64, oversubscribed, node_banks,
     "4 and 16 ranks on 2 cores, 64 KB 0.4 and 0.2 of shared_parts; with one root 0.9"},
    {collective::reduce, shared_parts, any_bytes, 64, always, node_banks | any_order,
     "64 KB 0.6 and 0.6 of messages"},
    {collective::reduce, flat, 4 * kb, 64, oversubscribed, no_needs,
     "reasoned: one wake-up per rank"},
    {collective::reduce, two_levels, 128 * kb, any_ranks, always, several_nodes,
     "2 nodes, 4 and 16 ranks, 16 KB 0.4 and 0.4 of binomial"},
    {collective::reduce, two_level_parts, any_bytes, any_ranks, always, equal_nodes | any_order,
     "2 nodes, 4 and 16 ranks, 1 MB 0.7 of two_levels"},
    {collective::reduce, two_levels, any_bytes, any_ranks, always, several_nodes,
     "2 nodes, 4 and 16 ranks, 1 MB 0.6 and 0.4 of messages"},
    {collective::reduce, binomial, 1024 * kb, 2, always, no_needs,
     "TCP, 128 KB and 1 MB 0.63 and 0.84 of ring, 4 MB 1.33"},
    {collective::reduce, binomial, 64 * kb, any_ranks, always, no_needs, "least rounds"},
    {collective::reduce, ring, any_bytes, any_ranks, always, any_order, "least bytes per link"},
    {collective::reduce, binomial, any_bytes, any_ranks, always, no_needs, "keeps the order"},
    {collective::reduce, chain, only_forced, any_ranks, always, no_needs, by_request},

    {collective::allreduce, slots, any_bytes, 64, always, shared_slots, "one step, no message"},
    {collective::allreduce, shared, 4 * kb, 4, always, node_banks, "64 KB 0.6 of messages"},
    {collective::allreduce, shared, 16 * kb, 2, always, node_banks, "16 KB 0.85 of shared_parts"},
    {collective::allreduce, shared, 4 * kb, 64, oversubscribed, node_banks,
     "64 KB 0.2 of messages"},
    {collective::allreduce, shared, 512, 64, a_core_each, node_banks,
     "8 ranks: 1 KB 1.0 of shared_parts"},
    {collective::allreduce, shared_parts, any_bytes, 64, always, node_banks | any_order,
     "16 ranks with a core each, 4 KB 0.4 of shared"},
    {collective::allreduce, shared, 4 * kb, 64, a_core_each, node_banks, "keeps the order"},
    {collective::allreduce, two_levels, 128 * kb, any_ranks, always, several_nodes,
     "2 nodes, 4 and 16 ranks, 16 KB 0.4 and 0.04 of messages"},
    {collective::allreduce, two_level_parts, any_bytes, any_ranks, always, equal_nodes | any_order,
     "2 nodes, 4 and 16 ranks, 1 MB 0.7 of two_levels"},
    {collective::allreduce, two_levels, any_bytes, any_ranks, always, several_nodes,
     "2 nodes, 4 and 16 ranks, 1 MB 0.6 and 0.4 of messages"},
    {collective::allreduce, doubling, 512 * kb, 2, always, no_needs,
     "TCP, 16 and 512 KB 0.65 and 0.84 of ring, 1 MB 1.04"},
    {collective::allreduce, doubling, 32 * kb, 4, always, no_needs,
     "4 ranks on 2 cores: 0.87 of flat; TCP, 32 KB 0.56 of ring"},
    {collective::allreduce, flat, 4 * kb, 64, oversubscribed, no_needs,
     "2 cores, by bench/mpi/allreduce.c: 8 ranks 0.55, 16 ranks 0.49 of doubling"},
    {collective::allreduce, doubling, 8 * kb, any_ranks, always, no_needs, "least rounds"},
    {collective::allreduce, halving, 256 * kb, any_ranks, always, any_order | power_of_two,
     "TCP, 4 and 8 ranks, 64 KB 0.7 and 0.4 of ring, 256 KB 0.8 and 0.6"},
    {collective::allreduce, ring, any_bytes, any_ranks, always, any_order, "least bytes per link"},
    {collective::allreduce, doubling, any_bytes, any_ranks, always, no_needs, "keeps the order"},
    {collective::allreduce, halving, only_forced, any_ranks, always, any_order, by_request},
    {collective::allreduce, binomial, only_forced, any_ranks, always, no_needs, by_request},
    {collective::allreduce, chain, only_forced, any_ranks, always, no_needs, by_request},

    {collective::gather, shared, any_bytes, 64, always, node_banks,
     "2 ranks, 64 KB 0.5 of messages"},
    {collective::gather, linear, any_bytes, 8, always, no_needs, "few ranks: no forwarding"},
    {collective::gather, two_levels, 4 * kb, any_ranks, always, several_nodes,
     "2 nodes, 16 ranks, mean of 8 B 0.3 of binomial, of 16 KB 2.8 of linear"},
    {collective::gather, binomial, 4 * kb, any_ranks, always, no_needs, "least rounds"},
    {collective::gather, linear, any_bytes, any_ranks, always, no_needs, "no forwarding"},
    {collective::gatherv, shared, any_bytes, 64, always, node_banks, "as gather"},
    {collective::gatherv, linear, any_bytes, any_ranks, always, no_needs, "no forwarding"},

    {collective::scatter, shared, 32 * kb, 64, always, node_banks,
     "2 ranks, 64 KB 0.6 of messages"},
    {collective::scatter, shared, 128 * kb, 64, oversubscribed, node_banks, "as up to 32 KB"},
    {collective::scatter, linear, 1024 * kb, 64, oversubscribed, node_banks,
     "4, 8 and 16 ranks on 2 cores, 256 KB and 1 MB 0.7 to 0.95 of shared, 2 MB 1.1"},
    {collective::scatter, shared, any_bytes, 64, oversubscribed, node_banks, "as up to 32 KB"},
    {collective::scatter, shared, any_bytes, 2, a_core_each, node_banks, "as up to 32 KB"},
    {collective::scatter, two_levels, 32 * kb, any_ranks, always, several_nodes,
     "2 nodes, 16 ranks, 16 KB 0.4 of linear, 64 KB 1.8"},
    {collective::scatter, linear, any_bytes, 8, always, no_needs, "few ranks: no forwarding"},
    {collective::scatter, binomial, 4 * kb, any_ranks, always, no_needs, "least rounds"},
    {collective::scatter, linear, any_bytes, any_ranks, always, no_needs, "no forwarding"},
    {collective::scatterv, shared, any_bytes, 64, always, node_banks, "as scatter"},
    {collective::scatterv, linear, any_bytes, any_ranks, always, no_needs, "no forwarding"},

    {collective::allgather, shared, any_bytes, 64, always, node_banks,
     "64 KB 0.6 and 0.2 of messages"},
    {collective::allgather, two_levels, any_bytes, any_ranks, always, several_nodes,
     "2 nodes, 16 ranks, 8 B and 1 MB 0.3 and 0.6 of messages"},
    {collective::allgather, flat, 4 * kb, 64, oversubscribed, no_needs,
     "reasoned: one wake-up per rank"},
    {collective::allgather, bruck, 8 * kb, any_ranks, always, no_needs, "least rounds"},
    {collective::allgather, ring, any_bytes, any_ranks, always, no_needs, "least bytes per link"},
    {collective::allgatherv, shared, any_bytes, 64, always, node_banks, "as allgather"},
    {collective::allgatherv, two_levels, any_bytes, any_ranks, always, several_nodes,
     "as allgather"},
    {collective::allgatherv, ring, any_bytes, any_ranks, always, no_needs, "least bytes per link"},

    {collective::alltoall, shared, 32 * kb, 64, always, node_banks,
     "64 KB 0.7 and 0.6 of messages"},
    {collective::alltoall, shared, any_bytes, 64, oversubscribed, node_banks, "as up to 32 KB"},
    {collective::alltoall, shared, any_bytes, 2, a_core_each, node_banks, "as up to 32 KB"},
    {collective::alltoall, two_levels, 8 * kb, any_ranks, always, equal_nodes,
     "2 nodes, 4 and 16 ranks, 8 B 0.6 and 4 KB 0.8 and 0.4 of linear"},
    {collective::alltoall, linear, 1024 * kb, 16, a_core_each, node_banks | two_buffers,
     "8 and 16 ranks with a core each, 256 KB 0.6 of shared"},
    {collective::alltoall, linear, 32 * kb, 8, always, two_buffers, "few ranks: all at once"},
    {collective::alltoall, two_levels, 16 * kb, any_ranks, always, equal_nodes,
     "2 and 4 nodes, 16 ranks, 16 KB 0.5 of pairwise; 4 ranks 1.1 of linear"},
    {collective::alltoall, bruck, 256, any_ranks, always, no_needs, "least rounds"},
    {collective::alltoall, linear, 4 * kb, 32, always, two_buffers, "all at once while it fits"},
    {collective::alltoall, pairwise, any_bytes, any_ranks, always, no_needs, "bounded memory"},
    {collective::alltoallv, shared, any_bytes, 64, always, node_banks, "as alltoall"},
    {collective::alltoallv, linear, any_bytes, 32, always, two_buffers,
     "sizes unknown: all at once"},
    {collective::alltoallv, pairwise, any_bytes, any_ranks, always, no_needs, "bounded memory"},

    {collective::scan, shared, any_bytes, 8, always, node_banks, "2 ranks, 64 KB 0.4 of messages"},
    {collective::scan, shared, any_bytes, 64, oversubscribed, node_banks, "as with 2 ranks"},
    {collective::scan, shared, 2 * kb, 64, a_core_each, node_banks,
     "16 ranks with a core each, 8 KB 1.4 of doubling"},
    {collective::scan, doubling, any_bytes, 4, a_core_each, no_needs,
     "2 nodes, 4 ranks, 1 KB 0.8 of two_levels"},
    {collective::scan, two_levels, any_bytes, any_ranks, always, several_nodes,
     "2 nodes, 8 and 16 ranks, 8 B 0.8 and 0.3 of messages"},
    {collective::scan, chain, any_bytes, any_ranks, oversubscribed, no_needs,
     "one wake-up per rank"},
    {collective::scan, doubling, any_bytes, any_ranks, always, no_needs, "least rounds"},
    {collective::exscan, shared, any_bytes, 8, always, node_banks, "as scan"},
    {collective::exscan, shared, any_bytes, 64, oversubscribed, node_banks, "as scan"},
    {collective::exscan, shared, 2 * kb, 64, a_core_each, node_banks, "as scan"},
    {collective::exscan, doubling, any_bytes, 4, a_core_each, no_needs, "as scan"},
    {collective::exscan, two_levels, any_bytes, any_ranks, always, several_nodes, "as scan"},
    {collective::exscan, chain, any_bytes, any_ranks, oversubscribed, no_needs,
     "one wake-up per rank"},
    {collective::exscan, doubling, any_bytes, any_ranks, always, no_needs, "least rounds"},

    {collective::reduce_scatter, shared, any_bytes, 64, always, node_banks | any_order,
     "4 ranks on 2 cores, 64 KB 0.7 of messages"},
    {collective::reduce_scatter, two_levels, any_bytes, any_ranks, always, several_nodes,
     "2 nodes, 4 and 16 ranks, 8 KB 0.3 and 0.07 of messages"},
    {collective::reduce_scatter, halving, any_bytes, any_ranks, always, any_order | power_of_two,
     "TCP, 4 and 8 ranks, blocks of 8 KB 0.8 and 0.5 of pairwise, of 512 KB 0.8 and 0.7"},
    {collective::reduce_scatter, ordered, 8 * kb, 4, always, no_needs,
     "4 ranks on 2 cores, TCP, 8 B and 8 KB 0.87 and 0.92 of pairwise"},
    {collective::reduce_scatter, halving, 64 * kb, any_ranks, always, any_order,
     "reasoned: few rounds"},
    {collective::reduce_scatter, pairwise, any_bytes, any_ranks, always, any_order, "least bytes"},
    {collective::reduce_scatter, ordered, any_bytes, any_ranks, always, no_needs,
     "keeps the order"},

    {collective::neighbor_allgather, shared, any_bytes, 64, always, known_edges,
     "as neighbor_alltoall"},
    {collective::neighbor_allgather, linear, any_bytes, any_ranks, always, no_needs, "all at once"},
    {collective::neighbor_allgatherv, shared, any_bytes, 64, always, known_edges,
     "as neighbor_alltoall"},
    {collective::neighbor_allgatherv, linear, any_bytes, any_ranks, always, no_needs,
     "all at once"},
    {collective::neighbor_alltoall, shared, any_bytes, 64, always, known_edges,
     "2-D torus of 4 and 16 ranks on 2 cores: 8 B 0.5 and 0.4 of messages"},
    {collective::neighbor_alltoall, linear, any_bytes, any_ranks, always, no_needs, "all at once"},
    {collective::neighbor_alltoallv, shared, any_bytes, 64, always, known_edges,
     "as neighbor_alltoall"},
    {collective::neighbor_alltoallv, linear, any_bytes, any_ranks, always, no_needs, "all at once"},
};
static_assert(std::ranges::is_sorted(rule_table, {}, &rule::what));

/// Where each collective's rows begin, and behind the last one's end.
constexpr auto first_rows = [] {
  std::array<std::size_t, collective_count + 1> made{};
  for (const rule& r : rule_table)
    for (auto behind = static_cast<std::size_t>(r.what) + 1; behind < made.size(); ++behind)
      ++made[behind];
  return made;
}();

constexpr std::array<const char*, algorithm_count> algorithm_names = {
    "automatic", "dissemination", "doubling", "halving",    "binomial",       "flat",     "chain",
    "pipeline",  "scatter_ring",  "ring",     "bruck",      "linear",         "pairwise", "ordered",
    "shared",    "shared_parts",  "slots",    "two_levels", "two_level_parts"};
constexpr std::array<const char*, static_cast<std::size_t>(collective::unknown)> all_names = {
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "scan",
    "exscan",
    "reduce_scatter",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "reduce_scatter_block",
    "alltoallw",
    "neighbor_alltoallw",
    "intercomm_create"};
/// Those with algorithms of their own.
constexpr auto collective_names = std::span(all_names).first<collective_count>();

/// Where `name` is among the names; their number if it is not there.
template <class Names>
std::size_t position(const Names& names, std::string_view name) noexcept {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

bool fits(const rule& r, const question& q) noexcept {
  return r.serves(q) && q.bytes <= r.bytes_max && q.ranks <= r.ranks_max &&
         (r.where == rule::load::any || (r.where == rule::load::yes) == q.oversubscribed);
}

/// Whether an algorithm serves the call, whatever its bounds are.
bool serves(algorithm use, std::span<const rule> rows, const question& q) noexcept {
  return std::ranges::any_of(rows, [&](const rule& r) { return r.use == use && r.serves(q); });
}

/// `automatic`: the size was not measured, or the call can use nothing that was.
algorithm quickest(const tuned_shape& measured, std::span<const rule> rows,
                   const question& q) noexcept {
  for (const tuned_row& row : measured.rows_of(q.what)) {
    if (q.bytes > row.bytes_max) continue;
    for (const auto use : row.order)
      if (use == automatic || serves(use, rows, q)) return use;
  }
  return automatic;
}

void read_entry(std::string_view entry, settings& into) {
  const auto colon = entry.find(':');
  const auto what = collective_named(entry.substr(0, colon));
  const auto name = colon == entry.npos ? std::string_view{} : entry.substr(colon + 1);
  const auto use = name == name_of(automatic) ? automatic : algorithm_named(name);
  if (what && use && (*use == automatic || has_algorithm(*what, *use))) {
    into.forced[static_cast<std::size_t>(*what)] = *use;
    return;
  }
  base::log(base::severity::error,
            "HEADWAY_COLLECTIVES: '{}' is not a collective and one of its algorithms", entry);
}

}  // namespace

algorithm choose(const question& q, const settings& user, const tuned_shape* measured) noexcept {
  const auto rows = rules(q.what);
  const auto forced = user.forced[static_cast<std::size_t>(q.what)];
  if (forced != automatic && serves(forced, rows, q)) return forced;
  if (measured)
    if (const auto use = quickest(*measured, rows, q); use != automatic) return use;
  for (const rule& r : rows)
    if (fits(r, q)) return r.use;
  HEADWAY_ASSERT(false && "the last row fits every question");
  return automatic;
}

settings settings::from_text(std::string_view text) {
  settings made;
  while (!text.empty()) {
    const auto comma = text.find(',');
    read_entry(text.substr(0, comma), made);
    text = comma == text.npos ? std::string_view{} : text.substr(comma + 1);
  }
  return made;
}

std::span<const rule> rules(collective c) noexcept {
  const auto i = static_cast<std::size_t>(c);
  HEADWAY_ASSERT(i < collective_count);
  return std::span(rule_table).subspan(first_rows[i], first_rows[i + 1] - first_rows[i]);
}
const char* name_of(algorithm a) noexcept {
  const auto i = static_cast<std::size_t>(a);
  HEADWAY_ASSERT(i < algorithm_names.size());
  return algorithm_names[i];
}
const char* name_of(collective c) noexcept {
  const auto i = static_cast<std::size_t>(c);
  HEADWAY_ASSERT(i < all_names.size());
  return all_names[i];
}

std::optional<collective> collective_named(std::string_view name) noexcept {
  const auto i = position(collective_names, name);
  return i < collective_count ? std::optional(static_cast<collective>(i)) : std::nullopt;
}

std::optional<algorithm> algorithm_named(std::string_view name) noexcept {
  const auto i = position(algorithm_names, name);
  return i > 0 && i < algorithm_count ? std::optional(static_cast<algorithm>(i)) : std::nullopt;
}

bool has_algorithm(collective c, algorithm a) noexcept {
  return std::ranges::any_of(rules(c), [&](const rule& r) { return r.use == a; });
}

}  // namespace headway::collectives
