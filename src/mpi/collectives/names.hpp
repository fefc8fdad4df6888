#pragma once

#include <string>

#include "messages/operation_log.hpp"
#include "mpi/communicators/communicator.hpp"

namespace headway::mpi {

/// A rank of `communicator::everybody` in words.
[[nodiscard]] std::string name_of(const communicator& comm, int rank);
/// Which two calls of which ranks broke the log of the communicator's operations.
[[nodiscard]] std::string text_of_misfit(const communicator& comm,
                                         const messages::operation_log& broken);

}  // namespace headway::mpi
