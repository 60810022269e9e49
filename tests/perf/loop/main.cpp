// SPDX-License-Identifier: Apache-2.0
// perf_loop KIND key=value ...: a collective in a plain C++ loop, with the runs, credits and dependencies of
// the product and without TLM, HAL, firmware, statistics and front end. Prints one line of JSON.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>

#include "loop/fabric.h"
#include "loop/ranks.h"

namespace perf_loop {
namespace {

class Options {
 public:
  Options(int argc, char** argv) {
    for (int i = 2; i < argc; ++i) {
      const std::string text = argv[i];
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos) throw std::invalid_argument("expected key=value, found " + text);
      values_[text.substr(0, equals)] = std::strtoull(text.c_str() + equals + 1, nullptr, 10);
    }
  }
  std::uint64_t get(const std::string& key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) throw std::invalid_argument("missing " + key + "=");
    return found->second;
  }
  std::uint32_t get32(const std::string& key) const { return static_cast<std::uint32_t>(get(key)); }

 private:
  std::map<std::string, std::uint64_t> values_;
};

struct Outcome {
  Time time = 0;
  bool finished = false;
};

/// Ring of `npus`, one direction; `chunks` pieces of `bytes`, `active` in flight (0: all); step_ps.
Outcome ring(Fabric& fabric, const Options& options) {
  const std::uint32_t n = options.get32("npus"), chunks = options.get32("chunks");
  std::vector<std::uint32_t> flows;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t link = fabric.add_link(options.get("rate"), options.get("latency_ps"));
    flows.push_back(fabric.add_flow({link}, i, (i + 1) % n));
  }
  fabric.finish();
  const std::uint64_t share = options.get("bytes") / n / chunks;
  const std::vector<ChunkPlan> plans(chunks, ChunkPlan{{Phase{2 * (n - 1), share, 0}}});
  Ranks ranks(fabric, {flows}, plans, options.get32("active"), options.get("step_ps"));
  const Time time = ranks.run();
  return {time, ranks.finished() == n};
}

/// Links of a mesh without wrap-around, and routes that go x first.
class Mesh {
 public:
  Mesh(Fabric& fabric, std::uint32_t columns, std::uint32_t rows, std::uint64_t rate, Time latency)
      : columns_(columns), rows_(rows), links_(std::size_t{columns} * rows * 4) {
    for (std::uint32_t y = 0; y < rows; ++y) {
      for (std::uint32_t x = 0; x < columns; ++x) {
        for (std::uint32_t side = 0; side < 4; ++side) {
          const bool there = side == 0   ? x + 1 < columns
                             : side == 1 ? x > 0
                             : side == 2 ? y + 1 < rows
                                         : y > 0;
          if (there) links_[(y * columns + x) * 4 + side] = fabric.add_link(rate, latency);
        }
      }
    }
  }
  std::vector<std::uint32_t> route(std::uint32_t from, std::uint32_t to) const {
    std::vector<std::uint32_t> path;
    std::uint32_t x = from % columns_, y = from / columns_;
    const std::uint32_t to_x = to % columns_, to_y = to / columns_;
    while (x != to_x) path.push_back(x < to_x ? link(x++, y, 0) : link(x--, y, 1));
    while (y != to_y) path.push_back(y < to_y ? link(x, y++, 2) : link(x, y--, 3));
    return path;
  }

 private:
  std::uint32_t link(std::uint32_t x, std::uint32_t y, std::uint32_t side) const {
    return links_[(y * columns_ + x) * 4 + side];
  }
  std::uint32_t columns_, rows_;
  std::vector<std::uint32_t> links_;
};

