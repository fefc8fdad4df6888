#pragma once

/// What the generated entry points (api/fortran_entries.py) convert arguments with.
#include "mpi/fortran/call_origin.hpp"
#include "mpi/fortran/descriptor.hpp"
#include "mpi/fortran/handles.hpp"
#include "mpi/fortran/partitioned_section.hpp"
#include "mpi/fortran/section.hpp"
#include "mpi/fortran/section_copies.hpp"
#include "mpi/fortran/sentinels.hpp"
#include "mpi/fortran/text.hpp"
