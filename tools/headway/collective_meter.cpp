#include "tools/headway/collective_meter.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "collectives/call.hpp"
#include "collectives/collectives.hpp"
#include "messages/context.hpp"
#include "messages/numbers.hpp"

namespace headway::tool {
namespace {

using collectives::algorithm;
using collectives::collective;
using datatypes::layout;
using datatypes::number;

/// Context pairs of this command, which makes no communicators.
constexpr std::uint32_t control_context = 2 * messages::context_pair::job + 1;
constexpr std::uint32_t measured_context = 2 * messages::context_pair::world + 1;

collectives::exchange_team::surroundings surroundings_of(runtime::instance& job) {
  return {.memory = {.slots = job.shm_slots(), .copies = job.node_memory()},
          .oversubscribed = job.outnumber_processors(*job.job_members()),
          .nodes = {.only_one = true}};
}

collectives::reducer reducer_of(collectives::operation op) {
  return collectives::predefined(op, number::float64).value();
}

}  // namespace

/// One operation with its operands: `count` numbers of the vector, or of each block.
struct collective_meter::call {
  collective what;
  std::int64_t count;
  int root = 0;
  collectives::reduction sum = {};
};

collective_meter::group::group(runtime::instance& job, std::uint32_t number)
    : exchange(job.messages()),
      context(exchange.open_context(number, job.rank(), job.job_members(), true)),
      team(std::in_place, exchange, *context, surroundings_of(job)) {
  // As many calls as it takes until shared memory is there, or will never be.
  constexpr int calls = 256;
  for (int i = 0; i < calls; ++i) team->count_call({.what = collectives::collective::barrier});
}

collective_meter::group::~group() {
  team.reset();
  exchange.close_context(context);
}

collective_meter::collective_meter(runtime::instance& job, std::size_t bytes_max)
    : control_(job, control_context),
      measured_(job, measured_context),
      from_(bytes_max / sizeof(double), 1),
      into_(from_.size(), 1) {
  const auto& t = measured();
  shape_.ranks = t.size;
  shape_.oversubscribed = t.oversubscribed;
  shape_.has = collectives::any_order | collectives::two_buffers;
  if (t.memory.banks) shape_.has |= collectives::node_banks;
  if (std::has_single_bit(static_cast<unsigned>(t.size))) shape_.has |= collectives::power_of_two;
  has_slots_ = t.memory.slots != nullptr;
}

collective_meter::~collective_meter() = default;

collectives::question collective_meter::question(collective what, std::int64_t bytes) const {
  constexpr auto slot_bytes =
      static_cast<std::int64_t>(collectives::shm_collective::value_bytes_max);
  auto q = shape_;
  q.what = what;
  q.bytes = bytes;
  if (has_slots_ && bytes <= slot_bytes) q.has |= collectives::shared_slots;
  return q;
}

std::vector<algorithm> collective_meter::usable(collective what, std::int64_t bytes) const {
  std::vector<algorithm> some;
  for (const auto& r : collectives::rules(what))
    if (r.serves(question(what, bytes)) && std::ranges::find(some, r.use) == some.end())
      some.push_back(r.use);
  return some;
}

algorithm collective_meter::built_in(collective what, std::int64_t bytes) const {
  return collectives::choose(question(what, bytes));
}

collectives::reduction collective_meter::sum_of(std::int64_t count) {
  return {.send = from_.data(),
          .receive = into_.data(),
          .count = count,
          .type = &layout::of(number::float64),
          .op = reducer_of(collectives::operation::sum)};
}

/// Whether the slots do all of it; then `how` is set.
bool collective_meter::by_slots(collectives::team& t, const call& c, messages::outcome& how) {
  if (c.what == collective::barrier && collectives::barrier_uses_slots(t))
    how = t.memory.slots->share({});
  else if (c.what == collective::allreduce && collectives::allreduce_uses_slots(t, c.sum))
    how = t.memory.slots->allreduce(c.sum);
  else return false;
  return true;
}

void collective_meter::append(collectives::schedule& s, const collectives::team& t, const call& c) {
  const auto& type = layout::of(number::float64);
  const collectives::block mine{from_.data(), c.count, &type};
  const collectives::block own{into_.data(), c.count, &type};
  const collectives::blocks out{.data = from_.data(), .type = &type, .count = c.count};
  const collectives::blocks in{.data = into_.data(), .type = &type, .count = c.count};
  switch (c.what) {
    case collective::barrier:
      return collectives::barrier(s, t);
    case collective::bcast:
      return collectives::bcast(s, t, mine, c.root);
    case collective::reduce:
      return collectives::reduce(s, t, c.sum, c.root);
    case collective::allreduce:
      return collectives::allreduce(s, t, c.sum);
    case collective::gather:
      return collectives::gather(s, t, &mine, in, c.root);
    case collective::scatter:
      return collectives::scatter(s, t, out, &own, c.root);
    case collective::allgather:
      return collectives::allgather(s, t, &mine, in);
    case collective::alltoall:
      return collectives::alltoall(s, t, &out, in);
    case collective::scan:
      return collectives::scan(s, t, c.sum);
    case collective::exscan:
      return collectives::exscan(s, t, c.sum);
    case collective::reduce_scatter: {
      std::vector<std::int64_t> counts(static_cast<std::size_t>(t.size), c.count / t.size);
      for (std::int64_t i = 0; i < c.count % t.size; ++i) ++counts[static_cast<std::size_t>(i)];
      return collectives::reduce_scatter(s, t, c.sum, counts.data());
    }
    default:
      break;
  }
  HEADWAY_ASSERT(false && "its size is unknown to the choice, so it is not measured");
}

/// As a blocking MPI call does, which also keeps the schedules of small calls.
messages::outcome collective_meter::run(group& in, const call& c) {
  auto& t = in.team->ranks();
  messages::outcome how{};
  if (by_slots(t, c, how)) return how;
  const bool kept = c.count * static_cast<std::int64_t>(sizeof(double)) <=
                    collectives::recent_schedules::bytes_max;
  auto steps = kept ? in.team->recent().take({.what = c.what,
                                              .root = c.root,
                                              .send = from_.data(),
                                              .receive = c.sum.receive,
                                              .count = c.count})
                    : collectives::recent_schedules::lease();
  if (!steps.is_built()) append(*steps, t, c);
  steps->bind(t, {});  // all ranks measure the same
  how = steps->run();
  if (how != messages::outcome::ok) steps.discard();
  return how;
}

base::result<> collective_meter::make_largest(std::vector<double>& all) {
  const auto mine = all;
  call c{.what = collective::allreduce, .count = std::ssize(all)};
  c.sum = {.send = mine.data(),
           .receive = all.data(),
           .count = c.count,
           .type = &layout::of(number::float64),
           .op = reducer_of(collectives::operation::max)};
  control_.team->recent().forget();  // the operands lie elsewhere
  if (run(control_, c) != messages::outcome::ok)
    return base::failed(base::fault_kind::peer_lost, "a rank is lost");
  return {};
}

base::result<double> collective_meter::largest(double mine) {
  std::vector<double> one{mine};
  if (auto done = make_largest(one); !done) return std::unexpected(done.error());
  return one[0];
}

base::result<double> collective_meter::time_us(collective what, std::int64_t bytes, algorithm use,
                                               int calls) {
  auto& t = measured();
  t.chosen_by_user.forced[static_cast<std::size_t>(what)] = use;
  measured_.team->recent().forget();
  const auto count =
      what == collective::barrier
          ? 0
          : std::max<std::int64_t>(1, bytes / static_cast<std::int64_t>(sizeof(double)));
  call c{.what = what, .count = count, .sum = sum_of(count)};
  const call barrier{.what = collective::barrier, .count = 0};
  std::vector<double> all;
  bool well = true;
  for (int i = 0; i < calls; ++i) {
    c.root = i % t.size;
    well &= run(control_, barrier) == messages::outcome::ok;
    const auto begin = base::machine_now_ns();
    well &= run(measured_, c) == messages::outcome::ok;
    all.push_back(static_cast<double>(base::machine_now_ns() - begin) / 1000);
  }
  if (auto done = make_largest(all); !done) return std::unexpected(done.error());
  if (!well) return base::failed(base::fault_kind::peer_lost, "an operation has failed");
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  return *middle;
}

}  // namespace headway::tool
