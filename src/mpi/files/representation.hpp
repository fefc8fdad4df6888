#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mpi/datatypes/datatype.hpp"

namespace headway::mpi {

/// A data representation that the program has registered (MPI-5.0 section 14.5.3).
struct registered_representation {
  MPI_Datarep_conversion_function* read = nullptr;
  MPI_Datarep_conversion_function* write = nullptr;
  MPI_Datarep_conversion_function_c* read_large = nullptr;  ///< those of MPI_Register_datarep_c
  MPI_Datarep_conversion_function_c* write_large = nullptr;
  MPI_Datarep_extent_function* extent = nullptr;
  void* extra_state = nullptr;
};

/// How the elements of a view are written in the file.
/// Shape:    all elements have the length that they have in memory.
/// Threads:  any; immutable.
/// Errors:   MPI error codes.
class representation {
 public:
  /// "native".
  representation() = default;
  /// Nothing: no such name.
  [[nodiscard]] static std::optional<representation> named(std::string_view name);
  /// MPI_ERR_DUP_DATAREP: the name is taken.
  [[nodiscard]] static int add(const char* name, const registered_representation& what);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Elements are in the file as in memory.
  [[nodiscard]] bool is_native() const noexcept {
    return !external_ && !reads_by_program() && !writes_by_program();
  }
  /// Whether elements of this type have the same length in the file as in memory.
  [[nodiscard]] bool keeps_lengths_of(datatype& type) const;

  /// Converts `count` elements, from their place in memory to `count * size` bytes.
  [[nodiscard]] int to_file(const void* memory, std::int64_t count, datatype& type,
                            std::byte* bytes) const;
  /// Converts the first `there` of `count * size` bytes to their places in memory. Functions of the
  /// program convert whole elements only.
  [[nodiscard]] int from_file(const std::byte* bytes, std::int64_t there, std::int64_t count,
                              datatype& type, void* memory) const;

 private:
  [[nodiscard]] bool reads_by_program() const noexcept {
    return program_.read != nullptr || program_.read_large != nullptr;
  }
  [[nodiscard]] bool writes_by_program() const noexcept {
    return program_.write != nullptr || program_.write_large != nullptr;
  }

  std::string name_ = "native";
  bool external_ = false;
  registered_representation program_ = {};
};

}  // namespace headway::mpi
