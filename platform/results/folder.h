// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace wafervp {

/// A file or folder that cannot be made, written or read; the message names it and the reason.
class FileError : public std::runtime_error {
 public:
  FileError(const std::string& what, int code) : std::runtime_error(what), code_(code) {}
  int code() const { return code_; }  ///< errno
  /// The disk is full, over quota or broken, rather than the path being a wrong one.
  bool is_resource() const;

 private:
  int code_;
};

/// Where the text of a file goes, piece by piece; buffered.
class Sink {
 public:
  explicit Sink(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  void append(std::string_view text);
  void flush();

 private:
  int descriptor_;
  std::string path_;
  std::string buffer_;
};

/// A folder of result files, held by one process at a time. Files are staged under hidden names in the
/// folder and take their own names together in commit(), so that a folder holds whole files or none; the
/// file staged last goes first and comes last, so that where it is, the others belong to it.
class ResultFolder {
 public:
  /// Makes the folder and its parents where missing, and locks it. Throws FileError.
  explicit ResultFolder(std::string path);
  /// Takes back what was staged and not committed, and the folder if it was made here and is empty.
  ~ResultFolder();
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + '/' + name; }

  /// Writes a whole file under a hidden name. Throws FileError.
  void stage(const std::string& name, const std::function<void(Sink&)>& write);
  void stage(const std::string& name, std::string_view content);
  /// A file of an earlier run that this one does not make: gone after commit().
  void drop(const std::string& name) { dropped_.push_back(name); }
  void commit();
  /// Removes a file at once, if it is there.
  void remove(const std::string& name);

 private:
  struct Staged {
    std::string name;
    int descriptor;
  };
  void open();
  void close();
  std::string staged_path(const std::string& name) const;

  std::string path_;
  std::vector<std::string> made_;  // folders that were made here, outermost first
  int descriptor_ = -1;
  std::vector<Staged> staged_;
  std::vector<std::string> dropped_;
};

/// The whole file. Throws FileError.
std::string read_file(const std::string& path);

}  // namespace wafervp
