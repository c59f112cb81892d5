// NCCL adds up over GPUs where it is installed. What is needed of its interface, which is fixed, is declared here, so
// that it is needed neither to build nor to start. Nothing here knows of CUDA: tests bring a library of their own.
#include <mutex>

#include "backends/gpu/cuda/opened.h"
#include "backends/gpu/ring.h"

namespace mlopt::gpu {
namespace {

using Handle = void*;
using Code = int;  // ncclResult_t; 0: success
constexpr int kSum = 0, kFloat16 = 6, kFloat32 = 7, kBFloat16 = 9;
constexpr Status kMissing = "NCCL (libnccl.so.2) is missing";

struct Nccl {
  Code (*version)(int*) = nullptr;
  Code (*unique_id)(RingId*) = nullptr;
  Code (*init)(Handle*, int ranks, RingId, int rank) = nullptr;
  Code (*destroy)(Handle) = nullptr;
  Code (*begin_group)() = nullptr;
  Code (*end_group)() = nullptr;
  Code (*all_reduce)(const void*, void*, size_t, int type, int op, Handle, void* stream) = nullptr;
  const char* (*error)(Code) = nullptr;
  bool ready = false;

  void open() {
    const Opened library("libnccl.so.2");
    if (!library) return;
    const auto find = [&](const char* name, auto& function) { return library.find(name, function); };
    ready = find("ncclGetVersion", version) && find("ncclGetUniqueId", unique_id) && find("ncclCommInitRank", init) &&
            find("ncclCommDestroy", destroy) && find("ncclGroupStart", begin_group) &&
            find("ncclGroupEnd", end_group) && find("ncclAllReduce", all_reduce) && find("ncclGetErrorString", error);
  }
};

/// Loaded when first asked for, and kept.
const Nccl& nccl() {
  static std::mutex mutex;
  static Nccl loaded;
  const std::lock_guard lock(mutex);
  if (!loaded.ready) loaded.open();
  return loaded;
}

Status in_words(const Nccl& n, Code code) { return code == 0 ? nullptr : n.error(code); }

}  // namespace

struct Ring {
  Handle handle;
};

int ring_version() {
  int version = 0;
  const Nccl& n = nccl();
  return n.ready && n.version(&version) == 0 ? version : 0;
}

Status new_ring(RingId* id) {
  const Nccl& n = nccl();
  return n.ready ? in_words(n, n.unique_id(id)) : kMissing;
}

Status join(int device, int rank, int ranks, const RingId* id, Ring** ring) {
  const Nccl& n = nccl();
  if (!n.ready) return kMissing;
  if (const Status failed = use_device(device)) return failed;
  Handle handle = nullptr;
  if (const Status failed = in_words(n, n.init(&handle, ranks, *id, rank))) return failed;
  *ring = new Ring{handle};
  return nullptr;
}

void leave(Ring* ring) {
  nccl().destroy(ring->handle);
  delete ring;
}

Status add_up(Ring* ring, Queue* queue, const RingPart* parts, int64_t count) {
  const Nccl& n = nccl();
  void* stream = stream_handle(*queue);
  if (const Status failed = in_words(n, n.begin_group())) return failed;
  Code code = 0;
  for (int64_t i = 0; i < count && code == 0; ++i) {
    const RingPart& part = parts[i];
    const int type = part.type == Elem::kF16 ? kFloat16 : part.type == Elem::kBF16 ? kBFloat16 : kFloat32;
    code = n.all_reduce(part.values, part.values, static_cast<size_t>(part.count), type, kSum, ring->handle, stream);
  }
  const Code ended = n.end_group();
  return in_words(n, code != 0 ? code : ended);
}

}  // namespace mlopt::gpu
