#include "mpi/abi/recording_hooks.hpp"

constinit std::atomic<void (*)(const void*)> headway_called_from{nullptr};
constinit std::atomic<void* (*)(void*)> headway_exchange_recorder{nullptr};
