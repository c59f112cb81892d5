// MPI behind the functions of core/train/communicators/mpi_interface.h. One thread at a time calls them.

#include "core/exec/plugin.h"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "core/train/communicators/mpi_interface.h"
#include "mlopt_build.h"

namespace {

// What MPI calls back has no argument for data of ours, and there is one world in a process.
MPI_Comm world = MPI_COMM_NULL;
MPI_Datatype half_types[2];
MPI_Op half_sums[2];
MpiInterface::Add half_adds[2];

const char* in_words(int code) {
  static char text[MPI_MAX_ERROR_STRING];
  if (code == MPI_SUCCESS) return nullptr;
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return "an error without a description";
  return text;
}

/// Modules that the library opens look for its symbols among those that all may see, and it was opened with ours.
void make_library_global() {
  Dl_info info;
  if (::dladdr(reinterpret_cast<void*>(&MPI_Init_thread), &info) && info.dli_fname)
    ::dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

template <int kType>
void add_halves(void* values, void* into, int* count, MPI_Datatype*) {
  half_adds[kType](values, into, static_cast<size_t>(*count));
}

const char* make_half_types(MpiInterface::Add add_f16, MpiInterface::Add add_bf16) {
  half_adds[0] = add_f16;
  half_adds[1] = add_bf16;
  MPI_User_function* const sums[] = {add_halves<0>, add_halves<1>};
  for (int i = 0; i < 2; ++i) {
    int failed = MPI_Type_contiguous(2, MPI_BYTE, &half_types[i]);
    if (!failed) failed = MPI_Type_commit(&half_types[i]);
    if (!failed) failed = MPI_Op_create(sums[i], 1, &half_sums[i]);
    if (failed) return in_words(failed);
  }
  return nullptr;
}

/// "Open MPI v4.1.4", of a description that goes on.
void name_library(char* name, size_t size) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  text[std::strcspn(text, ",\n")] = '\0';
  std::snprintf(name, size, "%s", text);
}

const char* open(MpiInterface::Add add_f16, MpiInterface::Add add_bf16, MpiInterface::World* out) {
  make_library_global();
  int provided = 0;
  if (const int failed = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided)) return in_words(failed);
  if (provided < MPI_THREAD_SERIALIZED) return "the library was built without threads";
  if (const int failed = MPI_Comm_dup(MPI_COMM_WORLD, &world)) return in_words(failed);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world, &out->rank);
  MPI_Comm_size(world, &out->size);
  name_library(out->library, sizeof out->library);
  return make_half_types(add_f16, add_bf16);
}

constexpr const char* kTooLarge = "more than 2^31 - 1 elements at once";
bool too_large(int64_t count) { return count > std::numeric_limits<int>::max(); }

/// The parts of one operation.
using Requests = std::vector<MPI_Request>;

/// The library makes a buffer for each operation; those of large ones the system would take back and clear each time.
constexpr int64_t kAtOnce = 1 << 20;

/// Begins an operation on so many elements in parts of at most `most`, by begin(first, count, request).
template <class Begin>
const char* in_parts(int64_t count, int64_t most, void** request, const Begin& begin) {
  auto* made = new Requests;
  *request = made;
  for (int64_t at = 0; at < count; at += most)
    if (const int failed = begin(at, static_cast<int>(std::min(most, count - at)), &made->emplace_back()))
      return in_words(failed);
  return nullptr;
}

const char* begin_all_reduce(void* values, int64_t count, MpiInterface::Type type, void** request) {
  struct {
    MPI_Datatype type;
    MPI_Op sum;
    int64_t bytes;
  } const as[] = {{MPI_FLOAT, MPI_SUM, 4},
                  {MPI_DOUBLE, MPI_SUM, 8},
                  {half_types[0], half_sums[0], 2},
                  {half_types[1], half_sums[1], 2}};
  const auto how = as[type];
  return in_parts(count, kAtOnce, request, [&](int64_t at, int part, MPI_Request* made) {
    return MPI_Iallreduce(MPI_IN_PLACE, static_cast<std::byte*>(values) + at * how.bytes, part, how.type, how.sum,
                          world, made);
  });
}

const char* begin_all_gather(const void* mine, int64_t bytes, void* all, void** request) {
  if (too_large(bytes)) return kTooLarge;
  auto* made = new Requests(1);
  *request = made;
  const int n = static_cast<int>(bytes);
  return in_words(MPI_Iallgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, world, made->data()));
}

const char* begin_broadcast(void* bytes, int64_t count, void** request) {
  constexpr int64_t kMost = int64_t{1} << 30;  // the library counts in int
  return in_parts(count, kMost, request, [&](int64_t at, int part, MPI_Request* made) {
    return MPI_Ibcast(static_cast<std::byte*>(bytes) + at, part, MPI_BYTE, 0, world, made);
  });
}

const char* test(void* request, bool* done) {
  auto* pending = static_cast<Requests*>(request);
  int ended = 0;
  const int failed = MPI_Testall(static_cast<int>(pending->size()), pending->data(), &ended, MPI_STATUSES_IGNORE);
  *done = ended != 0;
  if (ended) delete pending;
  return in_words(failed);
}

const char* close() { return in_words(MPI_Finalize()); }

constexpr MpiInterface kMpi{open, begin_all_reduce, begin_all_gather, begin_broadcast, test, close};
constexpr mlopt::Plugin kPlugin{.build_id = MLOPT_BUILD_ID, .mpi = &kMpi};

}  // namespace

extern "C" MLOPT_API const mlopt::Plugin* mlopt_plugin() { return &kPlugin; }
