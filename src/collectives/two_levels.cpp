// The algorithms of collective operations between several nodes, in two levels: each builds a
// schedule of exchanges inside the node (shared_exchange.hpp), and of messages between one rank of
// each node, or between the ranks that have the same place on their nodes.
#include <numeric>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/collectives.hpp"
#include "collectives/node_levels.hpp"
#include "collectives/partition.hpp"
#include "collectives/shared_exchange.hpp"
#include "collectives/team_part.hpp"

namespace headway::collectives {
namespace {

const datatypes::layout& bytes_type() { return datatypes::layout::of(datatypes::number::byte); }

/// One rank of each node, which sends and receives for it: the first, or where the root is, the
/// root.
class leaders {
 public:
  explicit leaders(const team& t, int root = no_rank) : levels_(*t.memory.levels), team_(t) {
    for (int node = 0; node < levels_.nodes(); ++node)
      ranks_.push_back(levels_.ranks_on(node).front());
    if (root != no_rank) ranks_[static_cast<std::size_t>(levels_.node_of(root))] = root;
  }
  /// The last rank of each node.
  struct last {};
  leaders(const team& t, last) : levels_(*t.memory.levels), team_(t) {
    for (int node = 0; node < levels_.nodes(); ++node)
      ranks_.push_back(levels_.ranks_on(node).back());
  }

  [[nodiscard]] bool include_own() const { return own() == team_.rank; }
  /// Of this node, among the ranks of the node.
  [[nodiscard]] int place() const { return levels_.place_of(own()); }
  /// As a team in which each has its node's number. Only for a leader.
  [[nodiscard]] team_part as_team(schedule& s) const {
    return {s, team_, ranks_, levels_.own_node()};
  }

 private:
  [[nodiscard]] int own() const { return ranks_[static_cast<std::size_t>(levels_.own_node())]; }

  const node_levels& levels_;
  const team& team_;
  std::vector<int> ranks_;
};

/// The ranks that have this rank's place on their nodes, as a team in which each has its node's
/// number. Nodes of equally many ranks only.
team_part same_place(schedule& s, const team& t) {
  const node_levels& levels = *t.memory.levels;
  const auto place = static_cast<std::size_t>(levels.place_of(t.rank));
  std::vector<int> ranks;
  for (int node = 0; node < levels.nodes(); ++node) ranks.push_back(levels.ranks_on(node)[place]);
  return {s, t, std::move(ranks), levels.own_node()};
}

/// Whether this rank is not alone on its node.
bool shares_node(const team& t) { return t.memory.levels->local().size > 1; }

/// Those that read what this rank has just shown go on with messages, so they are woken for it.
void others_go_on(schedule& s) { s.last_exchange().stream().set_urgent(); }

/// A reduction of the same values by the ranks of this node, to one of them.
/// Returns what that rank has then: as input for the nodes' reduction.
reduction reduce_in_node(schedule& s, const team& t, reduction r, int place, void* result) {
  const team& local = t.memory.levels->local();
  if (!shares_node(t)) {
    r.send = r.input();
    r.in_place = false;
    return r;
  }
  reduction here = r;
  here.receive = local.rank == place ? result : nullptr;
  here.send = r.input();
  here.in_place = here.receive == here.send;
  reduce_shared(s, local, here, place);
  others_go_on(s);
  r.send = result;
  r.in_place = false;
  return r;
}

/// The blocks of the ranks of this node, at one of them.
void gather_in_node(schedule& s, const team& t, const block& own, const blocks& all, int place) {
  gather_shared(s, t.memory.levels->local(), &own, all, place);
  others_go_on(s);
}

/// `data` is on that rank of the node; then on all of them.
void bcast_in_node(schedule& s, const team& t, const block& data, int place) {
  if (shares_node(t)) bcast_shared(s, t.memory.levels->local(), data, place);
}

/// The packed blocks of all ranks, one node behind the other.
class packed_by_node {
 public:
  /// `bytes_of(rank)`: of its block.
  template <class Bytes>
  packed_by_node(const node_levels& levels, const Bytes& bytes_of) : levels_(levels) {
    lengths_.reserve(levels.ranks().size());
    for (const int rank : levels.ranks()) lengths_.push_back(bytes_of(rank));
    begins_.assign(lengths_.size() + 1, 0);
    std::partial_sum(lengths_.begin(), lengths_.end(), begins_.begin() + 1);
  }
  [[nodiscard]] std::int64_t bytes() const { return begins_.back(); }
  [[nodiscard]] std::int64_t begin(int node) const { return begins_[first(node)]; }
  [[nodiscard]] std::int64_t length(int node) const { return begin(node + 1) - begin(node); }
  /// Of a rank that has this place in `levels.ranks()`.
  [[nodiscard]] std::int64_t begin_of(std::size_t number) const { return begins_[number]; }
  /// Those of one node; `data`: where that node's begin.
  [[nodiscard]] blocks of_node(int node, std::byte* data) {
    const auto from = first(node);
    places_.clear();
    for (auto i = from; i < first(node + 1); ++i) places_.push_back(begins_[i] - begins_[from]);
    return {.data = data,
            .type = &bytes_type(),
            .counts = lengths_.data() + from,
            .places = places_.data()};
  }

