#include "distill/cache.h"

#include <fmt/core.h>

#include <cstring>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/data/array_file.h"
#include "core/data/gather.h"
#include "core/tensor/cast.h"

namespace mlopt::distill {
namespace {

class CachedData : public Dataset {
 public:
  CachedData(std::unique_ptr<Dataset> data, std::vector<ArrayFile> files)
      : data_(std::move(data)), files_(std::move(files)) {}

  int64_t size() const override { return data_->size(); }
  int64_t batch_size() const override { return data_->batch_size(); }
  bool labelled() const override { return data_->labelled(); }
  std::string name_of(int64_t i) const override { return data_->name_of(i); }
  Batch batch(int64_t first, int64_t count) const override {
    Batch batch = data_->batch(first, count);
    for (const ArrayFile& file : files_) batch.inputs.emplace_back(rows(file, first, count));
    return batch;
  }

 private:
  static Tensor rows(const ArrayFile& file, int64_t first, int64_t count) {
    Dims dims = file.dims();
    dims[0] = count;
    Tensor all(file.dtype(), dims);
    std::byte* to = all.mutable_raw();
    for (int64_t i = 0; i < count; ++i) {
      const Tensor row = file.row(first + i);
      std::memcpy(to, row.raw(), row.bytes());
      to += row.bytes();
    }
    return all;
  }

  std::unique_ptr<Dataset> data_;
  std::vector<ArrayFile> files_;
};

void add(Hash& hash, const std::string& text) {
  const std::string ended = text + '\n';
  hash.add(std::as_bytes(std::span(ended)));
}

/// What the samples are: the same spec may have come to mean other data.
std::string fingerprint(const Dataset& data) {
  Hash hash;
  for (int64_t i = 0; i < data.size(); ++i) {
    add(hash, data.name_of(i));
    for (const Datum& input : data.batch(i, 1).inputs) hash.add({input.tensor().raw(), input.tensor().bytes()});
  }
  return hash.digest();
}

/// Where what a teacher gives at a tap is kept.
std::string path_of(const CacheSettings& settings, const std::string& samples, int64_t size, size_t teacher,
                    const std::string& tap) {
  Hash hash;
  add(hash, settings.models.at(teacher));
  for (const std::string* text : {&tap, &settings.data, &samples}) add(hash, *text);
  add(hash, std::to_string(size));
  const std::string digest = hash.digest();
  return (std::filesystem::path(settings.folder) / (digest.substr(digest.find(':') + 1) + ".npy")).string();
}

void require_rows(const Teacher& teacher, const std::string& tap) {
  const Type& type = teacher.model.graph->find(tap)->type;
  const Type& input = teacher.model.graph->inputs().at(0)->type;
  const auto rows = type.static_dims(), samples = input.static_dims();
  if (rows && samples && !rows->empty() && rows->at(0) == samples->at(0)) return;
  input_error(fmt::format("the teacher's '{}' {} has no row for each sample", tap, to_string(type)), "--cache-teacher",
              "leave it out, or match other tensors");
}

/// What one teacher gives for all samples, written as it comes.
class Writer {
 public:
  Writer(const Teacher& teacher, const Dataset& data, Backend& backend, const CacheSettings& settings)
      : teacher_(teacher), data_(data), settings_(settings), plan_(backend.compile(teacher.model, settings.options)) {}

  void write(const std::vector<std::string>& paths) {
    std::vector<std::unique_ptr<AtomicFile>> files;
    const int64_t portion = Dims(*teacher_.model.graph->inputs()[0]->type.static_dims())[0];
    for (int64_t first = 0; first < data_.size(); first += portion) {
      const int64_t count = std::min(portion, data_.size() - first);
      const std::vector<Datum> outputs = run(first, portion);
      for (size_t k = 0; k < paths.size(); ++k) {
        const Tensor rows = npy_storable(outputs[k].tensor());
        if (first == 0) files.push_back(begin(paths[k], rows));
        files[k]->write({rows.raw(), rows.bytes() / static_cast<size_t>(portion) * static_cast<size_t>(count)});
      }
      if (settings_.progress) settings_.progress(first + count);
    }
    for (const auto& file : files) file->commit();
  }

 private:
  /// Samples beyond the last repeat it: plans take one number of samples.
  std::vector<Datum> run(int64_t first, int64_t portion) {
    std::vector<int64_t> which;
    for (int64_t i = 0; i < portion; ++i) which.push_back(std::min(first + i, data_.size() - 1));
    Batch batch = gather(data_, which);
    std::vector<Datum> inputs;
    for (size_t i = 0; i < teacher_.inputs.size(); ++i)
      inputs.emplace_back(
          cast(batch.inputs.at(teacher_.inputs[i]).tensor(), teacher_.model.graph->inputs().at(i)->type.dtype));
    return plan_->run(inputs);
  }

  std::unique_ptr<AtomicFile> begin(const std::string& path, const Tensor& rows) const {
    Dims dims = rows.dims();
    dims[0] = data_.size();
    auto file = std::make_unique<AtomicFile>(path);
    file->write(npy_header(rows.dtype(), dims));
    return file;
  }

  const Teacher& teacher_;
  const Dataset& data_;
  const CacheSettings& settings_;
  std::unique_ptr<Executable> plan_;
};

}  // namespace

std::unique_ptr<Dataset> with_cached_teachers(std::unique_ptr<Dataset> data, const Wiring& wiring, Backend& backend,
                                              const CacheSettings& settings) {
  std::error_code failed;
  std::filesystem::create_directories(settings.folder, failed);
  if (failed) input_error(failed.message(), settings.folder, "name a folder that can be written");
  const std::string samples = fingerprint(*data);
  std::vector<ArrayFile> files;
  for (size_t t = 0; t < wiring.teachers.size(); ++t) {
    const Teacher& teacher = wiring.teachers[t];
    std::vector<std::string> paths;
    bool all = true;
    for (const std::string& tap : teacher.taps) {
      require_rows(teacher, tap);
      paths.push_back(path_of(settings, samples, data->size(), t, tap));
      all = all && std::filesystem::exists(paths.back());
    }
    if (!all) Writer(teacher, *data, backend, settings).write(paths);
    for (const std::string& path : paths) files.push_back(open_npy(path));
  }
  return std::make_unique<CachedData>(std::move(data), std::move(files));
}

}  // namespace mlopt::distill
