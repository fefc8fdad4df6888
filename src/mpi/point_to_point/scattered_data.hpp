#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "datatypes/layout.hpp"
#include "messages/request.hpp"

namespace headway::mpi {

/// The data of a point-to-point message that is not one block of memory.
/// Shape:    shares the layout, because the program may free its datatype meanwhile. For a send,
///           also memory for the largest range that is packed at once: a block, of which each
///           thread keeps some, so that no message meets fresh pages.
/// Threads:  as `messages::scattered_memory`.
/// Errors:   std::bad_alloc when memory runs out.
class scattered_data final : public messages::scattered_memory {
 public:
  enum class direction : std::uint8_t { out, in };

  scattered_data(datatypes::layout_ptr layout, void* buffer, std::int64_t count, direction goes);
  ~scattered_data();
  scattered_data(const scattered_data&) = delete;
  scattered_data& operator=(const scattered_data&) = delete;

  [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }
  [[nodiscard]] std::span<const std::byte> pack(std::uint64_t begin,
                                                std::size_t count) noexcept override;
  void unpack(std::uint64_t begin, std::span<const std::byte> from) noexcept override;

 private:
  datatypes::layout_ptr layout_;
  void* buffer_;
  std::int64_t count_;
  std::uint64_t bytes_;
  std::unique_ptr<std::byte[]> packed_;  // of a send
};

}  // namespace headway::mpi
