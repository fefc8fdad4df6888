#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/intrusive_list.hpp"
#include "messages/exchange.hpp"
#include "messages/match_index.hpp"
#include "messages/request.hpp"
#include "messages/wire.hpp"
#include "packets/peer.hpp"

namespace headway::messages {

// Tags of the hooks of an unexpected message.
struct by_envelope {};
struct by_source {};
struct by_tag {};

/// A message that arrived, itself or its request to send, before its receive was posted. Made by
/// `make_unexpected`, freed by `free_unexpected`.
struct unexpected_message : base::list_hook<>,
                            match_hook<by_envelope>,
                            match_hook<by_source>,
                            match_hook<by_tag> {
  packets::peer* from = nullptr;
  std::uint16_t context = 0;
  int source = 0;
  int tag = 0;
  std::uint16_t history = 0;  // see `label`
  bool is_rts = false;
  bool given_up = false;           // sent instead of a message whose sender failed
  bool is_notice = false;          // wire_kind::given_up, before its context was open
  packets::announced announced;    // of a request to send
  std::uint64_t announced_ns = 0;  // when the request to send came; 0: times are not kept
  std::size_t bytes = 0;           // length of the message
  std::uint32_t charge = 0;        // the credits that it occupies
  std::size_t room = 0;            // bytes behind it
  /// As in its envelope.
  [[nodiscard]] int matched_source() const noexcept {
    return static_cast<int>(source_of(source, history));
  }
  [[nodiscard]] std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

/// Copies an eager message, or records a request to send. nullptr: out of memory.
[[nodiscard]] unexpected_message* make_unexpected(packets::peer& from, const envelope& match,
                                                  std::span<const std::byte> payload) noexcept;
/// The same for a message of so many bytes, which are still to be copied to `data`.
[[nodiscard]] unexpected_message* make_unexpected(packets::peer& from, const envelope& match,
                                                  std::size_t bytes) noexcept;
[[nodiscard]] unexpected_message* make_unexpected(packets::peer& from,
                                                  const rts& announced) noexcept;
void free_unexpected(unexpected_message* message) noexcept;
/// Frees the memory that is kept for the next ones.
void free_kept_memory() noexcept;

/// Posted receives and unexpected messages of one context.
/// Shape:    posted receives are indexed by the (source, tag) with which they were posted,
///           wildcards included: a message looks up the up to four patterns that admit it, and
///           takes the receive that was posted first. Unexpected messages are indexed by (source,
///           tag) and listed in the order of arrival; from the first receive with a wildcard on,
///           until none is left, they are also indexed by source or by tag alone. Every operation
///           takes constant time, provided that `widen` is called when `bins_wanted` is not 0. A
///           source is `source_of` or `any_source`.
/// Threads:  one at a time, under the context's lock.
/// Source:   MPI-5.0 section 3.5 (order); M. Flajslik et al., ISC 2016; A. Denis, CCGrid 2019.
class matcher {
 public:
  matcher() noexcept;
  ~matcher();
  matcher(const matcher&) = delete;
  matcher& operator=(const matcher&) = delete;

  struct pattern {
    int source;
    int tag;
    [[nodiscard]] bool admits(int s, int t) const noexcept {
      return (source == any_source || source == s) && (tag == any_tag || tag == t);
    }
  };

  /// Removes and returns the oldest posted receive that admits such a message, or returns nullptr.
  [[nodiscard]] request* take_posted(int source, int tag) noexcept {
    if (wildcards_ == 0) [[likely]]
      return posted_.take_oldest(key_of(source, tag));
    return take_oldest_of_all(source, tag);
  }
  void post(request& r, pattern wanted) noexcept;
  void withdraw(request& r) noexcept;
  /// The oldest unexpected message that such a receive would match, or nullptr.
  [[nodiscard]] unexpected_message* find_unexpected(pattern wanted) noexcept {
    return arrivals_.empty() ? nullptr : search_unexpected(wanted);
  }
  /// The oldest one whose tag is meant.
  template <class IsMeant>
  [[nodiscard]] unexpected_message* find_unexpected_if(IsMeant is_meant) noexcept {
    auto* m = arrivals_.front();
    while (m && !is_meant(m->tag)) m = arrivals_.after(*m);
    return m;
  }
  void add_unexpected(unexpected_message& message) noexcept;
  void remove_unexpected(unexpected_message& message) noexcept;
  /// Whether `enough(request)` holds for any posted receive; stops at the first.
  template <class Enough>
  [[nodiscard]] bool any_posted(Enough enough) const noexcept {
    return posted_.find_if(enough) != nullptr;
  }
  /// The same of the unexpected messages.
  template <class Enough>
  [[nodiscard]] bool any_unexpected(Enough enough) noexcept {
    for (auto* m = arrivals_.front(); m; m = arrivals_.after(*m))
      if (enough(*m)) return true;
    return false;
  }
  /// Removes and returns a posted receive for which `wanted(request)` holds, or returns nullptr.
  template <class Wanted>
  [[nodiscard]] request* take_posted_if(Wanted wanted) noexcept {
    request* const found = posted_.find_if(wanted);
    if (found) withdraw(*found);
    return found;
  }

  /// Counts them one by one.
  [[nodiscard]] exchange::waiting_counts count() noexcept;

  /// Bins for all four indexes. Made and freed without the context's lock.
  struct bins {
    std::unique_ptr<match_index<request>::bin[]> posted;
    std::unique_ptr<match_index<unexpected_message, by_envelope>::bin[]> envelopes;
    std::unique_ptr<match_index<unexpected_message, by_source>::bin[]> sources;
    std::unique_ptr<match_index<unexpected_message, by_tag>::bin[]> tags;
    std::size_t count = 0;
    /// Out of memory: `count` of the result is 0.
    [[nodiscard]] static bins make(std::size_t count) noexcept;
  };
  /// The number of bins that the indexes should have; 0: they have enough.
  [[nodiscard]] std::size_t bins_wanted() const noexcept {
    const auto keys = std::max(posted_.keys(), by_envelope_.keys());
    return keys <= posted_.bins() ? 0 : posted_.bins() * growth;
  }
  /// Moves the indexes to these bins, unless they have as many already; `with` then holds the old
  /// ones.
  void widen(bins& with) noexcept;

 private:
  static constexpr std::size_t bins_at_first = 64;
  static constexpr std::size_t bins_at_first_by_wildcard = 16;
  static constexpr std::size_t growth = 8;
  template <class Index, std::size_t Count>
  using first_bins = std::array<typename Index::bin, Count>;
  using posted_index = match_index<request>;
  using envelope_index = match_index<unexpected_message, by_envelope>;
  using source_index = match_index<unexpected_message, by_source>;
  using tag_index = match_index<unexpected_message, by_tag>;

  [[nodiscard]] static std::uint64_t key_of(int source, int tag) noexcept {
    return std::uint64_t{static_cast<std::uint32_t>(source)} << 32 |
           static_cast<std::uint32_t>(tag);
  }
  /// The kind of a key: 0 no wildcard, 1 any source, 2 any tag, 3 both.
  [[nodiscard]] static std::size_t kind_of(std::uint64_t key) noexcept {
    return (key >> 32 == static_cast<std::uint32_t>(any_source) ? 1u : 0u) |
           (static_cast<std::uint32_t>(key) == static_cast<std::uint32_t>(any_tag) ? 2u : 0u);
  }
  /// The rest of `take_posted` and of `find_unexpected`.
  [[nodiscard, gnu::noinline]] request* take_oldest_of_all(int source, int tag) noexcept;
  [[nodiscard, gnu::noinline]] unexpected_message* search_unexpected(pattern wanted) noexcept;
  void index_by_source() noexcept;
  void index_by_tag() noexcept;

  // First the members that every message reads, near the context's lock.
  posted_index posted_;
  std::uint64_t posted_so_far_ = 0;
  std::uint32_t wildcards_ = 0;  // posted receives with a wildcard
  std::array<std::uint32_t, 4> posted_of_kind_{};
  base::intrusive_list<unexpected_message> arrivals_;
  envelope_index by_envelope_;
  bool has_by_source_ = false;  // every unexpected message is in `by_source_` too
  bool has_by_tag_ = false;     // the same for `by_tag_`
  source_index by_source_;
  tag_index by_tag_;
  bins wider_;  // if not empty, in use instead of the following
  first_bins<posted_index, bins_at_first> first_posted_{};
  first_bins<envelope_index, bins_at_first> first_by_envelope_{};
  first_bins<source_index, bins_at_first_by_wildcard> first_by_source_{};
  first_bins<tag_index, bins_at_first_by_wildcard> first_by_tag_{};
};

}  // namespace headway::messages
