#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "mpi/objects/object.hpp"

namespace headway::mpi {

class errhandler_ref;

/// An MPI error handler.
/// Shape:    counts its users: the program's handles, and the objects that it is attached to.
/// Threads:  immutable except for that count.
class errhandler final : public object {
 public:
  using handle = MPI_Errhandler;
  static constexpr object_kind object_kind_of = object_kind::errhandler;
  static constexpr std::uintptr_t null_value = 0x140;

  enum class action : std::uint8_t {
    end_job,      ///< MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT: one line, then the job ends
    return_code,  ///< MPI_ERRORS_RETURN
    call_user,
  };
  using any_function = void (*)();

  explicit errhandler(action what) noexcept : what_(what) {}
  errhandler(object_kind of, any_function user) noexcept
      : what_(action::call_user), of_(of), user_(user) {}

  [[nodiscard]] action what() const noexcept { return what_; }
  /// Whether it may be attached to objects of this kind. The predefined ones fit all kinds.
  [[nodiscard]] bool fits(object_kind kind) const noexcept {
    return what_ != action::call_user || of_ == kind;
  }
  /// Calls the user's function with the handle of `where` and `code`; with a null handle where that
  /// is none of the function's type: the object was to be made by the call that failed.
  void call_user(const object& where, int code) const;

  void add_user() noexcept {
    if (!is_predefined()) users_.fetch_add(1, std::memory_order_relaxed);  // carries no data
  }
  /// Drops a user; the last one frees the error handler.
  void drop_user() noexcept;

 private:
  action what_;
  object_kind of_ = object_kind::none;
  any_function user_ = nullptr;
  std::atomic<int> users_{1};
};

/// A counted reference of an object to its error handler.
class errhandler_ref {
 public:
  errhandler_ref() noexcept = default;
  explicit errhandler_ref(errhandler& shared) noexcept : at_(&shared) { at_->add_user(); }
  errhandler_ref(const errhandler_ref& other) noexcept : at_(other.at_) {
    if (at_) at_->add_user();
  }
  errhandler_ref& operator=(errhandler_ref other) noexcept {
    std::swap(at_, other.at_);
    return *this;
  }
  ~errhandler_ref() {
    if (at_) at_->drop_user();
  }
  [[nodiscard]] errhandler* get() const noexcept { return at_; }

 private:
  errhandler* at_ = nullptr;
};

[[nodiscard]] errhandler& errors_are_fatal() noexcept;
[[nodiscard]] errhandler& errors_return() noexcept;

}  // namespace headway::mpi
