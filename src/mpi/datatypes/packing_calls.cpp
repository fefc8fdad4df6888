#include "mpi/datatypes/packing_calls.hpp"

#include <string_view>
#include <vector>

#include "mpi/datatypes/external32.hpp"
#include "mpi/environment/failure.hpp"

namespace headway::mpi::calls {
namespace {

int check_room(MPI_Count position, MPI_Count bytes, MPI_Count size) {
  if (position < 0) return fail(MPI_ERR_ARG, "position is {}", position);
  if (position > size || bytes > size - position) {
    return fail(MPI_ERR_TRUNCATE, "{} bytes at position {} exceed the {} of the packed buffer",
                bytes, position, size);
  }
  return MPI_SUCCESS;
}

int check_representation(const char* name) {
  if (std::string_view(name) == "external32") return MPI_SUCCESS;
  return fail(MPI_ERR_ARG, "the data representation is '{}'; 'external32' is the only one", name);
}

}  // namespace

int pack(const void* from, MPI_Count count, datatype& type, void* to, MPI_Count size,
         MPI_Count& position, communicator&) {
  const auto bytes = count * type.layout().size();
  if (const int code = check_room(position, bytes, size); code != MPI_SUCCESS) return code;
  type.layout().pack(from, count, static_cast<std::byte*>(to) + position);
  position += bytes;
  return MPI_SUCCESS;
}

int unpack(const void* from, MPI_Count size, MPI_Count& position, void* to, MPI_Count count,
           datatype& type, communicator&) {
  const auto bytes = count * type.layout().size();
  if (const int code = check_room(position, bytes, size); code != MPI_SUCCESS) return code;
  type.layout().unpack(static_cast<const std::byte*>(from) + position, to, count);
  position += bytes;
  return MPI_SUCCESS;
}

int pack_size(MPI_Count count, datatype& type, communicator&, MPI_Count& size) {
  size = count * type.layout().size();
  return MPI_SUCCESS;
}

int pack_external(const char* representation, const void* from, MPI_Count count, datatype& type,
                  void* to, MPI_Count size, MPI_Count& position) {
  if (const int code = check_representation(representation); code != MPI_SUCCESS) return code;
  const auto bytes = external_size(type.layout(), count);
  if (const int code = check_room(position, bytes, size); code != MPI_SUCCESS) return code;
  std::vector<std::byte> packed(static_cast<std::size_t>(count * type.layout().size()));
  type.layout().pack(from, count, packed.data());
  to_external(type.layout(), count, packed.data(), static_cast<std::byte*>(to) + position);
  position += bytes;
  return MPI_SUCCESS;
}

int unpack_external(const char* representation, const void* from, MPI_Count size,
                    MPI_Count& position, void* to, MPI_Count count, datatype& type) {
  if (const int code = check_representation(representation); code != MPI_SUCCESS) return code;
  const auto bytes = external_size(type.layout(), count);
  if (const int code = check_room(position, bytes, size); code != MPI_SUCCESS) return code;
  std::vector<std::byte> packed(static_cast<std::size_t>(count * type.layout().size()));
  from_external(type.layout(), count, static_cast<const std::byte*>(from) + position,
                packed.data());
  type.layout().unpack(packed.data(), to, count);
  position += bytes;
  return MPI_SUCCESS;
}

int pack_external_size(const char* representation, MPI_Count count, datatype& type,
                       MPI_Count& size) {
  if (const int code = check_representation(representation); code != MPI_SUCCESS) return code;
  size = external_size(type.layout(), count);
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
