#include "mpi/datatypes/datatype_calls.hpp"

#include <utility>
#include <vector>

#include "datatypes/build.hpp"
#include "mpi/abi/fortran_kinds.hpp"
#include "mpi/datatypes/type_recipe.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/objects/pool.hpp"

namespace headway::mpi::calls {
namespace {

namespace dt = datatypes;

int finish(dt::built built, type_recipe&& recipe, datatype*& made) {
  if (!built) return fail(MPI_ERR_ARG, "{}", built.error().text);
  made = pool<datatype>::all().make(std::move(*built));
  made->recipe = std::make_shared<const type_recipe>(std::move(recipe));
  return MPI_SUCCESS;
}

/// The layouts of an array of handles, which the entry point has checked where blocks are not
/// empty.
int layouts_of(const MPI_Datatype* types, MPI_Count count, std::vector<const dt::layout*>& made,
               type_recipe& recipe) {
  for (MPI_Count i = 0; i < count; ++i) {
    const auto* each = find<datatype>(types[i]);
    if (each == nullptr) return fail(MPI_ERR_TYPE, "element {} is not a datatype", i);
    made.push_back(&each->layout());
    recipe.type(*each);
  }
  return MPI_SUCCESS;
}

int order_of(int order, dt::storage_order& found) {
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) {
    return fail(MPI_ERR_ARG, "order is {}, neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", order);
  }
  found = order == MPI_ORDER_C ? dt::storage_order::c : dt::storage_order::fortran;
  return MPI_SUCCESS;
}

int dimension_of(std::int64_t size, int distribution, int argument, int processes,
                 dt::darray_dimension& made) {
  if (size < 1 || processes < 1) return fail(MPI_ERR_ARG, "a dimension is empty");
  if (argument < 1) return fail(MPI_ERR_ARG, "a distribution has blocks of {}", argument);
  made = {.size = size,
          .how = dt::distribution::none,
          .argument = argument == MPI_DISTRIBUTE_DFLT_DARG ? -1 : argument,
          .processes = processes};
  switch (distribution) {
    case MPI_DISTRIBUTE_NONE:
      return MPI_SUCCESS;
    case MPI_DISTRIBUTE_BLOCK:
      made.how = dt::distribution::block;
      return MPI_SUCCESS;
    case MPI_DISTRIBUTE_CYCLIC:
      made.how = dt::distribution::cyclic;
      return MPI_SUCCESS;
    default:
      return fail(MPI_ERR_ARG, "a distribution is {}, which is none", distribution);
  }
}

}  // namespace

int type_contiguous(MPI_Count count, datatype& old, datatype*& made) {
  type_recipe recipe(MPI_COMBINER_CONTIGUOUS);
  recipe.count(count);
  recipe.type(old);
  return finish(dt::build_contiguous(count, old.layout()), std::move(recipe), made);
}

int type_vector(MPI_Count count, MPI_Count block, MPI_Count stride, datatype& old,
                datatype*& made) {
  type_recipe recipe(MPI_COMBINER_VECTOR);
  for (const auto each : {count, block, stride}) recipe.count(each);
  recipe.type(old);
  return finish(dt::build_vector(count, block, stride, old.layout()), std::move(recipe), made);
}

int type_create_hvector(MPI_Count count, MPI_Count block, MPI_Count stride, datatype& old,
                        datatype*& made) {
  type_recipe recipe(MPI_COMBINER_HVECTOR);
  recipe.count(count);
  recipe.count(block);
  recipe.addresses.push_back(stride);
  recipe.type(old);
  return finish(dt::build_hvector(count, block, stride, old.layout()), std::move(recipe), made);
}

int type_indexed(MPI_Count count, integers blocks, integers displacements, datatype& old,
                 datatype*& made) {
  type_recipe recipe(MPI_COMBINER_INDEXED);
  recipe.count(count);
  recipe.counts(blocks, count);
  recipe.counts(displacements, count);
  recipe.type(old);
  return finish(dt::build_indexed(blocks.copy(count), displacements.copy(count), old.layout()),
                std::move(recipe), made);
}

int type_create_hindexed(MPI_Count count, integers blocks, integers displacements, datatype& old,
                         datatype*& made) {
  type_recipe recipe(MPI_COMBINER_HINDEXED);
  recipe.count(count);
  recipe.counts(blocks, count);
  recipe.addresses = displacements.copy(count);
  recipe.type(old);
  auto built = dt::build_hindexed(blocks.copy(count), recipe.addresses, old.layout());
  return finish(std::move(built), std::move(recipe), made);
}

int type_create_indexed_block(MPI_Count count, MPI_Count block, integers displacements,
                              datatype& old, datatype*& made) {
  type_recipe recipe(MPI_COMBINER_INDEXED_BLOCK);
  recipe.count(count);
  recipe.count(block);
  recipe.counts(displacements, count);
  recipe.type(old);
  return finish(dt::build_indexed_block(block, displacements.copy(count), old.layout()),
                std::move(recipe), made);
}

