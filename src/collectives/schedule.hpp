#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "collectives/arena.hpp"
#include "collectives/reducer.hpp"
#include "collectives/team.hpp"
#include "datatypes/layout.hpp"
#include "messages/request.hpp"

namespace headway::collectives {

class shared_exchange;

/// One rank's part of a collective operation: a straight list of steps, in rounds. Messages of a
/// round are under way together; `close_round` is where it waits for all of them. A `schedule_run`
/// runs it.
///
/// Shape:    steps, requests and scratch memory are kept for the next operation when it is
///           recycled (schedule_cache.hpp), so that most operations allocate nothing.
/// Threads:  built by one thread.
/// Source:   thread-or-not08 (docs/papers.md); Hoefler, Lumsdaine, Rehm, "Implementation and
///           performance analysis of non-blocking collective operations for MPI", SC 2007.
class schedule {
 public:
  enum class kind : std::uint8_t {
    send,
    receive,
    open,
    close,
    copy,
    copy_past_caches,
    pack,
    unpack,
    combine,
    exchange
  };
  struct step {
    kind what;
    int number;           ///< peer; of `open`: messages in the round
    std::int64_t amount;  ///< bytes or elements
    const void* from;
    void* to;
    const datatypes::layout* type;
  };

  schedule(const schedule&) = delete;
  schedule& operator=(const schedule&) = delete;

  // Building. Arguments must live until the schedule is complete; see also `keep`.
  /// From now on rank i of a team, for which steps are appended, is rank `ranks[i]` of the one that
  /// the schedule is bound to; empty: rank i. The array is used until the next call.
  void use_ranks(std::span<const int> ranks) noexcept { ranks_ = ranks; }
  void send(int peer, const void* from, std::int64_t bytes);
  void receive(int peer, void* to, std::int64_t bytes);
  /// Waits, when run, until all messages since the last `close_round` are complete.
  void close_round();
  void copy(const void* from, void* to, std::int64_t bytes) {
    add_copy(kind::copy, from, to, bytes);
  }
  /// The same for bytes that no step is about to read: a long block is copied past the caches.
  void copy_result(const void* from, void* to, std::int64_t bytes);
  void pack(const datatypes::layout& type, const void* from, std::int64_t count, std::byte* to);
  void unpack(const datatypes::layout& type, const std::byte* from, void* to, std::int64_t count);
  /// right = left ∘ right, element by element.
  void combine(const void* left, void* right, std::int64_t count);
  /// Waits, when run, until it has ended. In the schedule's scratch memory, at most
  /// `exchanges_max`, in the order of their phases.
  void add_exchange(shared_exchange& what);
  /// So many were added: the phase of the next one.
  [[nodiscard]] int exchanges() const noexcept;
  /// Where one was added.
  [[nodiscard]] shared_exchange& last_exchange() noexcept {
    return *exchanges_[static_cast<std::size_t>(exchanges() - 1)];
  }
  void set_reducer(const reducer& op) noexcept { reducer_ = op; }
  /// Memory until the schedule is recycled, aligned to a cache line, never moved.
  [[nodiscard]] std::byte* scratch(std::int64_t bytes) { return scratch_.take(bytes); }
  /// The same for `count` objects.
  template <class T>
  [[nodiscard]] T* scratch_of(std::int64_t count) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 64);
    return new (scratch(count * static_cast<std::int64_t>(sizeof(T))))
        T[static_cast<std::size_t>(count)];
  }
  /// Holds a type until the schedule is recycled.
  void keep(const datatypes::layout& type) { kept_.emplace_back(type); }

  /// Calls `let_go(what)` when the schedule is cleared.
  void when_cleared(void (*let_go)(void*), void* what) { held_.push_back({let_go, what}); }

  /// This rank cannot take part: whenever it runs, it sends failure messages in place of data, so
  /// that the others end with an error instead of waiting for it.
  void refuse() noexcept { refused_ = true; }
  [[nodiscard]] bool is_refused() const noexcept { return refused_; }

  /// It is started again without a new number, in any order among others, so that exchanges need
  /// banks of its own; null: it has none. These count their operations from `before` + 1 on.
  void set_persistent(shared_banks* own = nullptr, std::uint64_t before = 0) noexcept {
    persistent_ = true;
    own_banks_ = own;
    own_operations_ = before;
  }
  [[nodiscard]] bool is_persistent() const noexcept { return persistent_; }
  /// For the exchanges of a team's operation; null: it has none.
  [[nodiscard]] shared_banks* banks_of(const team& t) const noexcept {
    return persistent_ && t.memory.banks ? own_banks_ : t.memory.banks;
  }
  /// Of the longest stream that this rank shows; nothing: it has no exchange.
  [[nodiscard]] std::optional<std::int64_t> stream_bytes_max() const noexcept;

  /// Whether any step receives from this rank. Any thread while it runs.
  [[nodiscard]] bool receives_from(int rank) const noexcept;
  /// For the run, and for tests: the steps as they were built.
  [[nodiscard]] std::span<const step> steps() const noexcept { return steps_; }
  /// Removes the steps and keeps the memory. Not while it runs.
  void clear() noexcept;

 protected:
  schedule();
  ~schedule();

  // For the run.
  /// For the messages of a round.
  [[nodiscard]] messages::request* requests() noexcept { return requests_.get(); }
  [[nodiscard]] const reducer& op() const noexcept { return reducer_; }
  [[nodiscard]] bool is_built() const noexcept { return open_ == none; }
  /// The exchanges of a team's operation; does nothing if it is persistent.
  void bind_exchanges(std::uint64_t operation, std::uint64_t history) noexcept {
    if (!persistent_) bind_each(operation, history);
  }
  /// Those of the next start of a persistent operation; does nothing for another one.
  void bind_own_exchanges() noexcept {
    if (own_banks_) bind_each(++own_operations_, 0);
  }

 private:
  void add(const step& s) { steps_.push_back(s); }
  void add_copy(kind how, const void* from, void* to, std::int64_t bytes);
  [[nodiscard]] int bound_rank(int rank) const noexcept {
    return ranks_.empty() ? rank : ranks_[static_cast<std::size_t>(rank)];
  }
  void bind_each(std::uint64_t operation, std::uint64_t history) noexcept;
  void open_round();

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::vector<step> steps_;
  std::vector<datatypes::layout_ptr> kept_;
  struct held {
    void (*let_go)(void*);
    void* what;
  };
  std::vector<held> held_;
  arena scratch_;
  reducer reducer_;
  static constexpr std::size_t exchanges_max = 2;
  shared_exchange* exchanges_[exchanges_max] = {};
  std::unique_ptr<messages::request[]> requests_;
  int requests_held_ = 0;
  std::span<const int> ranks_;  ///< while building: see `use_ranks`
  std::size_t open_ = none;     ///< while building: the step that opened the round
  bool persistent_ = false;
  shared_banks* own_banks_ = nullptr;
  std::uint64_t own_operations_ = 0;  // as `own_banks_` counts them
  bool refused_ = false;
};

}  // namespace headway::collectives
