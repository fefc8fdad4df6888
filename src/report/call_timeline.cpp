#include "report/call_timeline.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/hash.hpp"
#include "base/json_writer.hpp"
#include "report/recorder.hpp"

namespace headway::report {
namespace {

base::atomic<std::size_t> traced_entries{0};  // relaxed: set before the first call

double microseconds(std::uint64_t ns) noexcept { return static_cast<double>(ns) / 1000; }

}  // namespace

void trace_calls(std::size_t entries_max) noexcept {
  traced_entries.store(entries_max, std::memory_order_relaxed);
}

std::size_t traced_entries_max() noexcept { return traced_entries.load(std::memory_order_relaxed); }

call_timeline::call_timeline(std::size_t entries_max)
    : entries_max_(entries_max), thread_(gettid()) {
  HEADWAY_ASSERT(entries_max > 0);
}

void call_timeline::end_call(const char* function, std::uint64_t began_ns, std::uint64_t ended_ns) {
  HEADWAY_DEBUG_ASSERT(function != nullptr && began_ns <= ended_ns);
  if (calls_.size() == entries_max_) {
    ++dropped_;
    return;
  }
  present_.function = function;
  present_.began_ns = began_ns;
  present_.ended_ns = ended_ns;
  calls_.push_back(present_);
}

traced_message* call_timeline::note(const traced_message& what) {
  auto* const kept = note_signal(what);
  if (kept) show(*kept);
  return kept;
}

traced_message* call_timeline::note_signal(const traced_message& what) {
  if (messages_.size() < entries_max_) return &messages_.emplace_back(what);
  ++dropped_;
  return nullptr;
}

traced_collective* call_timeline::note(traced_collective&& what) {
  if (collectives_.size() == entries_max_) {
    ++dropped_;
    return nullptr;
  }
  auto& kept = collectives_.emplace_back(std::move(what));
  show(kept);
  return &kept;
}

void traced_collective::set_arrows(dependence waits, std::span<const std::uint32_t> members,
                                   std::uint32_t root, std::uint32_t own) {
  const auto found = std::ranges::find(members, own);
  if (found == members.end()) return;
  const auto place = static_cast<std::size_t>(found - members.begin());
  const auto last = members.size() - 1;
  const auto others = [&] {
    std::vector<std::uint32_t> all(members.begin(), members.end());
    std::erase(all, own);
    return all;
  };
  switch (waits) {
    case dependence::on_all:  // a ring is enough
      from = {members[place == 0 ? last : place - 1]};
      to = {members[place == last ? 0 : place + 1]};
      break;
    case dependence::on_lower:
      if (place > 0) from = {members[place - 1]};
      if (place < last) to = {members[place + 1]};
      break;
    case dependence::on_root:
      if (own == root) to = others();
      else from = {root};
      break;
    case dependence::root_alone:
      if (own == root) from = others();
      else to = {root};
      break;
  }
}

/// Writes the timelines of a process's threads.
class timeline_text {
 public:
  explicit timeline_text(std::uint32_t rank) noexcept : rank_(rank) {}

  std::string of(const std::vector<const call_timeline*>& threads) {
    for (const auto* thread : threads)
      for (const auto& [context, name] : thread->names_)
        if (!name.empty()) names_.try_emplace(context, name);
    for (const auto* thread : threads) {
      for (const auto& call : thread->calls_) add(call, thread->thread_);
      for (const auto& message : thread->messages_) {
        if (message.noted_ns != 0) ends_.push_back(&message);
        if (message.completed_ns != 0)
          count(message.posted_ns, message.completed_ns, message.bytes);
      }
      for (const auto& one : thread->collectives_) add(one);
      if (thread->dropped_ != 0 && !thread->calls_.empty()) add_dropped(*thread);
    }
    add_arrows_of_messages();
    add_counters();
    return std::move(text_);
  }

 private:
  void add(const traced_call& call, int thread) {
    put("X", thread, call.began_ns, call.function, [&] {
      out_.member("dur", microseconds(call.ended_ns - call.began_ns));
      out_.member("cat", "mpi");
      out_.name("args");
      out_.object([&] { add_arguments(call); });
    });
  }

  void add_arguments(const traced_call& call) {
    if (call.access.window != 0) {
      out_.member("window", name_of(call.access.window));
      if (call.access.peer >= 0) out_.member("peer", call.access.peer);
      if (call.access.bytes != 0) out_.member("bytes", call.access.bytes);
    } else if (const auto* one = call.collective) {
      out_.member("communicator", name_of(one->context));
      out_.member("bytes", one->bytes);
    } else if (const auto* first = call.first) {
      out_.member("peer", first->peer);
      out_.member("tag", first->tag);
      out_.member("bytes", first->bytes);
      out_.member("communicator", name_of(first->context));
      if (call.messages > 1) out_.member("messages", call.messages);
    }
  }