 private:
  [[nodiscard]] std::size_t first(int node) const {
    return node == levels_.nodes()
               ? lengths_.size()
               : static_cast<std::size_t>(levels_.ranks_on(node).data() - levels_.ranks().data());
  }

  const node_levels& levels_;
  std::vector<std::int64_t> lengths_, begins_, places_;
};

/// The blocks of `all` lie one behind the other as `packed_by_node` has them.
bool lies_by_node(const node_levels& levels, const blocks& all, const packed_by_node& packed) {
  if (!levels.in_order() || all.types || !all.type->is_contiguous()) return false;
  if (!all.counts) return true;
  for (int rank = 0; rank < std::ssize(levels.ranks()); ++rank)
    if (all.counts[rank] > 0 && all.places &&
        all.places[rank] * all.type->extent() != packed.begin_of(static_cast<std::size_t>(rank)))
      return false;
  return true;
}

}  // namespace

void barrier_two_levels(schedule& s, const team& t) {
  const leaders each(t);
  if (shares_node(t)) {
    barrier_shared(s, t.memory.levels->local());
    others_go_on(s);
  }
  if (each.include_own()) barrier(s, each.as_team(s).ranks());
  bcast_in_node(s, t, {nullptr, 0, &bytes_type()}, each.place());
}

void bcast_two_levels(schedule& s, const team& t, const block& data, int root) {
  const leaders each(t, root);
  if (each.include_own()) bcast(s, each.as_team(s).ranks(), data, t.memory.levels->node_of(root));
  bcast_in_node(s, t, data, each.place());
}

void reduce_two_levels(schedule& s, const team& t, const reduction& r, int root) {
  const leaders each(t, root);
  std::byte* result = nullptr;
  if (each.include_own())
    result = t.rank == root ? static_cast<std::byte*>(r.receive) : s.scratch(r.bytes());
  reduction own = reduce_in_node(s, t, r, each.place(), result);
  if (!each.include_own()) return;
  own.in_place = t.rank == root && own.send == r.receive;
  reduce(s, each.as_team(s).ranks(), own, t.memory.levels->node_of(root));
}

void reduce_two_level_parts(schedule& s, const team& t, const reduction& r, int root) {
  node_levels& levels = *t.memory.levels;
  const int node = levels.node_of(root);
  const bool collects = levels.own_node() == node;
  reduce_in_parts(s, levels.local(), r, collects ? levels.place_of(root) : no_rank,
                  [&](std::byte* part, std::int64_t count) {
                    reduce(s, same_place(s, t).ranks(),
                           {.send = part,
                            .receive = part,
                            .count = count,
                            .type = r.type,
                            .op = r.op,
                            .in_place = collects},
                           node);
                  });
}

void allreduce_two_levels(schedule& s, const team& t, const reduction& r) {
  const leaders each(t);
  reduction own = reduce_in_node(s, t, r, each.place(), r.receive);
  if (each.include_own()) {
    own.in_place = own.send == r.receive;
    allreduce(s, each.as_team(s).ranks(), own);
  }
  bcast_in_node(s, t, {r.receive, r.count, r.type}, each.place());
}

void allreduce_two_level_parts(schedule& s, const team& t, const reduction& r) {
  allreduce_in_parts(s, t.memory.levels->local(), r, [&](std::byte* part, std::int64_t count) {
    allreduce(s, same_place(s, t).ranks(),
              {.receive = part, .count = count, .type = r.type, .op = r.op, .in_place = true});
  });
}

void gather_two_levels(schedule& s, const team& t, const block* mine, const blocks& all, int root) {
  node_levels& levels = *t.memory.levels;
  const leaders each(t, root);
  const auto bytes = t.rank == root ? all.of(root).bytes() : mine->bytes();
  packed_by_node packed(levels, [&](int) { return bytes; });
  const bool is_root = t.rank == root;
  const bool straight = is_root && lies_by_node(levels, all, packed);
  const int node = levels.own_node();
  wire_buffers w(s);
  std::byte* whole = nullptr;  // of this node; at the root, of all
  if (straight) whole = w.in({all.data, all.count * t.size, all.type});
  else if (is_root) whole = s.scratch(packed.bytes());
  else if (each.include_own()) whole = s.scratch(packed.length(node));
  std::byte* const own_begin = is_root ? whole + packed.begin(node) : whole;
  const block own = mine ? *mine : all.of(t.rank);
  if (shares_node(t)) {
    gather_in_node(s, t, own, packed.of_node(node, own_begin), each.place());
  } else if (each.include_own()) {
    w.move(own, {own_begin, bytes, &bytes_type()}, wire_buffers::later_steps::read_it);
  }
  if (bytes == 0 || !each.include_own()) return;
  const auto nodes = each.as_team(s);
  if (!is_root) {
    s.send(levels.node_of(root), whole, packed.length(node));
    return s.close_round();
  }
  for (int other = 0; other < levels.nodes(); ++other)
    if (other != node) s.receive(other, whole + packed.begin(other), packed.length(other));
  s.close_round();
  if (straight) return;
  for (std::size_t i = 0; i < levels.ranks().size(); ++i) {
    const int rank = levels.ranks()[i];
    const block to = all.of(rank);
    if (rank != root || mine) s.unpack(*to.type, whole + packed.begin_of(i), to.data, to.count);
  }
}

void scatter_two_levels(schedule& s, const team& t, const blocks& all, const block* mine,
                        int root) {
  node_levels& levels = *t.memory.levels;
  const leaders each(t, root);
  const bool is_root = t.rank == root;
  const auto bytes = is_root ? all.of(root).bytes() : mine->bytes();
  packed_by_node packed(levels, [&](int) { return bytes; });
  const int node = levels.own_node();
  wire_buffers w(s);
  std::byte* whole = nullptr;
  if (is_root && lies_by_node(levels, all, packed)) {
    whole = w.in({all.data, all.count * t.size, all.type});
  } else if (is_root) {
    whole = s.scratch(packed.bytes());
    for (std::size_t i = 0; i < levels.ranks().size(); ++i) {
      const block from = all.of(levels.ranks()[i]);
      s.pack(*from.type, from.data, from.count, whole + packed.begin_of(i));
    }
  } else if (each.include_own()) {
    whole = s.scratch(packed.length(node));
  }
  if (bytes > 0 && each.include_own()) {
    const auto nodes = each.as_team(s);
    if (is_root) {
      for (int other = 0; other < levels.nodes(); ++other)
        if (other != node) s.send(other, whole + packed.begin(other), packed.length(other));
    } else {
      s.receive(levels.node_of(root), whole, packed.length(node));
    }
    s.close_round();
  }
  std::byte* const own_begin = is_root ? whole + packed.begin(node) : whole;
  if (shares_node(t)) {
    const blocks here{.data = own_begin, .type = &bytes_type(), .count = bytes};
    scatter_shared(s, levels.local(), here, mine, each.place());
  } else if (mine && bytes > 0) {
    w.move({own_begin, bytes, &bytes_type()}, *mine);
  }
}

void allgather_two_levels(schedule& s, const team& t, const block* mine, const blocks& all) {
  node_levels& levels = *t.memory.levels;
  const leaders each(t);
  packed_by_node packed(levels, [&](int rank) { return all.of(rank).bytes(); });
  const bool straight = lies_by_node(levels, all, packed);
  const int node = levels.own_node();
  wire_buffers w(s);
  std::byte* const whole = straight ? static_cast<std::byte*>(all.data) + all.type->true_lb()
                                    : s.scratch(packed.bytes());
  const block own = mine ? *mine : all.of(t.rank);
  const auto here = packed.of_node(node, whole + packed.begin(node));
  if (shares_node(t)) gather_in_node(s, t, own, here, each.place());
  else w.move(own, here.of(0), wire_buffers::later_steps::read_it);
  if (each.include_own()) {
    const auto nodes = each.as_team(s);
    std::vector<std::int64_t> lengths, begins;
    for (int i = 0; i < levels.nodes(); ++i) {
      lengths.push_back(packed.length(i));
      begins.push_back(packed.begin(i));
    }
    blocks by_node{.data = whole, .type = &bytes_type(), .count = lengths[0]};
    if (all.counts || !levels.even()) {
      by_node.counts = lengths.data();
      by_node.places = begins.data();
    }
    allgather(s, nodes.ranks(), nullptr, by_node);
  }
  bcast_in_node(s, t, {whole, packed.bytes(), &bytes_type()}, each.place());
  if (straight) return;
  for (std::size_t i = 0; i < levels.ranks().size(); ++i) {
    const block to = all.of(levels.ranks()[i]);
    s.unpack(*to.type, whole + packed.begin_of(i), to.data, to.count);
  }
}

void alltoall_two_levels(schedule& s, const team& t, const blocks* from, const blocks& to) {
  node_levels& levels = *t.memory.levels;
  const team& local = levels.local();
  const auto bytes = to.of(0).bytes();
  const auto of_node = local.size * bytes;       // what the ranks of a node have for one rank
  const auto to_place = levels.nodes() * bytes;  // what a rank has for those of one place
  const auto rank_at = [&](int node, int place) {
    return levels.ranks_on(node)[static_cast<std::size_t>(place)];
  };
  std::byte* const packed = s.scratch(t.size * bytes);
  for (int place = 0; place < local.size; ++place)
    for (int node = 0; node < levels.nodes(); ++node) {
      const block b = (from ? *from : to).of(rank_at(node, place));
      s.pack(*b.type, b.data, b.count, packed + place * to_place + node * bytes);
    }
  // By the place of the sender, then by the node of the receiver.
  std::byte* arrived = packed;
  if (shares_node(t)) {
    arrived = s.scratch(t.size * bytes);
    const blocks out{.data = packed, .type = &bytes_type(), .count = to_place};
    alltoall_shared(s, local, &out, {.data = arrived, .type = &bytes_type(), .count = to_place});
    others_go_on(s);
  }
  std::byte* const outgoing = s.scratch(t.size * bytes);
  std::byte* const incoming = s.scratch(t.size * bytes);
  for (int node = 0; node < levels.nodes(); ++node)
    for (int place = 0; place < local.size; ++place)
      s.copy(arrived + place * to_place + node * bytes, outgoing + node * of_node + place * bytes,
             bytes);
  const blocks out{.data = outgoing, .type = &bytes_type(), .count = of_node};
  alltoall(s, same_place(s, t).ranks(), &out,
           {.data = incoming, .type = &bytes_type(), .count = of_node});
  for (int node = 0; node < levels.nodes(); ++node)
    for (int place = 0; place < local.size; ++place) {
      const block b = to.of(rank_at(node, place));
      s.unpack(*b.type, incoming + node * of_node + place * bytes, b.data, b.count);
    }
}

void scan_two_levels(schedule& s, const team& t, const reduction& r, bool exclusive) {
  node_levels& levels = *t.memory.levels;
  const team& local = levels.local();
  const leaders each(t, leaders::last{});
  const bool is_last = each.include_own();
  s.set_reducer(r.op);
  // What the nodes' scan begins with: the values of all ranks of the node, combined.
  std::byte* total = is_last ? s.scratch(r.bytes()) : nullptr;
  if (is_last && exclusive) s.copy(r.input(), total, r.bytes());
  if (shares_node(t)) {
    scan_shared(s, local, r, exclusive);
    others_go_on(s);
  } else if (!exclusive) {
    s.copy(r.input(), r.receive, r.bytes());
  }
  if (is_last && !exclusive) s.copy(r.receive, total, r.bytes());
  if (is_last && exclusive && local.rank > 0) s.combine(r.receive, total, r.count);
  const bool is_first_node = levels.own_node() == 0;
  std::byte* const before = s.scratch(r.bytes());  // the values of all nodes before this one
  if (is_last)
    exscan(s, each.as_team(s).ranks(),
           {.send = total, .receive = before, .count = r.count, .type = r.type, .op = r.op});
  if (is_first_node) return;
  bcast_in_node(s, t, {before, r.count, r.type}, each.place());
  if (exclusive && local.rank == 0) s.copy(before, r.receive, r.bytes());
  else s.combine(before, r.receive, r.count);
}

void reduce_scatter_two_levels(schedule& s, const team& t, const reduction& r,
                               const std::int64_t* counts) {
  node_levels& levels = *t.memory.levels;
  const leaders each(t);
  const partition part(counts, t.size);
  std::byte* const total = each.include_own() && shares_node(t) ? s.scratch(r.bytes()) : nullptr;
  reduction own = reduce_in_node(s, t, r, each.place(), total);
  std::vector<std::int64_t> of_nodes;
  for (int node = 0; node < levels.nodes(); ++node) {
    const auto on = levels.ranks_on(node);
    of_nodes.push_back(part.begin(on.back() + 1) - part.begin(on.front()));
  }
  const auto elements = of_nodes[static_cast<std::size_t>(levels.own_node())];
  std::byte* const result = each.include_own() ? s.scratch(elements * r.type->size()) : nullptr;
  if (each.include_own()) {
    own.receive = result;
    reduce_scatter(s, each.as_team(s).ranks(), own, of_nodes.data());
  }
  const block mine{r.receive, part.length(t.rank), r.type};
  if (!shares_node(t)) return s.copy(result, r.receive, mine.bytes());
  const auto here = levels.ranks_on(levels.own_node());
  std::vector<std::int64_t> lengths, begins;
  for (const int rank : here) {
    lengths.push_back(part.length(rank));
    begins.push_back(part.begin(rank) - part.begin(here.front()));
  }
  scatterv_shared(
      s, levels.local(),
      {.data = result, .type = r.type, .counts = lengths.data(), .places = begins.data()}, &mine,
      each.place());
}

}  // namespace headway::collectives