/// All-reduce of all NPUs in two dimensions: `chunks_x` chunks reduce-scatter in x first, `chunks_y` in y
/// first; all are in flight. Chunks of the two kinds enter in turns.
Outcome hierarchical(Fabric& fabric, const Options& options) {
  const std::uint32_t w = options.get32("columns"), h = options.get32("rows");
  const std::uint32_t chunks_x = options.get32("chunks_x"), chunks_y = options.get32("chunks_y");
  const Mesh mesh(fabric, w, h, options.get("rate"), options.get("latency_ps"));
  std::vector<std::vector<std::uint32_t>> flows(2);
  for (std::uint32_t n = 0; n < w * h; ++n) {
    const std::uint32_t x = n % w, y = n / w;
    const std::uint32_t in_row = y * w + (x + 1) % w, in_column = (y + 1) % h * w + x;
    flows[0].push_back(fabric.add_flow(mesh.route(n, in_row), n, in_row));
    flows[1].push_back(fabric.add_flow(mesh.route(n, in_column), n, in_column));
  }
  fabric.finish();
  const std::uint64_t chunk = options.get("bytes") / (chunks_x + chunks_y);
  const std::uint64_t shared = chunk / w / h;
  const ChunkPlan x_first{{{w - 1, chunk / w, 0}, {2 * (h - 1), shared, 1}, {w - 1, chunk / w, 0}}};
  const ChunkPlan y_first{{{h - 1, chunk / h, 1}, {2 * (w - 1), shared, 0}, {h - 1, chunk / h, 1}}};
  std::vector<ChunkPlan> plans;
  for (std::uint32_t i = 0; i < std::max(chunks_x, chunks_y); ++i) {
    if (i < chunks_x) plans.push_back(x_first);
    if (i < chunks_y) plans.push_back(y_first);
  }
  Ranks ranks(fabric, flows, plans, 0, options.get("step_ps"));
  const Time time = ranks.run();
  return {time, ranks.finished() == w * h};
}

/// Each NPU of a mesh sends bytes / npus to each other one, nearest following number first, all at time 0.
Outcome all_to_all(Fabric& fabric, const Options& options) {
  const std::uint32_t w = options.get32("columns"), h = options.get32("rows"), n = w * h;
  const Mesh mesh(fabric, w, h, options.get("rate"), options.get("latency_ps"));
  std::vector<std::uint32_t> flows;
  for (std::uint32_t from = 0; from < n; ++from) {
    for (std::uint32_t i = 1; i < n; ++i) {
      const std::uint32_t to = (from + i) % n;
      flows.push_back(fabric.add_flow(mesh.route(from, to), from, to));
    }
  }
  fabric.finish();
  const Time step = options.get("step_ps");
  for (std::size_t i = 0; i < flows.size(); ++i) {
    fabric.inject(flows[i], options.get("bytes") / n, 0, (1 + i % (n - 1)) * step);
  }
  std::size_t delivered = 0;
  fabric.run([&](const Message&) { ++delivered; });
  return {fabric.now() + step, delivered == flows.size()};
}

int run(int argc, char** argv) {
  if (argc < 2) throw std::invalid_argument("usage: perf_loop ring|hierarchical|all_to_all key=value ...");
  const std::string kind = argv[1];
  const Options options(argc, argv);
  Fabric fabric;
  Outcome outcome;
  if (kind == "ring") {
    outcome = ring(fabric, options);
  } else if (kind == "hierarchical") {
    outcome = hierarchical(fabric, options);
  } else if (kind == "all_to_all") {
    outcome = all_to_all(fabric, options);
  } else {
    throw std::invalid_argument("no such kind: " + kind);
  }
  std::printf(
      "{\"time_ps\": %llu, \"runs\": %llu, \"events\": %llu, \"finished\": %s, \"credit_misses\": %llu}\n",
      static_cast<unsigned long long>(outcome.time), static_cast<unsigned long long>(fabric.runs()),
      static_cast<unsigned long long>(fabric.events()), outcome.finished ? "true" : "false",
      static_cast<unsigned long long>(fabric.credit_misses()));
  return outcome.finished && fabric.credit_misses() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace perf_loop

int main(int argc, char** argv) {
  try {
    return perf_loop::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "perf_loop: %s\n", error.what());
    return 2;
  }
}
