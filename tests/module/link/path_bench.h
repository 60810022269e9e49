// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "traffic.h"

namespace wafervp::test {

/// Nodes in a row: router k has NPU k, with a source and a sink, and link k leads from it to router k + 1.
struct PathBench {
  PathBench(const std::string& name, const std::vector<LinkConfig>& configs);

  /// Opens the flow from `from` to `to` > `from`; a source sends by the same pair.
  void open(std::uint32_t from, std::uint32_t to);
  void send_at(Time when, const Sending& sending, Stage stage = Stage::kFirmware);
  /// Arrival of message `tag` from `from`, wherever it went; kNever if it has not come.
  Time arrival(std::uint32_t from, std::uint64_t tag) const;
  /// When the last byte of packet `packet` of the flow leaves its first queue, by what the source was told
  /// last.
  Time left(std::uint32_t from, std::uint32_t to, std::uint64_t packet) const;

  Shared shared;
  std::deque<Source> sources;
  std::deque<Sink> sinks;
  std::deque<Router> routers;
  std::deque<Link> links;
};

/// `count` bytes from NPU `from` to NPU `to`.
Sending bytes_between(std::uint32_t from, std::uint32_t to, std::uint64_t count, std::uint64_t tag = 0);

}  // namespace wafervp::test
