#pragma once
#include <cstddef>
#include <cstdint>

namespace mlopt::gpu::slt {

// What is needed of cuSPARSELt's interface, 0.6 or later: cusparselt.cc compares it with the header where there is one.
using Code = int;                                  // cusparseStatus_t; 0: success
constexpr int kHalf = 2, kBFloat16 = 14;           // cudaDataType
constexpr int kColumns = 1, kRows = 2;             // cusparseOrder_t
constexpr int kPlain = 0, kTransposed = 1;         // cusparseOperation_t
constexpr int kInFloat = 2;                        // cusparseComputeType
constexpr int kHalfOfAll = 0, kDefault = 0;        // cusparseLtSparsity_t, cusparseLtMatmulAlg_t
constexpr int kMajor = 0, kMinor = 1, kPatch = 2;  // libraryPropertyType
constexpr uint32_t kAlignment = 16;                // of matrices, in bytes

/// What the library keeps in memory of its caller's: 512 bytes in 0.8, 11 KB before.
struct alignas(16) Described {
  uint8_t bytes[16384];
};

struct Library {
  Code (*property)(int which, int* value) = nullptr;
  Code (*init)(Described*) = nullptr;
  Code (*destroy)(const Described*) = nullptr;
  Code (*dense)(const Described*, Described*, int64_t rows, int64_t columns, int64_t pitch, uint32_t alignment,
                int type, int order) = nullptr;
  Code (*structured)(const Described*, Described*, int64_t rows, int64_t columns, int64_t pitch, uint32_t alignment,
                     int type, int order, int sparsity) = nullptr;
  Code (*destroy_matrix)(const Described*) = nullptr;
  /// (operations and descriptors of a, b, c, d).
  Code (*product)(const Described*, Described*, int, int, const Described*, const Described*, const Described*,
                  const Described*, int compute) = nullptr;
  Code (*select)(const Described*, Described*, const Described*, int algorithm) = nullptr;
  Code (*plan)(const Described*, Described*, const Described* product, const Described* selection) = nullptr;
  Code (*destroy_plan)(const Described*) = nullptr;
  Code (*room)(const Described*, const Described* plan, size_t*) = nullptr;
  Code (*multiply)(const Described*, const Described* plan, const void* alpha, const void* a, const void* b,
                   const void* beta, const void* c, void* d, void* room, void** streams, int32_t count) = nullptr;
  Code (*compressed_size)(const Described*, const Described* matrix, size_t* bytes, size_t* room) = nullptr;
  Code (*compress)(const Described*, const Described* matrix, int is_left, int operation, const void* from, void* to,
                   void* room, void* stream) = nullptr;
  bool ready = false;
};

/// Loaded when first asked for, and kept; not `ready` where it is missing, or older.
const Library& library();

}  // namespace mlopt::gpu::slt
