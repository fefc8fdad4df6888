#pragma once

#include <mpi.h>

#include "mpi/collectives/operation.hpp"
#include "mpi/datatypes/datatype.hpp"
#include "mpi/one_sided/window.hpp"
#include "mpi/point_to_point/request.hpp"

/// MPI-5.0 section 12.3: the operations. Handles and counts are good; ranks, displacements, epochs
/// and what belongs together are checked here.
namespace headway::mpi::calls {

int put(const void* origin_addr, MPI_Count origin_count, datatype& origin_datatype, int target_rank,
        MPI_Aint target_disp, MPI_Count target_count, datatype& target_datatype, window& win);
int get(void* origin_addr, MPI_Count origin_count, datatype& origin_datatype, int target_rank,
        MPI_Aint target_disp, MPI_Count target_count, datatype& target_datatype, window& win);
int accumulate(const void* origin_addr, MPI_Count origin_count, datatype& origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               datatype& target_datatype, operation& op, window& win);
int get_accumulate(const void* origin_addr, MPI_Count origin_count, datatype& origin_datatype,
                   void* result_addr, MPI_Count result_count, datatype& result_datatype,
                   int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                   datatype& target_datatype, operation& op, window& win);
int fetch_and_op(const void* origin_addr, void* result_addr, datatype& type, int target_rank,
                 MPI_Aint target_disp, operation& op, window& win);
int compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr,
                     datatype& type, int target_rank, MPI_Aint target_disp, window& win);

int rput(const void* origin_addr, MPI_Count origin_count, datatype& origin_datatype,
         int target_rank, MPI_Aint target_disp, MPI_Count target_count, datatype& target_datatype,
         window& win, request*& r);
int rget(void* origin_addr, MPI_Count origin_count, datatype& origin_datatype, int target_rank,
         MPI_Aint target_disp, MPI_Count target_count, datatype& target_datatype, window& win,
         request*& r);
int raccumulate(const void* origin_addr, MPI_Count origin_count, datatype& origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                datatype& target_datatype, operation& op, window& win, request*& r);
int rget_accumulate(const void* origin_addr, MPI_Count origin_count, datatype& origin_datatype,
                    void* result_addr, MPI_Count result_count, datatype& result_datatype,
                    int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                    datatype& target_datatype, operation& op, window& win, request*& r);

}  // namespace headway::mpi::calls
