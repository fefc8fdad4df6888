#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/objects/numbered.hpp"

// Another library with MPI's C interface does not have it.
#pragma weak headway_numbered

/// Handles are INTEGERs in Fortran. The C interface numbers them (MPI-5.0 section 20.3).
namespace headway::mpi::fortran {

/// The functions of C that convert a handle.
template <class Handle>
struct numbering;
template <>
struct numbering<MPI_Comm> {
  static MPI_Comm handle(int number) { return PMPI_Comm_fromint(number); }
  static int number(MPI_Comm handle) { return PMPI_Comm_toint(handle); }
};
template <>
struct numbering<MPI_Datatype> {
  static MPI_Datatype handle(int number) { return PMPI_Type_fromint(number); }
  static int number(MPI_Datatype handle) { return PMPI_Type_toint(handle); }
};
template <>
struct numbering<MPI_Errhandler> {
  static MPI_Errhandler handle(int number) { return PMPI_Errhandler_fromint(number); }
  static int number(MPI_Errhandler handle) { return PMPI_Errhandler_toint(handle); }
};
template <>
struct numbering<MPI_File> {
  static MPI_File handle(int number) { return PMPI_File_fromint(number); }
  static int number(MPI_File handle) { return PMPI_File_toint(handle); }
};
template <>
struct numbering<MPI_Group> {
  static MPI_Group handle(int number) { return PMPI_Group_fromint(number); }
  static int number(MPI_Group handle) { return PMPI_Group_toint(handle); }
};
template <>
struct numbering<MPI_Info> {
  static MPI_Info handle(int number) { return PMPI_Info_fromint(number); }
  static int number(MPI_Info handle) { return PMPI_Info_toint(handle); }
};
template <>
struct numbering<MPI_Message> {
  static MPI_Message handle(int number) { return PMPI_Message_fromint(number); }
  static int number(MPI_Message handle) { return PMPI_Message_toint(handle); }
};
template <>
struct numbering<MPI_Op> {
  static MPI_Op handle(int number) { return PMPI_Op_fromint(number); }
  static int number(MPI_Op handle) { return PMPI_Op_toint(handle); }
};
template <>
struct numbering<MPI_Request> {
  static MPI_Request handle(int number) { return PMPI_Request_fromint(number); }
  static int number(MPI_Request handle) { return PMPI_Request_toint(handle); }
};
template <>
struct numbering<MPI_Session> {
  static MPI_Session handle(int number) { return PMPI_Session_fromint(number); }
  static int number(MPI_Session handle) { return PMPI_Session_toint(handle); }
};
template <>
struct numbering<MPI_Win> {
  static MPI_Win handle(int number) { return PMPI_Win_fromint(number); }
  static int number(MPI_Win handle) { return PMPI_Win_toint(handle); }
};

/// The constants of the ABI are below this, and a constant's number is its value (MPI-5.0 section
/// 20.3), so that no call is needed for it.
constexpr std::uintptr_t constants_end = 4096;
/// Between the numbers of two objects of `headway_numbered`.
constexpr std::uintptr_t numbered_distance = 64;

template <class Handle>
Handle handle(int number) {
  const auto bits = static_cast<std::uintptr_t>(static_cast<unsigned>(number));
  if (bits < constants_end) return reinterpret_cast<Handle>(bits);
  const std::uintptr_t place = (bits - constants_end) / numbered_distance;
  if (headway_numbered != nullptr && place < numbered_count) [[likely]] {
    // Relaxed: the number orders it.
    const auto at =
        reinterpret_cast<std::uintptr_t>(headway_numbered[place].load(std::memory_order_relaxed));
    if (at != 0) [[likely]]
      return reinterpret_cast<Handle>(at + bits % numbered_distance);
  }
  return numbering<Handle>::handle(number);
}

template <class Handle>
int number(Handle handle) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  return bits < constants_end ? static_cast<int>(bits) : numbering<Handle>::number(handle);
}

/// A handle that a call writes: the program's integer is set when this ends, unless the call left
/// the handle alone.
template <class Handle>
class written {
 public:
  explicit written(int* at) noexcept : at_(at) {}
  ~written() {
    if (value_ != Handle{}) *at_ = number(value_);
  }
  written(const written&) = delete;
  written& operator=(const written&) = delete;

  [[nodiscard]] Handle* address() noexcept { return &value_; }

 private:
  int* at_;
  Handle value_{};
};

/// A handle that a call reads and writes.
template <class Handle>
class exchanged {
 public:
  explicit exchanged(int* at) : at_(at), before_(handle<Handle>(*at)), value_(before_) {}
  ~exchanged() {
    if (value_ != before_) *at_ = number(value_);
  }
  exchanged(const exchanged&) = delete;
  exchanged& operator=(const exchanged&) = delete;

  [[nodiscard]] Handle* address() noexcept { return &value_; }

 private:
  int* at_;
  Handle before_;
  Handle value_;
};

/// Room for the handles of an array argument. Few of them need no memory from the heap.
template <class Handle>
class handle_room {
 public:
  explicit handle_room(MPI_Count count) : count_(count > 0 ? static_cast<std::size_t>(count) : 0) {
    if (count_ > few_max) many_.resize(count_);
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] Handle* data() noexcept { return count_ > few_max ? many_.data() : few_; }

 private:
  static constexpr std::size_t few_max = 16;
  std::size_t count_;
  Handle few_[few_max]{};
  std::vector<Handle> many_;
};

/// An array of handles that a call reads.
template <class Handle>
class handle_array : public handle_room<Handle> {
 public:
  handle_array(const int* at, MPI_Count count) : handle_room<Handle>(count) {
    for (std::size_t i = 0; i < this->size(); ++i) this->data()[i] = handle<Handle>(at[i]);
  }
};

/// An array of handles that a call reads and writes.
template <class Handle>
class exchanged_array : public handle_array<Handle> {
 public:
  exchanged_array(int* at, MPI_Count count) : handle_array<Handle>(at, count), at_(at) {}
  ~exchanged_array() {
    for (std::size_t i = 0; i < this->size(); ++i) at_[i] = number(this->data()[i]);
  }
  exchanged_array(const exchanged_array&) = delete;
  exchanged_array& operator=(const exchanged_array&) = delete;

 private:
  int* at_;
};

/// An array of handles of which a call writes some elements, at the beginning.
template <class Handle>
class written_array : public handle_room<Handle> {
 public:
  written_array(int* at, MPI_Count count) : handle_room<Handle>(count), at_(at) {}
  ~written_array() {
    for (std::size_t i = 0; i < this->size(); ++i) {
      if (this->data()[i] != Handle{}) at_[i] = number(this->data()[i]);
    }
  }
  written_array(const written_array&) = delete;
  written_array& operator=(const written_array&) = delete;

 private:
  int* at_;
};

/// How many datatypes the array arguments of MPI_Alltoallw have, and of MPI_Neighbor_alltoallw. 0
/// if the communicator is invalid, which the call itself reports.
int peer_count(int comm);
int source_count(int comm);
int destination_count(int comm);

/// Whether this process is the root of a call: some arguments have a meaning there only.
bool is_root(int root, int comm);

}  // namespace headway::mpi::fortran
