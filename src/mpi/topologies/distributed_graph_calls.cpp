#include "mpi/topologies/distributed_graph_calls.hpp"

#include <algorithm>
#include <numeric>

#include "mpi/collectives/collective_calls.hpp"
#include "mpi/communicators/hints.hpp"
#include "mpi/topologies/attach.hpp"
#include "mpi/topologies/locations.hpp"

namespace headway::mpi::calls {
namespace {

using edge_list = distributed_graph::edge_list;
using numbers = std::vector<int>;
using counts = std::vector<std::int64_t>;

int check_ranks(const communicator& comm, const char* argument, const int* ranks, int count) {
  for (int i = 0; i < count; ++i) {
    if (!comm.has_rank(ranks[i])) {
      return fail(MPI_ERR_RANK, "{} has {} at index {}, but the communicator has {} processes",
                  argument, ranks[i], i, comm.size());
    }
  }
  return MPI_SUCCESS;
}

int check_weights(const char* argument, const int* weights, int count) {
  if (count == 0 || weights == MPI_UNWEIGHTED) return MPI_SUCCESS;
  if (weights == nullptr || weights == MPI_WEIGHTS_EMPTY) {
    return fail(MPI_ERR_ARG, "{} has no weights, but there are {} edges", argument, count);
  }
  for (int i = 0; i < count; ++i) {
    if (weights[i] < 0) {
      return fail(MPI_ERR_ARG, "{} has {} at index {}, but must not be negative", argument,
                  weights[i], i);
    }
  }
  return MPI_SUCCESS;
}

counts starts_of(const counts& lengths) {
  counts starts(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), std::int64_t{0});
  return starts;
}

datatype& int_type() { return *find<datatype>(MPI_INT); }

/// Sends `rows[i]` to rank i; `received` gets the rows sent to this rank, in rank order.
int exchange_rows(communicator& comm, const std::vector<numbers>& rows,
                  std::vector<numbers>& received) {
  counts out, in(rows.size());
  for (const auto& row : rows) out.push_back(static_cast<std::int64_t>(row.size()));
  datatype& count_type = *find<datatype>(MPI_COUNT);
  if (const int code =
          run_collective(comm, alltoall{out.data(), 1, count_type, in.data(), 1, count_type}))
    return code;
  const auto out_starts = starts_of(out), in_starts = starts_of(in);
  numbers sent, all(static_cast<std::size_t>(std::accumulate(in.begin(), in.end(), 0LL)));
  for (const auto& row : rows) sent.insert(sent.end(), row.begin(), row.end());
  if (const int code = run_collective(
          comm,
          alltoallv{sent.data(), integers(out.data()), integers(out_starts.data()), int_type(),
                    all.data(), integers(in.data()), integers(in_starts.data()), int_type()}))
    return code;
  received.clear();
  for (std::size_t i = 0; i < in.size(); ++i)
    received.emplace_back(all.begin() + in_starts[i], all.begin() + in_starts[i] + in[i]);
  return MPI_SUCCESS;
}

/// An allgather: `all[i]` gets rank i's row.
int gather_rows(communicator& comm, const numbers& mine, std::vector<numbers>& all) {
  return exchange_rows(comm, std::vector(static_cast<std::size_t>(comm.size()), mine), all);
}

void append(edge_list& to, int rank, int weight) {
  to.ranks.push_back(rank);
  to.weights.push_back(weight);
}

// Edges as a row of numbers: the number of incoming edges; then, for each incoming and each
// outgoing edge, the other rank and the weight.

numbers row_of(const distributed_graph& g) {
  numbers row{static_cast<int>(g.in.ranks.size())};
  for (const auto* list : {&g.in, &g.out}) {
    for (std::size_t i = 0; i < list->ranks.size(); ++i) {
      row.push_back(list->ranks[i]);
      row.push_back(g.weighted ? list->weights[i] : 1);
    }
  }
  return row;
}

/// Appends the edges of a row.
void read_row(const numbers& row, distributed_graph& to) {
  const auto out_begin = 1 + 2 * static_cast<std::size_t>(row[0]);
  for (std::size_t i = 1; i < row.size(); i += 2)
    append(i < out_begin ? to.in : to.out, row[i], row[i + 1]);
}

/// Computes a new order of the ranks, and changes `mine` to the part of the new rank. Collective.
int reorder_ranks(communicator& comm, distributed_graph& mine, numbers& order) {
  std::vector<location> where;
  if (const int code = gather_locations(comm, where)) return code;
  if (std::ranges::count(where, where[0]) == comm.size()) return MPI_SUCCESS;
  std::vector<numbers> rows;
  if (const int code = gather_rows(comm, row_of(mine), rows)) return code;
  std::vector<weighted_edge> edges;
  for (int rank = 0; rank < comm.size(); ++rank) {
    distributed_graph part;
    read_row(rows[static_cast<std::size_t>(rank)], part);
    for (std::size_t i = 0; i < part.out.ranks.size(); ++i)
      edges.push_back({rank, part.out.ranks[i], part.out.weights[i]});
  }
  order = place(traffic_of(comm.size(), edges), where);
  const int rank = position_in(order, comm.rank());
  mine = {.in = {}, .out = {}, .weighted = mine.weighted};
  read_row(rows[static_cast<std::size_t>(rank)], mine);
  return MPI_SUCCESS;
}

int create(communicator& comm, distributed_graph mine, int reorder, const info* hints,
           communicator*& made) {
  auto order = same_order(comm.size());
  if (reorder) {
    if (const int code = reorder_ranks(comm, mine, order)) return code;
  }
  if (const int code = create_with_topology(comm, order, std::move(mine), made)) return code;
  set_hints(*made, hints);
  return MPI_SUCCESS;
}

void copy_edges(const distributed_graph& g, const edge_list& from, int count, int* ranks,
                int* weights) {
  count = std::min(count, static_cast<int>(from.ranks.size()));
  std::copy_n(from.ranks.begin(), count, ranks);
  if (g.weighted && weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY && weights != nullptr)
    std::copy_n(from.weights.begin(), count, weights);
}

}  // namespace

