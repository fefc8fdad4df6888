#include "launch/job.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>

#include "authentication/sodium_bytes.hpp"
#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "launch/join.hpp"
#include "launch/wire_text.hpp"

namespace headway::launch {

using authentication::sodium_bytes;
using base::failed;
using base::fault_kind;

base::result<std::unique_ptr<job>> job::join(const settings& how) {
  auto found = find_launcher(environment::of_this_process(), how);
  if (!found) return std::unexpected(found.error());
  return join(std::move(*found));
}

base::result<std::unique_ptr<job>> job::join(std::unique_ptr<launcher> found) {
  HEADWAY_ASSERT(found && is_place(found->who().rank, found->who().size));
  std::unique_ptr<job> made(new job(std::move(found)));
  if (auto done = made->agree_on_secret(); !done) return std::unexpected(done.error());
  if (made->who().size > 1) made->on_node_.emplace(made->who(), made->secret_);
  return made;
}

/// Rank 0 makes the secret and the others get it from rank 0, unless the launcher has made one.
base::result<> job::agree_on_secret() {
  if (const auto given = launcher_->secret()) {
    secret_ = *given;
    return {};
  }
  if (sodium_init() < 0) return failed(fault_kind::system, "libsodium does not start");
  const bool maker = who().rank == 0;
  if (maker) randombytes_buf(secret_.data(), secret_.size());
  if (who().size == 1) return {};
  if (auto done = trade(maker ? std::span<const std::byte>(secret_) : std::span<std::byte>());
      !done || maker)
    return done;
  const auto value = look_up(0);
  if (!value) return std::unexpected(value.error());
  if (value->size() != secret_.size())
    return failed(fault_kind::bad_input, "rank 0 has published no secret for the job");
  std::ranges::copy(*value, secret_.begin());
  return {};
}

job_secret job::contribution_for(std::uint64_t other) const {
  std::array<unsigned char, sizeof other> number;
  for (std::size_t i = 0; i < number.size(); ++i)
    number[i] = static_cast<unsigned char>(other >> 8 * i & 0xff);
  job_secret made;
  crypto_generichash(sodium_bytes(made.data()), made.size(), number.data(), number.size(),
                     sodium_bytes(secret_.data()), secret_.size());
  return made;
}

job_secret pair_key(const job_secret& lower, const job_secret& higher) {
  job_secret made;
  crypto_generichash(sodium_bytes(made.data()), made.size(), sodium_bytes(lower.data()),
                     lower.size(), sodium_bytes(higher.data()), higher.size());
  return made;
}

base::result<> job::trade(std::span<const std::byte> value) {
  HEADWAY_ASSERT(value.size() <= record_bytes_max);
  const base::lock_guard held(lock_);
  auto done = launcher_->publish(value);
  if (!done)
    return failed(done.error().kind,
                  fmt::format("exchange among {} processes: {}", who().size, done.error().text));
  return done;
}

base::result<std::vector<std::byte>> job::look_up(int rank) {
  HEADWAY_ASSERT(is_place(rank, who().size));
  const base::lock_guard held(lock_);
  look_ups_.fetch_add(1, std::memory_order_relaxed);  // a statistic, carries no data
  return launcher_->value_of(rank);
}

std::vector<std::byte> job::once_a_node(const std::function<std::vector<std::byte>()>& make) {
  HEADWAY_ASSERT(make);
  if (!on_node_) return make();
  const int node = on_node_->node_itself();
  if (!on_node_->claim(node)) return on_node_->find(node).value_or(std::vector<std::byte>{});
  auto made = make();
  if (made.empty()) on_node_->abandon(node);
  else on_node_->put(node, made);
  return made;
}

base::result<> job::publish(std::span<const std::byte> record) {
  HEADWAY_ASSERT(own_.empty() && !record.empty());
  if (record.size() > record_bytes_max)
    return failed(fault_kind::bad_input,
                  fmt::format("{} bytes are more than a process may publish ({})", record.size(),
                              record_bytes_max));
  own_.assign(record.begin(), record.end());
  if (!on_node_) return trade(own_);
  on_node_->put(who().rank, own_);  // the others look for it when the exchange has returned there
  auto done = trade(own_);
  on_node_->unlink_name();
  return done;
}

base::result<std::vector<std::byte>> job::record_of(int rank) {
  HEADWAY_ASSERT(!own_.empty());
  if (rank < 0 || rank >= who().size)
    return failed(fault_kind::bad_input,
                  fmt::format("there is no rank {} of {}", rank, who().size));
  if (rank == who().rank) return own_;
  HEADWAY_ASSERT(on_node_);
  if (auto known = on_node_->find(rank)) return *std::move(known);
  const bool claimed = on_node_->claim(rank);
  auto found = look_up(rank);
  if (claimed && found) on_node_->put(rank, *found);
  else if (claimed) on_node_->abandon(rank);
  return found;
}

base::result<pid_t> job::spawn(const spawn_request& what) {
  const base::lock_guard held(lock_);
  return launcher_->spawn(what);
}

base::result<> job::barrier() {
  HEADWAY_ASSERT(!own_.empty());
  const base::lock_guard held(lock_);
  return launcher_->barrier();
}

}  // namespace headway::launch
