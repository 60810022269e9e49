// SPDX-License-Identifier: Apache-2.0
#include "cases/product.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cases/reference.h"

namespace fabric_cases {

namespace {

namespace fs = std::filesystem;

/// A folder that is gone at the end of its scope.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name)
      : path_(fs::temp_directory_path() / ("fabric_cases_" + name + "_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::vector<std::uint64_t> product_ends(const std::string& binary, const FabricCase& fabric_case,
                                        const std::string& grain) {
  const ScratchFolder scratch(fabric_case.name + "_" + grain);
  const fs::path scenario = scratch.path() / "scenario.json", out = scratch.path() / "out",
                 log = scratch.path() / "log";
  std::ofstream(scenario) << scenario_json(fabric_case, grain);
  const std::string command = "'" + binary + "' run '" + scenario.string() + "' --quiet --out '" +
                              out.string() + "' > '" + log.string() + "' 2>&1";
  const int status = std::system(command.c_str());
  if (status != 0) {
    throw std::runtime_error(fabric_case.name + ": wait status " + std::to_string(status) + "\n" +
                             text_of(log));
  }
  const auto result = nlohmann::json::parse(text_of(out / "result.json"));
  std::vector<std::uint64_t> ends(fabric_case.npus());
  for (const auto& npu : result.at("npus")) {
    ends.at(npu.at("npu").get<std::size_t>()) = npu.at("end_ps").get<std::uint64_t>();
  }
  return ends;
}

Difference compare(const std::string& binary, const FabricCase& fabric_case, const std::string& grain) {
  const Reference expected = reference(fabric_case);
  if (!expected.finished) throw std::runtime_error(fabric_case.name + ": the reference does not finish");
  const std::vector<std::uint64_t> found = product_ends(binary, fabric_case, grain);
  Difference worst;
  for (std::uint32_t npu = 0; npu < fabric_case.npus(); ++npu) {
    // A program ends when all it receives is here and all it sends has left.
    const ReferenceNpu& at = expected.npus[npu];
    const std::uint64_t end = std::max(at.received_ps, at.departed_ps);
    if (end == 0) continue;
    const double off =
        found[npu] > end ? static_cast<double>(found[npu] - end) : static_cast<double>(end - found[npu]);
    const double share = off / static_cast<double>(end);
    if (share >= worst.share) worst = Difference{share, npu, end, found[npu]};
  }
  return worst;
}

}  // namespace fabric_cases
