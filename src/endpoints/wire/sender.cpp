#include "endpoints/wire/sender.hpp"

#include <utility>

#include "endpoints/delivery/misuse.hpp"
#include "endpoints/delivery/units.hpp"
#include "endpoints/parts.hpp"

namespace headway::endpoints {

/// True: it is sent, and its buffer is no longer used. There is no record that could outlive the
/// call, so the rail must be one that never posts a message of this size.
[[gnu::always_inline]] inline bool sender::post_data_now(address to, std::int32_t tag,
                                                         std::uint32_t from, const void* data,
                                                         std::size_t bytes,
                                                         std::uint32_t charge) noexcept {
  head_in_words head({.kind = wire_kind::data,
                      .charge = static_cast<std::uint16_t>(charge),
                      .to = to.id,
                      .from = from,
                      .tag = tag});
  return peers_.at(to.process)
      .post_now({.head = head.bytes(), .payload = {static_cast<const std::byte*>(data), bytes}});
}

/// The message is delivered before credit and buffer are updated, because another processor waits
/// for it.
[[gnu::always_inline]] inline outcome sender::send_at_once(address to, std::int32_t tag,
                                                           std::uint32_t from, const void* data,
                                                           std::size_t bytes, bool keep) noexcept {
  if (to.process >= remotes_.size() || to.id == 0 || tag == any_tag) return outcome::again;
  auto& n = remotes_[to.process];                // `self` is excluded by `at_once_bytes_end`
  if (!n.met.load(std::memory_order_acquire) ||  // (E)
      bytes >= n.at_once_bytes_end || n.lost.load(std::memory_order_relaxed) ||  // a fact
      stopped_.load(std::memory_order_relaxed))
    return outcome::again;
  remote_endpoint* at = n.endpoints.find(to.id);
  if (!at || !at->seems_free(to.id, static_cast<std::int32_t>(window_units_ / 2)))
    return outcome::again;
  if (!data) return outcome::again;
  const auto f = buffers_.find(data);
  if (f.trouble != wrong::none || f.lent || !ownership::at_rest(*f.header) ||
      bytes > f.header->capacity())
    return outcome::again;
  const auto charge = charge_of(bytes, window_units_);
  if (!post_data_now(to, tag, from, data, bytes, charge)) return outcome::again;
  at->count(to.id, charge);
  if (keep) return outcome::ok;
  const auto w = buffers_.release(f);  // none, unless another thread was faster
  return w == wrong::none ? outcome::ok : report_misuse(w, data);
}

outcome service::send_at_once(address to, std::int32_t tag, std::uint32_t from, const void* data,
                              std::size_t bytes, bool keep) noexcept {
  return parts_->out.send_at_once(to, tag, from, data, bytes, keep);
}

outcome sender::send(const sending& what, std::uint64_t deadline_ns) noexcept {
  if (what.to.id == 0 || what.to.process >= remotes_.size() || what.tag == any_tag)
    return outcome::bad_argument;
  pool::found f;
  if (what.data) {
    f = buffers_.find(what.data);
    if (f.trouble != wrong::none) return report_misuse(f.trouble, what.data);
    if (what.bytes > f.header->capacity()) return outcome::bad_argument;
  } else if (what.bytes != 0) {
    return outcome::bad_argument;
  }
  return what.to.process == self_ ? send_here(what, f, deadline_ns)
                                  : send_there(what, f, deadline_ns);
}

outcome sender::send_here(const sending& what, const pool::found& f,
                          std::uint64_t deadline_ns) noexcept {
  if (!here_.endpoints().find(what.to.id)) return outcome::gone;
  if (f.header) {
    if (buffers_.checks()) f.header->checksum = checksum(*f.header, what.bytes);
    if (const auto w = buffers_.send(f, what.keep); w != wrong::none)
      return report_misuse(w, what.data);
  }
  parcel& p = here_.wrap(f, what.keep);
  p.bytes = what.bytes;
  p.from = {self_, what.from};
  p.tag = what.tag;
  p.charge = 0;
  p.ready = true;
  const auto how = here_.put(what.to.id, p, deadline_ns);
  if (how == outcome::ok) return how;
  if (!f.header || p.lent) {  // it lies in a block of its own
    p.contents = nullptr;
    p.lent = false;
    here_.drop(p);
  }
  if (f.header) ownership::unsend(*f.header, f.lent, what.keep);
  return how;
}

outcome sender::get_credit(remote_endpoint& at, const sending& what, std::uint32_t charge,
                           std::uint64_t deadline_ns) noexcept {
  using answer = remote_endpoint::answer;
  auto& engine = packets_.engine();
  for (bool polled = false, waited = false;; waited = true) {
    waiting_thread me;
    const auto said =
        at.take(what.to.id, charge, window_units_, deadline_ns == no_wait ? nullptr : &me);
    if (said == answer::gone) return outcome::gone;
    if (said == answer::granted) {
      if (waited) remotes_[what.to.process].pack.went();  // the sender has not paused by itself
      return outcome::ok;
    }
    if (deadline_ns == no_wait) {
      if (std::exchange(polled, true)) return outcome::again;
      engine.poll();
    } else if (!wait_listed(engine, me, deadline_ns, [&] { return at.withdraw(me); })) {
      return outcome::timed_out;
    }
  }
}

outcome sender::send_there(const sending& what, const pool::found& f,
                           std::uint64_t deadline_ns) noexcept {
  auto& n = remotes_[what.to.process];
  if (n.lost.load(std::memory_order_relaxed)) return outcome::gone;  // a fact
  if (stopped()) return outcome::not_joined;
  packets_.meet(what.to.process);
  const bool by_place =
      f.header && what.bytes > inline_max_ && regions_.maps(what.to.process, f.header->owner);
  const auto charge =
      by_place ? charge_in_place(what.bytes, window_units_) : charge_of(what.bytes, window_units_);
  remote_endpoint& at = n.endpoints.at(what.to.id);
  auto how = get_credit(at, what, charge, deadline_ns);
  if (how != outcome::ok) return how;
  if (f.header) {
    if (buffers_.checks()) f.header->checksum = checksum(*f.header, what.bytes);
    if (const auto w = buffers_.send(f, what.keep); w != wrong::none)
      how = report_misuse(w, what.data);
  }
  if (how == outcome::ok) {
    how = post_message(what, f, charge, by_place);
    if (how != outcome::ok && f.header) ownership::unsend(*f.header, f.lent, what.keep);
  }
  if (how != outcome::ok) at.give_back(what.to.id, charge, window_units_);
  return how;
}

outcome sender::post_message(const sending& what, const pool::found& f, std::uint32_t charge,
                             bool by_place) noexcept {
  if (by_place) return post_shared(what, f, charge);
  if (what.bytes > peers_.at(what.to.process).eager_bytes_max()) return bulk_.send(what, f, charge);
  auto& k = remotes_[what.to.process].pack;
  if (!k.takes(what.bytes)) return post_data(what, f, charge);
  if (k.add(what, charge)) {
    if (f.header) buffers_.end_message(*f.header, what.keep || f.lent);
    return outcome::ok;
  }
  const auto how = post_data(what, f, charge);
  k.went();
  return how;
}

outcome sender::post_data(const sending& what, const pool::found& f,
                          std::uint32_t charge) noexcept {
  const auto& n = remotes_[what.to.process];
  if (what.bytes <= n.inline_bytes && n.pack.empty() &&
      post_data_now(what.to, what.tag, what.from, what.data, what.bytes, charge)) {
    if (f.header) buffers_.end_message(*f.header, what.keep || f.lent);
    return outcome::ok;
  }
  auto* item = packets_.make<packet_record>();
  if (!item) return outcome::no_memory;
  write_head(*item, message_head{.kind = wire_kind::data,
                                 .charge = static_cast<std::uint16_t>(charge),
                                 .to = what.to.id,
                                 .from = what.from,
                                 .tag = what.tag});
  if (f.header) {
    item->payload = {f.header->data(), what.bytes};
    item->contents = f.header;
    item->lent = what.keep || f.lent;
  }
  switch (packets_.post_in_order(what.to.process, *item)) {
    case packets::posted::done:
      packet_sender::finish(*item);
      return outcome::ok;
    case packets::posted::pending:
      return outcome::ok;
    case packets::posted::down:
      break;
  }
  item->contents = nullptr;
  packet_sender::finish(*item);
  return outcome::gone;
}

outcome sender::post_shared(const sending& what, const pool::found& f,
                            std::uint32_t charge) noexcept {
  auto* item = packets_.make<packet_record>();
  if (!item) return outcome::no_memory;
  const bool lent = what.keep || f.lent;
  write_head(*item, shared_head{.message = {.kind = lent ? wire_kind::lent : wire_kind::shared,
                                            .charge = static_cast<std::uint16_t>(charge),
                                            .to = what.to.id,
                                            .from = what.from,
                                            .tag = what.tag},
                                .owner = f.header->owner,
                                .place = f.header->place,
                                .bytes = what.bytes});
  ownership::note_destination(*f.header, lent, what.to.process);
  block::elsewhere.leaves();
  switch (packets_.post_in_order(what.to.process, *item)) {
    case packets::posted::done:
      packet_sender::finish(*item);
      return outcome::ok;
    case packets::posted::pending:
      return outcome::ok;  // if the process is lost, `reclaim` takes the buffer back
    case packets::posted::down:
      break;
  }
  packet_sender::finish(*item);
  if (!lent) f.header->holder.store(self_, std::memory_order_relaxed);  // see block.hpp
  return outcome::gone;
}

}  // namespace headway::endpoints
