#include "report/part.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace headway::report {
namespace {

// How each struct is written and read: its members in order.
template <class A, class T>
void fields(A& a, T& of)
  requires requires { of.fields(a); }
{
  of.fields(a);
}
template <class A>
void fields(A& a, overlap_sums& o) {
  a(o.operations, o.timed, o.bytes, o.under_way_ns, o.hidden_ns, o.waited_ns, o.for_partner_ns,
    o.possible_ns, o.spare_ns);
}
template <class A>
void fields(A& a, call_sums& s) {
  a(s.calls, s.timed, s.timed_ns, s.timed_longest_ns, s.waited, s.waited_ns, s.longest_ns,
    s.messages, s.bytes);
}
template <class A>
void fields(A& a, call_site& s) {
  a(s.object, s.offset, s.symbol);
}
template <class A>
void fields(A& a, call_row& r) {
  a(r.function, r.counts_waits, r.from, r.sums, r.started);
}
template <class A>
void fields(A& a, peer_row& r) {
  a(r.rank, r.sent, r.bytes_sent, r.received, r.bytes_received, r.late_sender, r.late_sender_ns);
}
template <class A>
void fields(A& a, send_wait& w) {
  a(w.to, w.number, w.sent_ns, w.wait_began_ns, w.wait_ended_ns, w.started_by);
}
template <class A>
void fields(A& a, late_receive& l) {
  a(l.from, l.number, l.announced_ns, l.posted_ns);
}
template <class A>
void fields(A& a, collective_entry& e) {
  a(e.number, e.entered_ns, e.left_ns, e.root, e.waits);
}
template <class A>
void fields(A& a, size_counts& s) {
  for (auto& count : s.messages) a(count);
  for (auto& count : s.bytes) a(count);
}
template <class A>
void fields(A& a, thread_row& t) {
  a(t.name, t.processors);
}
template <class A>
void fields(A& a, rail_row& r) {
  a(r.name, r.peers, r.messages_sent, r.bytes_sent);
}
template <class A>
void fields(A& a, counter_row& r) {
  a(r.name, r.value);
}
template <class A>
void fields(A& a, part& p) {
  a(p.rank, p.size, p.node, p.threads_calling, p.began_ns, p.ended_ns, p.host, p.program,
    p.processors, p.pid, p.threads, p.rails, p.counters, p.calls, p.peers, p.sizes_sent,
    p.sizes_received, p.send_waits, p.late_receives, p.waits_dropped, p.collectives);
}

template <class T>
concept number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class writer {
 public:
  template <class... T>
  void operator()(T&... each) {
    (put(each), ...);
  }
  std::vector<std::byte> bytes;

 private:
  template <number T>
  void put(T value) {
    const auto* at = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), at, at + sizeof value);
  }
  void put(std::string& text) {
    put(text.size());
    const auto* at = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), at, at + text.size());
  }
  template <class T>
  void put(std::vector<T>& all) {
    put(all.size());
    for (auto& each : all) put(each);
  }
  template <class T>
    requires(!number<T>)
  void put(T& group) {
    fields(*this, group);
  }
};

/// Bytes come from another process: a length that is longer than what is left ends the reading.
class reader {
 public:
  explicit reader(std::span<const std::byte> from) : left_(from) {}
  template <class... T>
  void operator()(T&... each) {
    (get(each), ...);
  }
  [[nodiscard]] bool well() const noexcept { return well_ && left_.empty(); }

 private:
  [[nodiscard]] std::span<const std::byte> take(std::size_t count) {
    well_ = well_ && count <= left_.size();
    if (!well_) return {};
    const auto found = left_.first(count);
    left_ = left_.subspan(count);
    return found;
  }
  template <number T>
  void get(T& value) {
    if (const auto found = take(sizeof value); !found.empty())
      std::memcpy(&value, found.data(), sizeof value);
  }
  void get(std::string& text) {
    std::size_t size = 0;
    get(size);
    const auto found = take(size);
    text.assign(reinterpret_cast<const char*>(found.data()), found.size());
  }
  template <class T>
  void get(std::vector<T>& all) {
    std::size_t size = 0;
    get(size);
    for (std::size_t i = 0; i < size && well_ && !left_.empty(); ++i) get(all.emplace_back());
    well_ = well_ && all.size() == size;
  }
  template <class T>
    requires(!number<T>)
  void get(T& group) {
    fields(*this, group);
  }

  std::span<const std::byte> left_;
  bool well_ = true;
};

constexpr std::uint64_t part_version = 3;

}  // namespace

overlap_sums& overlap_sums::operator+=(const overlap_sums& more) noexcept {
  operations += more.operations;
  timed += more.timed;
  bytes += more.bytes;
  under_way_ns += more.under_way_ns;
  hidden_ns += more.hidden_ns;
  waited_ns += more.waited_ns;
  for_partner_ns += more.for_partner_ns;
  possible_ns += more.possible_ns;
  spare_ns += more.spare_ns;
  return *this;
}

call_sums& call_sums::operator+=(const call_sums& more) noexcept {
  calls += more.calls;
  timed += more.timed;
  timed_ns += more.timed_ns;
  waited += more.waited;
  waited_ns += more.waited_ns;
  timed_longest_ns = std::max(timed_longest_ns, more.timed_longest_ns);
  longest_ns = std::max(longest_ns, more.longest_ns);
  messages += more.messages;
  bytes += more.bytes;
  return *this;
}

std::uint64_t call_sums::total_ns() const noexcept {
  if (timed == 0) return waited_ns;
  const auto others = std::max<std::uint64_t>(timed - 1, 1);
  const auto others_ns = timed > 1 ? timed_ns - timed_longest_ns : timed_ns;
  const auto mean_ns = static_cast<double>(others_ns) / static_cast<double>(others);
  const auto not_timed = static_cast<double>(calls - waited - timed);
  return waited_ns + timed_ns + static_cast<std::uint64_t>(mean_ns * not_timed);
}

void size_counts::add(std::uint64_t bytes_of_one, std::uint64_t count) noexcept {
  const auto width = static_cast<std::size_t>(std::bit_width(bytes_of_one));
  const auto at = width < classes ? width : classes - 1;
  messages[at] += count;
  bytes[at] += count * bytes_of_one;
}

std::vector<std::byte> part::pack() const {
  writer out;
  auto version = part_version;
  part copy = *this;
  out(version, copy);
  return std::move(out.bytes);
}

std::optional<part> part::unpack(std::span<const std::byte> bytes) {
  reader in(bytes);
  std::uint64_t version = 0;
  part found;
  in(version);
  if (version != part_version) return {};
  in(found);
  if (!in.well()) return {};
  return found;
}

}  // namespace headway::report
