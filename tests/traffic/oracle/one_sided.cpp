#include "one_sided.hpp"

#include <algorithm>

namespace oracle {

one_sided::one_sided(const settings& s, int thread, MPI_Comm comm)
    : settings_(s), thread_(thread), length_(static_cast<std::size_t>(counters + row * s.size)) {
  if (settings_.one_sided == 0) return;
  const auto bytes = static_cast<MPI_Aint>(length_ * sizeof(long));
  if (thread % 2) {
    MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, comm, &memory_, &window_);
    std::fill_n(memory_, length_, 0);
    MPI_Barrier(comm);  // before another rank accesses it
  } else {
    own_.assign(length_, 0);
    memory_ = own_.data();
    MPI_Win_create(memory_, bytes, sizeof(long), MPI_INFO_NULL, comm, &window_);
  }
}

void one_sided::free() {
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
}

one_sided::generator one_sided::plan_of(int rank) const {
  generator made{std::minstd_rand(settings_.seed * 131u + static_cast<unsigned>(thread_) * 7919u +
                                  static_cast<unsigned>(rank) * 65537u + 1u)};
  made.random.discard(3);
  return made;
}

one_sided::planned one_sided::generator::next(int ranks) {
  planned made{};
  made.what = static_cast<kind>(random() % static_cast<unsigned>(kind_count));
  made.target = static_cast<int>(random() % static_cast<unsigned>(ranks));
  made.counter = static_cast<int>(random() % static_cast<unsigned>(counters));
  made.operand = 1 + static_cast<long>(random() % 100);
  return made;
}

void one_sided::begin() {
  done_ = 0;
  plan_ = plan_of(settings_.rank);
  fetched_.assign(static_cast<std::size_t>(settings_.size), {});
  if (window_ != MPI_WIN_NULL) MPI_Win_lock_all(0, window_);
}

bool one_sided::step() {
  if (done_ == settings_.one_sided) return false;
  const auto what = plan_.next(settings_.size);
  switch (what.what) {
    case add:
      MPI_Accumulate(&what.operand, 1, MPI_LONG, what.target, what.counter, 1, MPI_LONG, MPI_SUM,
                     window_);
      MPI_Win_flush_local(what.target, window_);
      break;
    case fetch_add: {
      long before = -1;
      MPI_Fetch_and_op(&what.operand, &before, MPI_LONG, what.target, what.counter, MPI_SUM,
                       window_);
      MPI_Win_flush(what.target, window_);
      auto& last =
          fetched_[static_cast<std::size_t>(what.target)][static_cast<std::size_t>(what.counter)];
      if (before < last) wrong("a counter that only grows has become smaller", done_);
      last = before + what.operand;
      break;
    }
    case accumulate: {
      const std::array<long, counters> operands{what.operand, what.operand, what.operand,
                                                what.operand, what.operand, what.operand,
                                                what.operand, what.operand};
      MPI_Accumulate(operands.data(), counters, MPI_LONG, what.target, 0, counters, MPI_LONG,
                     MPI_SUM, window_);
      MPI_Win_flush_local(what.target, window_);
      break;
    }
    default:
      put_and_compare(what);
  }
  ++done_;
  return true;
}

void one_sided::put_and_compare(const planned& what) {
  const int count = 1 + static_cast<int>(what.operand) * (row - 1) / 100;
  const auto at = static_cast<MPI_Aint>(counters + row * settings_.rank);
  std::vector<long> from(static_cast<std::size_t>(count)), back(from.size(), -1);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = done_ * 1000 + static_cast<long>(i);
  MPI_Put(from.data(), count, MPI_LONG, what.target, at, count, MPI_LONG, window_);
  MPI_Win_flush(what.target, window_);
  MPI_Get(back.data(), count, MPI_LONG, what.target, at, count, MPI_LONG, window_);
  MPI_Win_flush(what.target, window_);
  if (back != from) wrong("what was put is not what a get finds", done_);
}

long one_sided::finish() {
  if (window_ != MPI_WIN_NULL) MPI_Win_unlock_all(window_);
  return done_;
}

void one_sided::check() {
  if (window_ == MPI_WIN_NULL) return;
  std::array<long, counters> due{};
  for (int rank = 0; rank < settings_.size; ++rank) {
    auto plan = plan_of(rank);
    for (int i = 0; i < settings_.one_sided; ++i) {
      const auto what = plan.next(settings_.size);
      if (what.target != settings_.rank || what.what == put_and_get) continue;
      for (int c = 0; c < counters; ++c)
        if (what.what == accumulate || c == what.counter)
          due[static_cast<std::size_t>(c)] += what.operand;
    }
  }
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, settings_.rank, 0, window_);
  if (!std::equal(due.begin(), due.end(), memory_)) wrong("a wrong sum in a window", thread_);
  std::fill_n(memory_, length_, 0);
  MPI_Win_unlock(settings_.rank, window_);
}

}  // namespace oracle
