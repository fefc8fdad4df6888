#pragma once

#include <mpi.h>

#include "mpi/abi/integers.hpp"
#include "mpi/datatypes/datatype.hpp"

/// MPI-5.0 sections 5.1.2 to 5.1.9: how datatypes are made and freed. The entry points have checked
/// counts and old types.
namespace headway::mpi::calls {

int type_contiguous(MPI_Count count, datatype& old, datatype*& made);
int type_vector(MPI_Count count, MPI_Count block, MPI_Count stride, datatype& old, datatype*& made);
int type_create_hvector(MPI_Count count, MPI_Count block, MPI_Count stride, datatype& old,
                        datatype*& made);
int type_indexed(MPI_Count count, integers blocks, integers displacements, datatype& old,
                 datatype*& made);
int type_create_hindexed(MPI_Count count, integers blocks, integers displacements, datatype& old,
                         datatype*& made);
int type_create_indexed_block(MPI_Count count, MPI_Count block, integers displacements,
                              datatype& old, datatype*& made);
int type_create_hindexed_block(MPI_Count count, MPI_Count block, integers displacements,
                               datatype& old, datatype*& made);
int type_create_struct(MPI_Count count, integers blocks, integers displacements,
                       const MPI_Datatype* types, datatype*& made);
int type_create_subarray(int dimensions, integers sizes, integers subsizes, integers starts,
                         int order, datatype& old, datatype*& made);
int type_create_darray(int size, int rank, int dimensions, integers sizes, const int* distributions,
                       const int* arguments, const int* processes, int order, datatype& old,
                       datatype*& made);
int type_create_resized(datatype& old, MPI_Count lb, MPI_Count extent, datatype*& made);
int type_dup(datatype& old, datatype*& made);
int type_commit(datatype*& type);
int type_free(datatype*& type);

int type_create_f90_integer(int range, datatype*& made);
int type_create_f90_real(int precision, int range, datatype*& made);
int type_create_f90_complex(int precision, int range, datatype*& made);
int type_match_size(int typeclass, int size, datatype*& found);
int type_get_value_index(datatype& value, datatype& index, datatype*& found);

}  // namespace headway::mpi::calls
