#include "report/call_timeline.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/atomic.hpp"
#include "base/json_string.hpp"
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
    : entries_max_(entries_max), thread_(gettid()) {}

void call_timeline::end_call(const char* function, std::uint64_t began_ns, std::uint64_t ended_ns) {
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
  if (messages_.size() == entries_max_) {
    ++dropped_;
    return nullptr;
  }
  auto& kept = messages_.emplace_back(what);
  show(kept);
  return &kept;
}

void call_timeline::note(traced_collective&& what) {
  if (collectives_.size() < entries_max_)
    present_.collective = &collectives_.emplace_back(std::move(what));
  else ++dropped_;
}

/// Writes the timelines of a process's threads.
class timeline_text {
 public:
  explicit timeline_text(std::uint32_t rank) noexcept : rank_(rank) {}

  std::string of(const std::vector<const call_timeline*>& threads) {
    for (const auto* thread : threads) {
      names_.insert(thread->names_.begin(), thread->names_.end());
      for (const auto& message : thread->messages_)
        if (message.noted_ns != 0) ends_.push_back(&message);
    }
    for (const auto* thread : threads) add(*thread);
    add_arrows_of_messages();
    add_counters();
    return std::move(text_);
  }

 private:
  void add(const call_timeline& from) {
    for (const auto& call : from.calls_) {
      put(R"("ph":"X","tid":{},"ts":{:.3f},"dur":{:.3f},"cat":"mpi","name":{},"args":{{{}}})",
          from.thread_, microseconds(call.began_ns), microseconds(call.ended_ns - call.began_ns),
          base::json_string(call.function), arguments(call));
      if (call.collective) add_arrows(*call.collective, from.thread_);
    }
    if (from.dropped_ != 0 && !from.calls_.empty())
      put(R"("ph":"i","tid":{},"ts":{:.3f},"s":"t","name":"{} calls or messages dropped: )"
          R"(the buffer is full")",
          from.thread_, microseconds(from.calls_.back().ended_ns), from.dropped_);
  }

  [[nodiscard]] std::string arguments(const traced_call& call) const {
    if (const auto* one = call.collective)
      return fmt::format(R"("communicator":{},"bytes":{})", name_of(one->context), one->bytes);
    if (call.first == nullptr) return {};
    const auto& first = *call.first;
    auto text = fmt::format(R"("peer":{},"tag":{},"bytes":{},"communicator":{})", first.peer,
                            first.tag, first.bytes, name_of(first.context));
    if (call.messages > 1) text += fmt::format(R"(,"messages":{})", call.messages);
    return text;
  }

  [[nodiscard]] std::string name_of(std::uint32_t context) const {
    const auto found = names_.find(context);
    return base::json_string(found == names_.end() ? fmt::format("{}", context) : found->second);
  }

  /// `sort`: 's' where the arrow begins, 'f' where it ends: in the call that goes on at that time.
  void put_arrow(char sort, int thread, std::uint64_t at_ns, std::string_view name,
                 std::string_view id) {
    put(R"("ph":"{}","tid":{},"ts":{:.3f},"cat":"{}","name":"{}","id":"{}"{})", sort, thread,
        microseconds(at_ns), name, name, id, sort == 'f' ? R"(,"bp":"e")" : "");
  }

  void add_arrows_of_messages() {
    // Those of one communicator, direction and tag together, in the order of their posting.
    std::ranges::sort(ends_, {}, [](const traced_message* m) {
      return std::tuple(m->receives, m->context, m->partner, m->tag, m->posted_ns);
    });
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const auto& m = *ends_[i];
      const auto same = [&](const traced_message& other) {
        return std::tie(m.receives, m.context, m.partner, m.tag) ==
               std::tie(other.receives, other.context, other.partner, other.tag);
      };
      number = i > 0 && same(*ends_[i - 1]) ? number + 1 : 0;
      const auto from = m.receives ? m.partner : rank_, to = m.receives ? rank_ : m.partner;
      put_arrow(m.receives ? 'f' : 's', m.noted_by, m.receives ? m.noted_ns : m.posted_ns,
                "message", fmt::format("m{}.{}.{}.{}.{}", m.context, from, to, m.tag, number));
    }
  }

  void add_arrows(const traced_collective& one, int thread) {
    const auto& members = one.members;
    const auto from_to = [&](std::uint32_t from, std::uint32_t to) {
      const auto id =
          fmt::format("c{}.{}.{}.{}.{}", one.context, members.front(), one.call.number, from, to);
      if (from == rank_) put_arrow('s', thread, one.call.entered_ns, "collective", id);
      if (to == rank_) put_arrow('f', thread, one.call.left_ns, "collective", id);
    };
    if (one.call.waits == dependence::on_all) {  // a ring is enough: each waits for all
      const auto own = std::ranges::find(members, rank_);
      if (own == members.end()) return;
      const auto next = std::next(own) == members.end() ? members.begin() : std::next(own);
      const auto before = std::prev(own == members.begin() ? members.end() : own);
      from_to(rank_, *next);
      from_to(*before, rank_);
      return;
    }
    const bool from_root = one.call.waits == dependence::on_root;
    for (const auto other : members) {
      if (other == one.call.root || (one.call.root != rank_ && other != rank_)) continue;
      if (from_root) from_to(one.call.root, other);
      else from_to(other, one.call.root);
    }
  }

  void add_counters() {
    std::vector<std::tuple<std::uint64_t, int, std::int64_t>> changes;
    for (const auto* what : ends_) {
      if (what->completed_ns == 0) continue;
      changes.emplace_back(what->posted_ns, 1, static_cast<std::int64_t>(what->bytes));
      changes.emplace_back(what->completed_ns, -1, -static_cast<std::int64_t>(what->bytes));
    }
    std::ranges::sort(changes);
    std::int64_t requests = 0, bytes = 0;
    for (const auto& [at_ns, more, more_bytes] : changes) {
      requests += more;
      bytes += more_bytes;
      for (const auto& [name, value] :
           {std::pair("pending requests", requests), std::pair("bytes in flight", bytes)})
        put(R"("ph":"C","tid":0,"ts":{:.3f},"name":"{}","args":{{"value":{}}})",
            microseconds(at_ns), name, value);
    }
  }

  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), ",\n{{\"pid\":{},", rank_);
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '}';
  }

  std::uint32_t rank_;
  std::string text_;
  std::vector<const traced_message*> ends_;
  std::map<std::uint32_t, std::string> names_;
};

std::string calls_for_timeline(std::uint32_t rank) {
  return timeline_text(rank).of(recorded_timelines());
}

}  // namespace headway::report
