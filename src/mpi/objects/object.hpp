#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headway::mpi {

enum class object_kind : std::uint32_t {
  none,  ///< freed, or never made
  comm,
  group,
  type,
  op,
  info,
  errhandler,
  request,
  message,
  session,
  win,
  file,
  placeholder,  ///< for an argument that is not significant: no handle refers to it
};

/// The kind's name for error messages: "communicator", "datatype".
[[nodiscard]] const char* kind_name(object_kind kind) noexcept;

/// Handles below this are the ABI's constants; others are addresses above it.
constexpr std::uintptr_t predefined_end = 4096;
/// Objects that users may free start at multiples of this; the bits below count how often the
/// memory was used before.
constexpr std::uintptr_t object_alignment = 64;

/// An object that a handle of the program refers to. A handle is a constant of the ABI, or the
/// object's address, whose low bits count how often its memory was used before, modulo 64.
///
/// Shape:    `stamp` is kind * 64 + the handle's low bits, so that one comparison tells a valid
///           handle of the right kind from a freed one, also after another object has taken the
///           memory (except once in 64 times).
/// Threads:  any thread may look up a handle; stamps change only in `pool` and at start and end.
class object {
 public:
  object() = default;
  virtual ~object() = default;
  object(const object&) = delete;
  object& operator=(const object&) = delete;

  [[nodiscard]] std::uint32_t stamp() const noexcept {
    return stamp_.load(std::memory_order_relaxed);  // the program orders its use of handles
  }
  [[nodiscard]] std::uintptr_t bits() const noexcept { return bits_; }
  [[nodiscard]] object_kind kind() const noexcept {
    return static_cast<object_kind>(stamp() / object_alignment);
  }
  [[nodiscard]] bool is_predefined() const noexcept { return bits_ < predefined_end; }

  [[nodiscard]] static constexpr std::uint32_t stamp_for(object_kind kind,
                                                         std::uintptr_t bits) noexcept {
    return static_cast<std::uint32_t>(kind) * static_cast<std::uint32_t>(object_alignment) +
           static_cast<std::uint32_t>(bits % object_alignment);
  }

  /// Makes handles with these bits refer to this object.
  void become(object_kind kind, std::uintptr_t bits) noexcept {
    bits_ = bits;
    stamp_.store(stamp_for(kind, bits), std::memory_order_relaxed);  // as in `stamp`
  }
  /// Makes all handles to this object invalid.
  void retire() noexcept {
    stamp_.store(stamp_for(object_kind::none, bits_), std::memory_order_relaxed);  // as in `stamp`
  }
  /// The memory of this object had `place_before` in the table of numbers, and keeps it.
  void keep_place(std::uint32_t place_before) noexcept {
    place_.store(place_before, std::memory_order_relaxed);  // the pool's lock orders it
  }
  [[nodiscard]] std::uint32_t place() const noexcept {
    return place_.load(std::memory_order_relaxed);  // as in `keep_place`
  }

 private:
  friend int number_of(object& what);

  std::atomic<std::uint32_t> stamp_{0};
  std::atomic<std::uint32_t> place_{0};  // in the table of numbers, see number_of; 0: in none yet
  std::uintptr_t bits_ = 0;
};

/// The objects of the ABI's constants, by the constant's value; null: not a constant.
extern object* predefined[predefined_end];

/// Makes `what` the object of a constant of the ABI. At start and end, when no other thread calls.
void define(object& what, object_kind kind, std::uintptr_t value) noexcept;
void undefine(object& what) noexcept;

/// The object of a handle; null if the handle is null, freed, of another kind or invalid.
/// Progress: one load and one comparison; no lock.
template <class T>
[[nodiscard]] inline T* find(typename T::handle h) noexcept {
  const auto bits = reinterpret_cast<std::uintptr_t>(h);
  object* at = bits < predefined_end ? predefined[bits]
                                     : reinterpret_cast<object*>(bits & ~(object_alignment - 1));
  if (at != nullptr && at->stamp() == object::stamp_for(T::object_kind_of, bits)) {
    return static_cast<T*>(at);
  }
  return nullptr;
}

template <class T>
[[nodiscard]] inline typename T::handle null_handle() noexcept {
  return reinterpret_cast<typename T::handle>(T::null_value);
}

template <class T>
[[nodiscard]] inline typename T::handle handle_of(const T* what) noexcept {
  return what == nullptr ? null_handle<T>() : reinterpret_cast<typename T::handle>(what->bits());
}

/// MPI_X_toint of an object: the constant, or a number above the constants that stays the same.
/// Like the handle, it says which memory the object has and how often that was used before.
/// Progress: a load; the first time that some memory has a number, a lock.
[[nodiscard]] int number_of(object& what);
/// MPI_X_fromint: the bits of the handle that has this number, whose object may be freed; or 0.
/// Progress: two loads; no lock.
[[nodiscard]] std::uintptr_t bits_numbered(int number) noexcept;

}  // namespace headway::mpi
