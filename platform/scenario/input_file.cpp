// SPDX-License-Identifier: Apache-2.0
#include "scenario/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "scenario/errors.h"
#include "scenario/json_parser.h"
#include "scenario/text.h"

namespace wafervp {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, std::string text) {
  throw ScenarioError({{escape(path), 0, 0, "", std::move(text)}});
}

std::vector<std::string> names_in(const fs::path& folder, bool json_only) {
  constexpr std::size_t kMaxNames = 10000;
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator it(folder.empty() ? fs::path(".") : folder, error);
  for (; !error && it != fs::directory_iterator() && names.size() < kMaxNames; it.increment(error)) {
    if (!json_only || it->path().extension() == ".json") names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

[[noreturn]] void refuse_missing(const std::string& path) {
  const fs::path typed(path);
  std::error_code error;
  const fs::path full = fs::absolute(typed, error);
  std::string text = "no such file (" + escape(error ? path : full.lexically_normal().string()) + ")";
  const fs::path folder = typed.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    text += "; the folder " + escape(folder.string()) + " does not exist";
  } else {
    const std::string near = nearest_word(typed.filename().string(), names_in(folder, false));
    if (!near.empty()) text += "; did you mean " + escape((folder / near).string()) + "?";
  }
  refuse(path, text);
}

[[noreturn]] void refuse_directory(const std::string& path) {
  const std::vector<std::string> names = names_in(path, true);
  std::string text = "is a directory, expected a file; ";
  text += names.empty() ? "it holds no JSON file" : "JSON files inside: " + escape(join_words(names, 5));
  refuse(path, text);
}

}  // namespace

std::string empty_file_text() {
  return "file is empty; a minimal scenario is {\"version\": 1, \"wafer\": {\"npus\": 4, \"fabric\": "
         "{\"kind\": "
         "\"ring\"}}, \"workload\": {\"kind\": \"collective\"}} (scenarios/examples/ring.json)";
}

std::string read_input_file(const std::string& path) {
  if (path.empty()) refuse("\"\"", "expected a file name");
  std::error_code error;
  if (path != "-") {
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found || path.find('\0') != std::string::npos)
      refuse_missing(path);
    if (status.type() == fs::file_type::directory) refuse_directory(path);
  }
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };
  const std::unique_ptr<std::FILE, Close> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  std::string bytes;
  char buffer[65536];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get())) {
    bytes.append(buffer, got);
    if (bytes.size() > kMaxFileBytes) {
      refuse(path, "larger than " + std::to_string(kMaxFileBytes >> 20) + " MiB, which no scenario needs");
    }
  }
  if (std::ferror(file.get())) refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  if (bytes.find_first_not_of(" \t\r\n") == std::string::npos) refuse(path, empty_file_text());
  return bytes;
}

}  // namespace wafervp
