#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "datatypes/layout.hpp"
#include "mpi/abi/integers.hpp"
#include "mpi/datatypes/datatype.hpp"

namespace headway::mpi {

/// How a datatype was made: the integers, addresses and datatypes that MPI-5.0 section 5.1.13 lists
/// for each combiner, in that order.
/// Shape:    counts are reported as int where all of them fit, otherwise as large counts.
/// Threads:  immutable once it is in a datatype.
struct type_recipe {
  /// One of the datatypes that it was made of: enough to make a handle for it again.
  struct ingredient {
    std::uintptr_t constant;  ///< of a predefined type; 0: derived
    datatypes::layout_ptr layout;
    std::shared_ptr<const type_recipe> recipe;
  };
  struct number {
    std::int64_t value;
    bool is_count;  ///< a large count in the _c form of the constructor
  };

  int combiner = MPI_COMBINER_NAMED;
  std::vector<number> numbers = {};
  std::vector<std::int64_t> addresses = {};
  std::vector<ingredient> types = {};

  explicit type_recipe(int by) : combiner(by) {}
  void count(std::int64_t value) { numbers.push_back({value, true}); }
  void counts(integers values, std::int64_t how_many);
  void integer(int value) { numbers.push_back({value, false}); }
  void integers_of(const int* values, std::int64_t how_many);
  void type(const datatype& used);

  [[nodiscard]] bool counts_fit_int() const noexcept;
};

/// A new datatype object for an ingredient, or the predefined one if it is predefined.
[[nodiscard]] datatype* datatype_for(const type_recipe::ingredient& used);

}  // namespace headway::mpi
