// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "scenario/reader.h"

namespace wafervp {

/// A smallest scenario, with `wafer` and `workload` as the inside of these objects.
inline std::string scenario_text(const std::string& fabric = R"("kind": "ring")",
                                 const std::string& workload = R"("kind": "collective")", int npus = 4) {
  return R"({"version": 1, "wafer": {"npus": )" + std::to_string(npus) + R"(, "fabric": {)" + fabric +
         R"(}}, "workload": {)" + workload + "}}";
}

/// Faults of a text, empty when it is accepted.
inline std::vector<Issue> faults_of(const std::string& text, std::vector<Issue>* warnings = nullptr) {
  try {
    const Document document = parse_document(text, "test.json");
    if (is_study(document)) {
      read_study(document);
    } else {
      read_scenario(document, warnings);
    }
  } catch (const ScenarioError& error) {
    return error.issues();
  }
  return {};
}

/// The whole message, empty when the text is accepted.
inline std::string message_of(const std::string& text) {
  try {
    const Document document = parse_document(text, "test.json");
    if (is_study(document)) {
      read_study(document);
    } else {
      read_scenario(document);
    }
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return {};
}

/// A folder that is gone after the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "wafervp_reader_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_message(const std::string& path, const std::vector<Override>& overrides = {}) {
  try {
    const Document document = read_document(path, overrides);
    if (is_study(document)) {
      read_study(document);
    } else {
      read_scenario(document);
    }
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return {};
}

}  // namespace wafervp
