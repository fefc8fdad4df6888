#include "mpi/files/representation.hpp"

#include <cstring>
#include <map>
#include <vector>

#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "mpi/datatypes/external32.hpp"
#include "mpi/environment/failure.hpp"

namespace headway::mpi {
namespace {

struct register_of_program {
  base::mutex lock;
  std::map<std::string, registered_representation, std::less<>> all HEADWAY_GUARDED_BY(lock);

  static register_of_program& only() {
    static auto* const made = new register_of_program;  // used until the process ends
    return *made;
  }
};

/// Calls the function that the program has given, whichever of the two forms it has.
[[nodiscard]] int convert(MPI_Datarep_conversion_function* narrow,
                          MPI_Datarep_conversion_function_c* wide, void* memory, datatype& type,
                          std::int64_t count, void* bytes, void* extra_state) {
  int code = MPI_SUCCESS;
  if (wide != nullptr) {
    code = wide(memory, handle_of(&type), count, bytes, 0, extra_state);
  } else {
    // One that counts by int is called for as many elements as it can count.
    constexpr std::int64_t most = 1 << 30;
    const auto size = type.layout().size();
    for (std::int64_t done = 0; done < count && code == MPI_SUCCESS; done += most) {
      auto* const at = static_cast<std::byte*>(memory) + done * type.layout().extent();
      code = narrow(at, handle_of(&type), static_cast<int>(std::min(most, count - done)),
                    static_cast<std::byte*>(bytes) + done * size, 0, extra_state);
    }
  }
  if (code == MPI_SUCCESS) return code;
  return fail(MPI_ERR_CONVERSION, "the conversion function of the data representation returned {}",
              code);
}

}  // namespace

std::optional<representation> representation::named(std::string_view name) {
  representation made;
  made.name_ = name;
  if (name == "native" || name == "internal") return made;
  made.external_ = name == "external32";
  if (made.external_) return made;
  auto& known = register_of_program::only();
  const base::lock_guard held(known.lock);
  const auto found = known.all.find(name);
  if (found == known.all.end()) return std::nullopt;
  made.program_ = found->second;
  return made;
}

int representation::add(const char* name, const registered_representation& what) {
  const auto length = std::strlen(name);
  if (length == 0 || length >= MPI_MAX_DATAREP_STRING)
    return fail(MPI_ERR_ARG, "the name of the data representation has {} characters", length);
  if (named(name)) return fail(MPI_ERR_DUP_DATAREP, "there is a data representation '{}'", name);
  auto& known = register_of_program::only();
  const base::lock_guard held(known.lock);
  if (known.all.try_emplace(name, what).second) return MPI_SUCCESS;
  return fail(MPI_ERR_DUP_DATAREP, "there is a data representation '{}'", name);
}

bool representation::keeps_lengths_of(datatype& type) const {
  if (external_) return external_size(type.layout(), 1) == type.layout().size();
  if (is_native() || program_.extent == nullptr) return true;
  MPI_Aint extent = 0;
  return program_.extent(handle_of(&type), &extent, program_.extra_state) == MPI_SUCCESS &&
         extent == type.layout().extent();
}

int representation::to_file(const void* memory, std::int64_t count, datatype& type,
                            std::byte* bytes) const {
  if (writes_by_program())
    return convert(program_.write, program_.write_large, const_cast<void*>(memory), type, count,
                   bytes, program_.extra_state);
  if (!external_) {
    type.layout().pack(memory, count, bytes);
    return MPI_SUCCESS;
  }
  std::vector<std::byte> packed(static_cast<std::size_t>(count * type.layout().size()));
  type.layout().pack(memory, count, packed.data());
  to_external(type.layout(), count, packed.data(), bytes);
  return MPI_SUCCESS;
}

int representation::from_file(const std::byte* bytes, std::int64_t there, std::int64_t count,
                              datatype& type, void* memory) const {
  const auto& layout = type.layout();
  if (reads_by_program())
    return convert(program_.read, program_.read_large, memory, type, there / layout.size(),
                   const_cast<std::byte*>(bytes), program_.extra_state);
  std::vector<std::byte> packed;
  if (external_) {
    packed.resize(static_cast<std::size_t>(count * layout.size()));
    from_external(layout, count, bytes, packed.data());
    // The file may end inside of a number.
    while (layout.elements_in(there) < 0) --there;
    bytes = packed.data();
  }
  layout.unpack(bytes, 0, there, memory, count);
  return MPI_SUCCESS;
}

}  // namespace headway::mpi