int type_create_hindexed_block(MPI_Count count, MPI_Count block, integers displacements,
                               datatype& old, datatype*& made) {
  type_recipe recipe(MPI_COMBINER_HINDEXED_BLOCK);
  recipe.count(count);
  recipe.count(block);
  recipe.addresses = displacements.copy(count);
  recipe.type(old);
  auto built = dt::build_hindexed_block(block, recipe.addresses, old.layout());
  return finish(std::move(built), std::move(recipe), made);
}

int type_create_struct(MPI_Count count, integers blocks, integers displacements,
                       const MPI_Datatype* types, datatype*& made) {
  type_recipe recipe(MPI_COMBINER_STRUCT);
  recipe.count(count);
  recipe.counts(blocks, count);
  recipe.addresses = displacements.copy(count);
  std::vector<const dt::layout*> layouts;
  if (const int code = layouts_of(types, count, layouts, recipe); code != MPI_SUCCESS) return code;
  auto built = dt::build_struct(blocks.copy(count), recipe.addresses, layouts);
  return finish(std::move(built), std::move(recipe), made);
}

int type_create_subarray(int dimensions, integers sizes, integers subsizes, integers starts,
                         int order, datatype& old, datatype*& made) {
  dt::storage_order storage{};
  if (const int code = order_of(order, storage); code != MPI_SUCCESS) return code;
  if (dimensions < 1) return fail(MPI_ERR_ARG, "ndims is {}, at least 1", dimensions);
  type_recipe recipe(MPI_COMBINER_SUBARRAY);
  recipe.integer(dimensions);
  for (const auto& each : {sizes, subsizes, starts}) recipe.counts(each, dimensions);
  recipe.integer(order);
  recipe.type(old);
  return finish(dt::build_subarray(sizes.copy(dimensions), subsizes.copy(dimensions),
                                   starts.copy(dimensions), storage, old.layout()),
                std::move(recipe), made);
}

int type_create_darray(int size, int rank, int dimensions, integers sizes, const int* distributions,
                       const int* arguments, const int* processes, int order, datatype& old,
                       datatype*& made) {
  dt::storage_order storage{};
  if (const int code = order_of(order, storage); code != MPI_SUCCESS) return code;
  if (dimensions < 1) return fail(MPI_ERR_ARG, "ndims is {}, at least 1", dimensions);
  std::vector<dt::darray_dimension> all(static_cast<std::size_t>(dimensions));
  std::int64_t grid = 1;
  for (int i = 0; i < dimensions; ++i) {
    const int code = dimension_of(sizes[i], distributions[i], arguments[i], processes[i],
                                  all[static_cast<std::size_t>(i)]);
    if (code != MPI_SUCCESS) return code;
    grid *= processes[i];
  }
  if (grid != size) return fail(MPI_ERR_ARG, "the grid has {} processes, size is {}", grid, size);
  if (rank < 0 || rank >= size) return fail(MPI_ERR_ARG, "rank is {}, size is {}", rank, size);
  type_recipe recipe(MPI_COMBINER_DARRAY);
  for (const int each : {size, rank, dimensions}) recipe.integer(each);
  recipe.counts(sizes, dimensions);
  for (const int* each : {distributions, arguments, processes}) {
    recipe.integers_of(each, dimensions);
  }
  recipe.integer(order);
  recipe.type(old);
  return finish(dt::build_darray(rank, all, storage, old.layout()), std::move(recipe), made);
}

int type_create_resized(datatype& old, MPI_Count lb, MPI_Count extent, datatype*& made) {
  type_recipe recipe(MPI_COMBINER_RESIZED);
  recipe.addresses = {lb, extent};
  recipe.type(old);
  return finish(dt::build_resized(lb, extent, old.layout()), std::move(recipe), made);
}

int type_dup(datatype& old, datatype*& made) {
  type_recipe recipe(MPI_COMBINER_DUP);
  recipe.type(old);
  datatype* copy = nullptr;
  (void)finish(dt::build_dup(old.layout()), std::move(recipe), copy);
  copy->committed = old.committed;
  if (const int code = copy->attributes.copy_from(old, old.attributes); code != MPI_SUCCESS) {
    copy->drop_user();
    return code;
  }
  made = copy;
  return MPI_SUCCESS;
}

int type_commit(datatype*& type) {
  type->committed = true;
  return MPI_SUCCESS;
}

int type_free(datatype*& type) {
  if (type->is_predefined() || is_fortran_kind(*type)) {
    return fail(MPI_ERR_TYPE, "{} is predefined and cannot be freed",
                type->name.empty() ? "the type" : type->name);
  }
  if (const int code = type->attributes.clear(*type); code != MPI_SUCCESS) return code;
  type->drop_user();
  type = nullptr;
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
