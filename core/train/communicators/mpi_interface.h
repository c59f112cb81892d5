#pragma once
#include <cstddef>
#include <cstdint>

/// What libmlopt_mpi.so offers: MPI behind plain functions, so that only the plugin sees mpi.h, and nothing of C++
/// crosses. Each function gives null, or what went wrong.
struct MpiInterface {
  struct World {
    int rank, size;
    char library[256];  ///< "Open MPI v4.1.4"
  };
  enum Type : int { kF32, kF64, kF16, kBF16 };
  /// into[i] += values[i] for `count` halves.
  using Add = void (*)(const void* values, void* into, size_t count);

  const char* (*open)(Add add_f16, Add add_bf16, World* world);
  /// Each begins an operation; `request` is what test() takes.
  const char* (*begin_all_reduce)(void* values, int64_t count, Type type, void** request);
  const char* (*begin_all_gather)(const void* mine, int64_t bytes, void* all, void** request);
  const char* (*begin_broadcast)(void* bytes, int64_t count, void** request);
  /// Whether it has ended; then the request is gone.
  const char* (*test)(void* request, bool* done);
  const char* (*close)();
};
