// SPDX-License-Identifier: Apache-2.0
#include "law.h"

#include <algorithm>

namespace wafervp::test {

namespace {
constexpr Time kRounding = 2;
}

void expect_wire(const std::vector<Packet>& packets, std::uint64_t bytes_per_s, Time overlap) {
  std::uint64_t bytes = 0;
  Time end = 0;  // of what came before
  for (const Packet& packet : packets) {
    ASSERT_GE(packet.tail, packet.head);
    // The head of a short last packet of a paced run is taken to come with its tail.
    const bool short_and_paced = overlap > 100 && packet.bytes < kPacketBytes;
    ASSERT_GE(packet.tail - packet.head + kRounding,
              short_and_paced ? 0 : serialisation(packet.bytes, bytes_per_s))
        << "packet " << packet.number << " of flow " << packet.flow.value << " is too short";
    bytes += packet.bytes;
    ASSERT_GE(packet.head + overlap, end) << "packet " << packet.number << " of flow " << packet.flow.value
                                          << " begins while another one is on the wire";
    end = std::max(end, packet.tail);
  }
  if (packets.empty()) return;
  ASSERT_GE(packets.back().tail - packets.front().head + overlap, serialisation(bytes, bytes_per_s));
}

void expect_passage(const Passage& passage) {
  ASSERT_EQ(passage.before.size(), passage.after.size());
  for (std::size_t j = 0; j < passage.after.size(); ++j) {
    const Packet& come = passage.before[j];
    const Packet& gone = passage.after[j];
    const Time start = gone.head - passage.latency_after;
    const Time own = serialisation(come.bytes, passage.bytes_per_s);
    ASSERT_GE(start + kRounding, std::max(come.head, come.tail - std::min(come.tail, own)))
        << "packet " << j << " leaves before it may";
    if (j < passage.buffer_before) continue;
    const Packet& freed = passage.after[j - passage.buffer_before];
    ASSERT_GE(come.head - passage.latency_before + kRounding,
              freed.tail - passage.latency_after + passage.latency_before)
        << "packet " << j << " was sent without a credit";
  }
}

void expect_same_packets(const std::vector<Packet>& before, const std::vector<Packet>& after) {
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t j = 0; j < before.size(); ++j) {
    ASSERT_EQ(before[j].number, j);
    ASSERT_EQ(after[j].number, j);
    ASSERT_EQ(before[j].bytes, after[j].bytes);
  }
}

}  // namespace wafervp::test
