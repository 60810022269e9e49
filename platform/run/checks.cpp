// SPDX-License-Identifier: Apache-2.0
#include "run/checks.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace wafervp {

void check_promises(Wafer& wafer, const Topology& topology, Results& results) {
  std::vector<std::string> failures;
  if (wafer.messages().outstanding() != 0) {
    failures.push_back(
        fmt::format("{} messages are still in flight at the end", wafer.messages().outstanding()));
  }
  std::uint64_t sent = 0, received = 0;
  for (const NpuResult& npu : results.npus) {
    sent += npu.sent_bytes;
    received += npu.received_bytes;
    if (!wafer.accelerator(NpuId(npu.npu)).idle()) {
      failures.push_back(fmt::format("NPU {} has work left in its message engine", npu.npu));
    }
  }
  for (const IoResult& io : results.io_controllers) {
    if (!wafer.accelerator(NpuId(topology.npus + io.io)).idle()) {
      failures.push_back(fmt::format("I/O controller {} has work left in its message engine", io.io));
    }
  }
  // Sums and copies inside switches change the amount on the way.
  if (!topology.in_network && topology.io.empty() && sent != received) {
    failures.push_back(fmt::format("{} bytes were sent and {} received", sent, received));
  }
  for (std::size_t k = 0; k < results.links.size(); ++k) {
    const LinkResult& link = results.links[k];
    if (Rate(link.bytes_per_s).ps(link.bytes) > results.time_ps) {
      failures.push_back(fmt::format("link {} carried {} bytes in {} ps, more than its rate allows",
                                     link.name, link.bytes, results.time_ps));
    }
  }
  for (const CollectiveResult& collective : results.collectives) {
    if (collective.min_ps < collective.bound_ps) {
      failures.push_back(fmt::format("{} of {} bytes on {} took {} ps, less than the bound of {} ps",
                                     collective.operation, collective.bytes, collective.communicator,
                                     collective.min_ps, collective.bound_ps));
    }
  }
  if (failures.empty()) return;
  results.status = "check_failed";
  results.message = "model error:";
  for (const std::string& failure : failures) results.message += " " + failure + ";";
  results.message.back() = '.';
}

}  // namespace wafervp
