#include "mpi/fortran/partitioned_section.hpp"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "mpi/fortran/array_section.hpp"
#include "mpi/fortran/section_types.hpp"
#include "mpi/fortran/unrecorded.hpp"
#include "mpi/partitioned/partition_attachment.hpp"

// Another library with MPI's C interface does not have it.
#pragma weak headway_attach_to_partitions

namespace headway::mpi::fortran {

/// A copy of each partition, one behind the other: partitions whose data is interleaved in the
/// section are apart here, and each is copied alone.
class partitioned_section::copies final : public partition_attachment {
 public:
  /// Partition p has the bytes of the section from p x `distance` on, as many as are in
  /// `partition_bytes`.
  copies(const descriptor& array, int partitions, std::size_t distance, std::size_t partition_bytes,
         bool received)
      : section_(array),
        partitions_(partitions),
        distance_(distance),
        partition_bytes_(partition_bytes),
        copy_(static_cast<std::size_t>(partitions) * partition_bytes),
        before_(received ? copy_.size() : 0) {}

  [[nodiscard]] void* address() noexcept { return copy_.data(); }

  void before_start() noexcept override {
    for (int p = 0; p < partitions_; ++p) before_send(p);
    before_ = copy_;
  }
  void before_send(int partition) noexcept override {
    HEADWAY_DEBUG_ASSERT(0 <= partition && partition < partitions_);
    section_.read(begin_of(partition), part(copy_, partition));
  }
  void after_arrival(int partition) noexcept override {
    HEADWAY_DEBUG_ASSERT(0 <= partition && partition < partitions_);
    section_.write_changes(begin_of(partition), part(copy_, partition), part(before_, partition));
  }

 private:
  [[nodiscard]] std::size_t begin_of(int partition) const noexcept {
    return static_cast<std::size_t>(partition) * distance_;
  }
  [[nodiscard]] std::span<std::byte> part(std::vector<std::byte>& of, int partition) const {
    return std::span(of).subspan(static_cast<std::size_t>(partition) * partition_bytes_,
                                 partition_bytes_);
  }

  array_section section_;
  int partitions_;
  std::size_t distance_, partition_bytes_;
  std::vector<std::byte> copy_, before_;
};

void partitioned_section::use(MPI_Datatype made, MPI_Count extent) {
  PMPI_Type_create_resized_c(made, 0, extent, &made_);
  PMPI_Type_commit(&made_);
  type_ = made_;
  count_ = 1;
}

bool partitioned_section::describe(const descriptor& array, int partitions) {
  HEADWAY_ASSERT(partitions > 0 && count_ > 0 && !is_contiguous(array));
  const unrecorded calls;
  const type_range range(type_);
  const auto element_bytes = static_cast<MPI_Count>(array.element_bytes);
  if (!range.is_within_extent() || element_bytes % range.extent() != 0) return false;
  const section_types types(array, type_, element_bytes / range.extent());
  int last = array.rank;  // NOLINT(bugprone-signed-char-misuse): a number of dimensions
  while (array.dimensions[last - 1].extent == 1) --last;  // there is another one: not contiguous
  const MPI_Count units = types.units_in(last - 1);
  if (count_ % units != 0 || count_ > types.units_in(last) / partitions) return false;
  const temporary_type partition = types.first(last, count_);
  use(partition.get(), count_ / units * array.dimensions[last - 1].stride_bytes);
  return true;
}

bool partitioned_section::copy(const descriptor& array, int partitions, bool received) {
  const unrecorded calls;
  const type_range range(type_);
  const auto bytes = static_cast<MPI_Count>(array_section(array).bytes());
  if (headway_attach_to_partitions == nullptr || !range.is_within(bytes, partitions * count_))
    return false;
  const MPI_Count distance = count_ * range.extent();
  const MPI_Count partition_bytes = range.end_of(count_);
  copies_ = new copies(array, partitions, static_cast<std::size_t>(distance),
                       static_cast<std::size_t>(partition_bytes), received);
  address_ = copies_->address();
  temporary_type partition;
  PMPI_Type_contiguous_c(count_, type_, partition.address());
  use(partition.get(), partition_bytes);
  return true;
}

void partitioned_section::attach(MPI_Request request) {
  HEADWAY_ASSERT(headway_attach_to_partitions != nullptr);  // there would be no copies
  headway_attach_to_partitions(request, std::exchange(copies_, nullptr));
}

void partitioned_section::clean_up() {
  const unrecorded calls;
  PMPI_Type_free(&made_);
  delete copies_;
}

}  // namespace headway::mpi::fortran
