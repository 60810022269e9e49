// SPDX-License-Identifier: Apache-2.0
#include "results/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace wafervp {
namespace {

constexpr std::size_t kBuffer = 1 << 16;
const std::string kStaged = ".part";  // ends the name of a staged file

[[noreturn]] void fail(const std::string& action, const std::string& path, int code) {
  throw FileError("cannot " + action + ' ' + path + ": " + std::strerror(code), code);
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// Makes the folder and the parents that are missing; the ones made are added to `made`.
void make_folders(const std::string& path, std::vector<std::string>& made) {
  if (is_folder(path)) return;
  const std::size_t slash = path.find_last_of('/');
  if (slash != std::string::npos && slash > 0) make_folders(path.substr(0, slash), made);
  if (::mkdir(path.c_str(), 0777) == 0) {
    made.push_back(path);
  } else if (errno != EEXIST || !is_folder(path)) {
    const int code = errno == EEXIST ? ENOTDIR : errno;
    fail("make the folder", path, code);
  }
}

/// Some file systems cannot sync or lock; that is no reason to refuse them.
bool is_unsupported(int code) {
  return code == EINVAL || code == ENOTSUP || code == EROFS || code == ENOLCK || code == ENOSYS;
}

/// Staged files of a process that was killed.
void remove_leftovers(const std::string& path) {
  DIR* folder = ::opendir(path.c_str());
  if (!folder) return;
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string name = entry->d_name;
    if (name[0] == '.' && name.size() > kStaged.size() &&
        name.compare(name.size() - kStaged.size(), kStaged.size(), kStaged) == 0) {
      names.push_back(name);
    }
  }
  ::closedir(folder);
  for (const std::string& name : names) ::unlink((path + '/' + name).c_str());
}

void sync(int descriptor, const std::string& path) {
  if (::fsync(descriptor) != 0 && !is_unsupported(errno)) fail("write", path, errno);
}

}  // namespace

bool FileError::is_resource() const {
  return code_ == ENOSPC || code_ == EDQUOT || code_ == EIO || code_ == EFBIG || code_ == EMFILE ||
         code_ == ENFILE || code_ == ENOMEM;
}

void Sink::append(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBuffer) flush();
}

void Sink::flush() {
  for (std::size_t done = 0; done < buffer_.size();) {
    const ssize_t n = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      fail("write", path_, errno);
    }
  }
  buffer_.clear();
}

ResultFolder::ResultFolder(std::string path) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  if (path_.empty()) throw FileError("the name of the result folder is empty", ENOENT);
  try {
    open();
  } catch (...) {
    close();
    throw;
  }
}

ResultFolder::~ResultFolder() { close(); }

void ResultFolder::open() {
  make_folders(path_, made_);
  if (::access(path_.c_str(), W_OK | X_OK) != 0) fail("write into the folder", path_, errno);
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) fail("open the folder", path_, errno);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && !is_unsupported(errno)) {
    if (errno == EWOULDBLOCK) throw FileError("the folder " + path_ + " is in use by another run", errno);
    fail("lock the folder", path_, errno);
  }
  remove_leftovers(path_);
}

std::string ResultFolder::staged_path(const std::string& name) const { return path_ + "/." + name + kStaged; }

void ResultFolder::close() {
  for (const Staged& staged : staged_) {
    if (staged.descriptor >= 0) ::close(staged.descriptor);
    ::unlink(staged_path(staged.name).c_str());
  }
  if (descriptor_ >= 0) ::close(descriptor_);
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) {
    if (::rmdir(folder->c_str()) != 0) break;  // not empty: it holds results
  }
}

void ResultFolder::stage(const std::string& name, const std::function<void(Sink&)>& write) {
  const int file = ::open(staged_path(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) fail("write", this->file(name), errno);
  staged_.push_back({name, file});
  Sink sink(file, this->file(name));
  write(sink);
  sink.flush();
}

void ResultFolder::stage(const std::string& name, std::string_view content) {
  stage(name, [content](Sink& sink) { sink.append(content); });
}

void ResultFolder::commit() {
  if (staged_.empty()) return;
  // All are synced here, not as they are staged: the first one carries the others along.
  for (Staged& staged : staged_) {
    sync(staged.descriptor, file(staged.name));
    const int code = ::close(std::exchange(staged.descriptor, -1)) == 0 ? 0 : errno;
    if (code != 0) fail("write", file(staged.name), code);
  }
  remove(staged_.back().name);
  for (const std::string& name : dropped_) remove(name);
  for (const Staged& staged : staged_) {
    if (::rename(staged_path(staged.name).c_str(), file(staged.name).c_str()) != 0) {
      fail("write", file(staged.name), errno);
    }
  }
  // The folder itself is not synced: after a power failure it holds the old names or the new ones.
  staged_.clear();
  dropped_.clear();
}

void ResultFolder::remove(const std::string& name) {
  if (::unlink(file(name).c_str()) != 0 && errno != ENOENT) fail("replace", file(name), errno);
}

std::string read_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail("read", path, errno);
  std::string text;
  char buffer[kBuffer];
  for (;;) {
    const ssize_t n = ::read(file, buffer, sizeof buffer);
    if (n > 0) {
      text.append(buffer, static_cast<std::size_t>(n));
    } else if (n == 0) {
      break;
    } else if (errno != EINTR) {
      const int code = errno;
      ::close(file);
      fail("read", path, code);
    }
  }
  ::close(file);
  return text;
}

}  // namespace wafervp