  [[nodiscard]] std::string name_of(std::uint32_t context) const {
    const auto found = names_.find(context);
    return found == names_.end() ? fmt::format("{}", context) : found->second;
  }

  void add_dropped(const call_timeline& from) {
    put("i", from.thread_, from.calls_.back().ended_ns,
        fmt::format("{} calls or messages dropped: the buffer is full", from.dropped_),
        [&] { out_.member("s", "t"); });
  }

  /// `sort`: "s" where the arrow begins, in the call that goes on at that time, "f" where it ends:
  /// in a period of its own within such a call, because Perfetto joins periods, lets each arrow go
  /// from the one that began earlier, and a receive may begin before its send.
  /// The identifier becomes a number: Perfetto takes no other text than hexadecimal digits.
  void put_arrow(const char* sort, int thread, std::uint64_t at_ns, std::string_view name,
                 std::string_view id) {
    if (*sort == 'f') put("X", thread, at_ns, "arrival", [&] { out_.member("dur", 0); });
    put(sort, thread, at_ns, name, [&] {
      out_.member("cat", name);
      out_.member("id", fmt::format("{:x}", base::hash_of(id)));
      if (*sort == 'f') out_.member("bp", "e");
    });
  }

  void add_arrows_of_messages() {
    const auto key = [](const traced_message& m) {
      return std::tuple(m.receives, m.what, m.context, m.partner, m.tag, m.part);
    };
    // Those with the same key together, in the order of their posting.
    std::ranges::sort(ends_, {},
                      [&](const traced_message* m) { return std::pair(key(*m), m->posted_ns); });
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const auto& m = *ends_[i];
      number = i > 0 && key(m) == key(*ends_[i - 1]) ? number + 1 : 0;
      const auto from = m.receives ? m.partner : rank_, to = m.receives ? rank_ : m.partner;
      const auto id = fmt::format("m{}.{}.{}.{}.{}.{}.{}", static_cast<int>(m.what), m.context,
                                  from, to, m.tag, m.part, number);
      const bool signals =
          m.what == traced_message::sort::post || m.what == traced_message::sort::complete;
      put_arrow(m.receives ? "f" : "s", m.noted_by, m.receives ? m.noted_ns : m.posted_ns,
                signals ? "window" : "message", id);
    }
  }

  void add(const traced_collective& one) {
    const auto id = [&](std::uint32_t from, std::uint32_t to) {
      return fmt::format("c{}.{}.{}.{}.{}.{}", one.context, one.first, one.number, one.round, from,
                         to);
    };
    for (const auto other : one.to)
      put_arrow("s", one.entered_by, one.entered_ns, "collective", id(rank_, other));
    if (one.left_ns == 0) return;
    for (const auto other : one.from)
      put_arrow("f", one.left_by, one.left_ns, "collective", id(other, rank_));
    if (!one.blocking) count(one.entered_ns, one.left_ns, 0);
  }

  /// A request was pending from `begin_ns` to `end_ns`.
  void count(std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t bytes) {
    changes_.emplace_back(begin_ns, 1, static_cast<std::int64_t>(bytes));
    changes_.emplace_back(end_ns, -1, -static_cast<std::int64_t>(bytes));
  }

  void add_counters() {
    std::ranges::sort(changes_);
    std::int64_t requests = 0, bytes = 0;
    for (const auto& [at_ns, more, more_bytes] : changes_) {
      requests += more;
      bytes += more_bytes;
      put_counter(at_ns, "pending requests", requests);
      put_counter(at_ns, "bytes in flight", bytes);
    }
  }

  void put_counter(std::uint64_t at_ns, std::string_view name, std::int64_t value) {
    put("C", 0, at_ns, name, [&] {
      out_.name("args");
      out_.object([&] { out_.member("value", value); });
    });
  }

  void put(const char* sort, int thread, std::uint64_t at_ns, std::string_view name,
           const auto& more) {
    out_.object([&] {
      out_.member("pid", rank_);
      out_.member("tid", thread);
      out_.member("ts", microseconds(at_ns));
      out_.member("ph", sort);
      out_.member("name", name);
      more();
    });
    text_ += ",\n" + out_.take();
  }

  std::uint32_t rank_;
  base::json_writer out_;
  std::string text_;
  std::vector<const traced_message*> ends_;
  std::vector<std::tuple<std::uint64_t, int, std::int64_t>> changes_;
  std::map<std::uint32_t, std::string> names_;
};

std::string calls_for_timeline(std::uint32_t rank) {
  return timeline_text(rank).of(recorded_timelines());
}

}  // namespace headway::report
