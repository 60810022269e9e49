// SPDX-License-Identifier: Apache-2.0
// scenario_fuzz FOLDER [--seed N] [--first N] [--mutations N] [--keep DIR [--count N]]
// Sends mutants of the scenarios in FOLDER through reader, validation and topology in this one process. Every
// mutant must be accepted, or refused with a ScenarioError whose faults all have a text. A mutant depends on
// seed and number only, so that --first N --mutations 1 repeats one. --keep writes accepted mutants as files.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "mutator.h"
#include "scenario/reader.h"
#ifdef WAFERVP_FUZZ_TOPOLOGY
#include "topology/topology.h"
#endif

#ifdef __SANITIZE_ADDRESS__
// A refused mutant allocates much and little is to be told of it: short stacks and a small quarantine halve
// the time.
extern "C" const char* __asan_default_options() { return "malloc_context_size=4:quarantine_size_mb=8"; }
#endif

namespace wafervp {
namespace {

struct Options {
  std::string folder, keep;
  std::uint64_t seed = 1, first = 0, mutations = 100000, count = 500;
};
struct Totals {
  std::uint64_t accepted = 0, refused = 0, studies = 0, topologies = 0, kept = 0, faults = 0;
};

class Fuzzer {
 public:
  explicit Fuzzer(const Options& options) : options_(options) {
    namespace fs = std::filesystem;
    for (const auto& entry : fs::recursive_directory_iterator(options.folder)) {
      const bool is_schema = entry.path().parent_path().filename() == "schema";
      if (entry.path().extension() == ".json" && !is_schema) files_.push_back(entry.path().string());
    }
    std::sort(files_.begin(), files_.end());
    std::vector<std::string> texts;
    for (const std::string& path : files_) {
      std::ifstream file(path, std::ios::binary);
      texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    mutator_ = Mutator(std::move(texts));
  }

  bool run() {
    if (files_.empty()) {
      std::fprintf(stderr, "scenario_fuzz: no scenarios in %s\n", options_.folder.c_str());
      return false;
    }
    for (index_ = options_.first; index_ < options_.first + options_.mutations; ++index_) {
      const Mutator::Mutant mutant = mutator_.make(options_.seed, index_);
      const auto begin = std::chrono::steady_clock::now();
      if (!one(mutant)) return false;
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      if (took.count() > 2) return fail(mutant, "took " + std::to_string(took.count()) + " s");
      if ((index_ + 1) % 10000 == 0) {
        std::printf("%llu mutants\n", static_cast<unsigned long long>(index_ + 1));
        std::fflush(stdout);
      }
    }
    std::printf(
        "seed %llu: %llu accepted (%llu studies, %llu topologies built), %llu refused with %llu faults\n",
        number(options_.seed), number(totals_.accepted), number(totals_.studies), number(totals_.topologies),
        number(totals_.refused), number(totals_.faults));
    return true;
  }

 private:
  static unsigned long long number(std::uint64_t value) { return value; }

  bool one(const Mutator::Mutant& mutant) {
    try {
      // A study's base is found beside the file that the mutant was made from.
      const Document document = parse_document(mutant.text, files_[mutant.origin]);
      if (is_study(document)) {
        const Study study = read_study(document);
        ++totals_.studies;
        // read_study has validated all; one of them goes on.
        const Variant& variant = study.variants[index_ % study.variants.size()];
        if (!accepted(variant.document, mutant)) return false;
      } else if (!accepted(document, mutant)) {
        return false;
      }
      ++totals_.accepted;
    } catch (const ScenarioError& error) {
      ++totals_.refused;
      totals_.faults += error.issues().size();
      if (error.issues().empty()) return fail(mutant, "a refusal without a fault");
      for (const Issue& issue : error.issues()) {
        if (issue.text.empty() || issue.file.empty())
          return fail(mutant, "a fault without text or file: " + issue.format());
        for (const char c : issue.format()) {
          if (static_cast<unsigned char>(c) < 0x20)
            return fail(mutant, "a control character in: " + issue.format());
        }
      }
    } catch (const std::exception& error) {
      return fail(mutant, std::string("another exception: ") + error.what());
    }
    return true;
  }

  bool accepted(const Document& document, const Mutator::Mutant& mutant) {
    const Scenario scenario = read_scenario(document);
    if (index_ % 16 == 0) {
      const Json effective = effective_json(scenario);
      const Document again = parse_document(effective.dump(), "effective.json");
      if (effective_json(read_scenario(again)) != effective)
        return fail(mutant, "the effective scenario reads otherwise");
    }
#ifdef WAFERVP_FUZZ_TOPOLOGY
    // Larger wafers only take longer.
    if (scenario.wafer.npus <= 1024) {
      try {
        if (build_topology(scenario.wafer).npus != scenario.wafer.npus)
          return fail(mutant, "the topology has other NPUs");
      } catch (const ScenarioError& error) {
        // What only the graph shows, such as a cycle of channels: told with its place, as the program does.
        throw ScenarioError(locate(document, error.issues()));
      }
      ++totals_.topologies;
    }
#endif
    if (!options_.keep.empty() && totals_.kept < options_.count) keep(document);
    return true;
  }

  void keep(const Document& document) {
    std::filesystem::create_directories(options_.keep);
    char name[32];
    std::snprintf(name, sizeof name, "mutant_%05llu.json", number(totals_.kept++));
    std::ofstream(std::filesystem::path(options_.keep) / name) << document.value.dump(1) << '\n';
  }

  bool fail(const Mutator::Mutant& mutant, const std::string& what) const {
    std::fprintf(stderr, "scenario_fuzz: seed %llu, mutant %llu of %s: %s\n%s\n", number(options_.seed),
                 number(index_), files_[mutant.origin].c_str(), what.c_str(), mutant.text.c_str());
    return false;
  }

  Options options_;
  std::vector<std::string> files_;
  Mutator mutator_{{}};
  Totals totals_;
  std::uint64_t index_ = 0;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.compare(0, 2, "--") != 0) {
      options.folder = word;
      continue;
    }
    if (++i == argc) return false;
    const std::uint64_t value = std::strtoull(argv[i], nullptr, 10);
    if (word == "--seed") {
      options.seed = value;
    } else if (word == "--first") {
      options.first = value;
    } else if (word == "--mutations") {
      options.mutations = value;
    } else if (word == "--count") {
      options.count = value;
    } else if (word == "--keep") {
      options.keep = argv[i];
    } else {
      return false;
    }
  }
  return !options.folder.empty();
}

}  // namespace
}  // namespace wafervp

int main(int argc, char** argv) {
  wafervp::Options options;
  if (!wafervp::parse(argc, argv, options)) {
    std::fprintf(
        stderr,
        "usage: scenario_fuzz FOLDER [--seed N] [--first N] [--mutations N] [--keep DIR [--count N]]\n");
    return 2;
  }
  return wafervp::Fuzzer(options).run() ? 0 : 1;
}
