// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace sonde {
namespace {

Error system_error(const std::filesystem::path& path, const char* action, int error_number) {
  const ErrorCode code = error_number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  // Not strerror(): its buffer is shared between threads.
  const std::string reason = std::generic_category().message(error_number);
  return {code, "cannot " + std::string(action) + ": " + reason, {.path = path.string(), .byte_offset = {}}};
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a pipe that happens to be called Foo.class must fail below, not wait for a writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return system_error(path, "open", errno);

  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) return system_error(path, "stat", errno);
  if (!S_ISREG(status.st_mode)) {
    return Error{ErrorCode::kInvalidArgument, "not a regular file", {.path = path.string(), .byte_offset = {}}};
  }
  if (status.st_size == 0) return MappedFile(Bytes{});

  const auto size = static_cast<std::size_t>(status.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) return system_error(path, "map", errno);
  return MappedFile(Bytes(static_cast<const std::uint8_t*>(address), size));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

void MappedFile::expect_scattered_reads(std::size_t begin) const {
  if (begin >= bytes_.size()) return;
  madvise(const_cast<std::uint8_t*>(bytes_.data()) + begin, bytes_.size() - begin, MADV_RANDOM);  // advice only
}

}  // namespace sonde
