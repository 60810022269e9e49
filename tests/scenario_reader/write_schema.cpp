// SPDX-License-Identifier: Apache-2.0
// write_schema FOLDER: writes the files that are generated from the descriptor table.
#include <cstdio>
#include <fstream>
#include <string>

#include "scenario/reader.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_schema FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  bool good = true;
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream file(folder + '/' + name, std::ios::binary);
    file << text;
    good = good && static_cast<bool>(file.flush());
  };
  write("scenario.schema.json", wafervp::scenario_schema().dump(2) + '\n');
  write("study.schema.json", wafervp::study_schema().dump(2) + '\n');
  write("parameters.md",
        "# Members of scenarios and studies\n\nGenerated; do not edit.\n\n" + wafervp::parameter_table());
  if (!good) std::fprintf(stderr, "write_schema: cannot write into %s\n", folder.c_str());
  return good ? 0 : 1;
}