int dist_graph_create(communicator& comm, int n, const int* sources, const int* degrees,
                      const int* destinations, const int* weights, info* hints, int reorder,
                      communicator*& made) {
  if (const int code = check_ranks(comm, "argument 3 (sources)", sources, n)) return code;
  int edges = 0;
  for (int i = 0; i < n; ++i) {
    if (degrees[i] < 0)
      return fail(MPI_ERR_ARG, "argument 4 (degrees) has {} at index {}", degrees[i], i);
    edges += degrees[i];
  }
  if (edges > 0 && destinations == nullptr)
    return fail(MPI_ERR_ARG, "argument 5 (destinations) is null");
  if (const int code = check_ranks(comm, "argument 5 (destinations)", destinations, edges))
    return code;
  if (const int code = check_weights("argument 6 (weights)", weights, edges)) return code;

  const bool weighted = weights != MPI_UNWEIGHTED;
  std::vector<distributed_graph> parts(static_cast<std::size_t>(comm.size()));
  for (auto& part : parts) part.weighted = true;
  for (int i = 0, edge = 0; i < n; ++i) {
    for (const int end = edge + degrees[i]; edge < end; ++edge) {
      const int weight = weighted ? weights[edge] : 1;
      append(parts[static_cast<std::size_t>(sources[i])].out, destinations[edge], weight);
      append(parts[static_cast<std::size_t>(destinations[edge])].in, sources[i], weight);
    }
  }
  std::vector<numbers> rows, received;
  for (const auto& part : parts) rows.push_back(row_of(part));
  if (const int code = exchange_rows(comm, rows, received)) return code;
  distributed_graph mine;
  mine.weighted = weighted;
  for (const auto& row : received) read_row(row, mine);
  return create(comm, std::move(mine), reorder, hints, made);
}

int dist_graph_create_adjacent(communicator& comm, int indegree, const int* sources,
                               const int* sourceweights, int outdegree, const int* destinations,
                               const int* destweights, info* hints, int reorder,
                               communicator*& made) {
  if (const int code = check_ranks(comm, "argument 3 (sources)", sources, indegree)) return code;
  if (const int code = check_ranks(comm, "argument 6 (destinations)", destinations, outdegree))
    return code;
  if (const int code = check_weights("argument 4 (sourceweights)", sourceweights, indegree))
    return code;
  if (const int code = check_weights("argument 7 (destweights)", destweights, outdegree))
    return code;
  distributed_graph mine;
  mine.weighted = sourceweights != MPI_UNWEIGHTED;
  if (mine.weighted != (destweights != MPI_UNWEIGHTED)) {
    return fail(MPI_ERR_ARG,
                "only one of the arguments 4 (sourceweights) and 7 (destweights) is "
                "MPI_UNWEIGHTED");
  }
  mine.in.ranks.assign(sources, sources + indegree);
  mine.out.ranks.assign(destinations, destinations + outdegree);
  if (mine.weighted) {
    mine.in.weights.assign(sourceweights, sourceweights + indegree);
    mine.out.weights.assign(destweights, destweights + outdegree);
  }
  return create(comm, std::move(mine), reorder, hints, made);
}

int dist_graph_neighbors_count(communicator& comm, int& indegree, int& outdegree, int& weighted) {
  const distributed_graph* g = nullptr;
  if (const int code = topology_of(comm, "distributed graph", g)) return code;
  indegree = static_cast<int>(g->in.ranks.size());
  outdegree = static_cast<int>(g->out.ranks.size());
  weighted = g->weighted;
  return MPI_SUCCESS;
}

int dist_graph_neighbors(communicator& comm, int maxindegree, int* sources, int* sourceweights,
                         int maxoutdegree, int* destinations, int* destweights) {
  const distributed_graph* g = nullptr;
  if (const int code = topology_of(comm, "distributed graph", g)) return code;
  copy_edges(*g, g->in, maxindegree, sources, sourceweights);
  copy_edges(*g, g->out, maxoutdegree, destinations, destweights);
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
