#include "mpi/abi/called_from.hpp"

constinit std::atomic<void (*)(const void*)> headway_called_from{nullptr};
