#include "mpi/datatypes/query_calls.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "mpi/datatypes/type_recipe.hpp"
#include "mpi/environment/failure.hpp"

namespace headway::mpi::calls {
namespace {

/// The results of MPI_Type_get_envelope, which MPI_Type_get_contents checks.
struct envelope {
  MPI_Count integers = 0, addresses = 0, large_counts = 0, datatypes = 0;
  int combiner = MPI_COMBINER_NAMED;
};

envelope envelope_of(const datatype& type) {
  if (!type.recipe) return {};
  const type_recipe& r = *type.recipe;
  const auto counts = std::ranges::count(r.numbers, true, &type_recipe::number::is_count);
  const auto large = r.counts_fit_int() ? 0 : counts;
  return {.integers = static_cast<MPI_Count>(r.numbers.size()) - large,
          .addresses = static_cast<MPI_Count>(r.addresses.size()),
          .large_counts = large,
          .datatypes = static_cast<MPI_Count>(r.types.size()),
          .combiner = r.combiner};
}

int check_room(const envelope& has, MPI_Count integers, MPI_Count addresses, MPI_Count large_counts,
               MPI_Count datatypes) {
  if (has.combiner == MPI_COMBINER_NAMED) {
    return fail(MPI_ERR_TYPE, "a predefined type has no contents");
  }
  if (integers < has.integers || addresses < has.addresses || large_counts < has.large_counts ||
      datatypes < has.datatypes) {
    return fail(MPI_ERR_ARG,
                "the contents are {} integers, {} addresses, {} large counts and {} datatypes, "
                "more than there is room for",
                has.integers, has.addresses, has.large_counts, has.datatypes);
  }
  return MPI_SUCCESS;
}

void write(const type_recipe& r, bool large, int* integers, MPI_Aint* addresses,
           MPI_Count* large_counts, MPI_Datatype* datatypes) {
  for (const auto& n : r.numbers) {
    if (large && n.is_count) {
      *large_counts++ = n.value;
    } else {
      *integers++ = static_cast<int>(n.value);
    }
  }
  for (const auto a : r.addresses) *addresses++ = a;
  for (const auto& used : r.types) *datatypes++ = handle_of(datatype_for(used));
}

}  // namespace

int type_size(datatype& type, MPI_Count& size) {
  size = type.layout().size();
  return MPI_SUCCESS;
}

int type_get_extent(datatype& type, MPI_Count& lb, MPI_Count& extent) {
  lb = type.layout().lb();
  extent = type.layout().extent();
  return MPI_SUCCESS;
}

int type_get_true_extent(datatype& type, MPI_Count& true_lb, MPI_Count& true_extent) {
  true_lb = type.layout().true_lb();
  true_extent = type.layout().true_extent();
  return MPI_SUCCESS;
}

int type_get_envelope(datatype& type, int& integers, int& addresses, int& datatypes,
                      int& combiner) {
  const auto has = envelope_of(type);
  if (has.large_counts > 0) {
    return fail(MPI_ERR_TYPE, "the type was made with counts that do not fit into an int");
  }
  integers = static_cast<int>(has.integers);
  addresses = static_cast<int>(has.addresses);
  datatypes = static_cast<int>(has.datatypes);
  combiner = has.combiner;
  return MPI_SUCCESS;
}

int type_get_envelope_c(datatype& type, MPI_Count& integers, MPI_Count& addresses,
                        MPI_Count& large_counts, MPI_Count& datatypes, int& combiner) {
  const auto has = envelope_of(type);
  integers = has.integers;
  addresses = has.addresses;
  large_counts = has.large_counts;
  datatypes = has.datatypes;
  combiner = has.combiner;
  return MPI_SUCCESS;
}

int type_get_contents(datatype& type, int max_integers, int max_addresses, int max_datatypes,
                      int* integers, MPI_Aint* addresses, MPI_Datatype* datatypes) {
  return type_get_contents_c(type, max_integers, max_addresses, 0, max_datatypes, integers,
                             addresses, nullptr, datatypes);
}

int type_get_contents_c(datatype& type, MPI_Count max_integers, MPI_Count max_addresses,
                        MPI_Count max_large_counts, MPI_Count max_datatypes, int* integers,
                        MPI_Aint* addresses, MPI_Count* large_counts, MPI_Datatype* datatypes) {
  const auto has = envelope_of(type);
  const int code = check_room(has, max_integers, max_addresses, max_large_counts, max_datatypes);
  if (code != MPI_SUCCESS) return code;
  write(*type.recipe, has.large_counts > 0, integers, addresses, large_counts, datatypes);
  return MPI_SUCCESS;
}

int type_set_name(datatype& type, const char* name) {
  type.name = std::string_view(name).substr(0, MPI_MAX_OBJECT_NAME - 1);
  return MPI_SUCCESS;
}

int type_get_name(datatype* type, char* name, int& resultlen) {
  const std::string text = type == nullptr ? "MPI_DATATYPE_NULL" : type->name;
  std::memcpy(name, text.c_str(), text.size() + 1);
  resultlen = static_cast<int>(text.size());
  return MPI_SUCCESS;
}

int get_address(const void* location, MPI_Aint& address) {
  address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}

int type_extent(datatype& type, MPI_Aint& extent) {
  extent = type.layout().extent();
  return MPI_SUCCESS;
}

int type_lb(datatype& type, MPI_Aint& displacement) {
  displacement = type.layout().lb();
  return MPI_SUCCESS;
}

int type_ub(datatype& type, MPI_Aint& displacement) {
  displacement = type.layout().ub();
  return MPI_SUCCESS;
}

MPI_Aint aint_add(MPI_Aint base, MPI_Aint displacement) { return base + displacement; }
MPI_Aint aint_diff(MPI_Aint first, MPI_Aint second) { return first - second; }

}  // namespace headway::mpi::calls
