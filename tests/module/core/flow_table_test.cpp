// SPDX-License-Identifier: Apache-2.0
// Does the set-up of flows walk the way that the nodes say, once, and end where they say?
#include "core/flow_table.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace wafervp {
namespace {

class StubLink final : public FabricLink {
 public:
  StubLink(FabricNode& target, unsigned target_input) : target_(target), target_input_(target_input) {}
  Lane* open(Flow&, std::uint16_t hop, unsigned input) override {
    opened.emplace_back(hop, input);
    return nullptr;
  }
  FabricNode& target() override { return target_; }
  unsigned target_input() const override { return target_input_; }
  const Rate& rate() const override { return rate_; }
  Time latency() const override { return 0; }
  std::uint32_t buffer_packets() const override { return 2; }

  std::vector<std::pair<std::uint16_t, unsigned>> opened;

 private:
  FabricNode& target_;
  unsigned target_input_;
  Rate rate_{1};
};

/// Ends flows to `npu`, and sends all others by output 0.
class StubNode final : public FabricNode {
 public:
  explicit StubNode(std::uint32_t npu, bool takes = true) : npu_(npu), takes_(takes) {}
  unsigned route(const Flow& flow, unsigned) override {
    return flow.destination == NpuId(npu_) || flow.group == npu_ ? kEndsHere : 0u;
  }
  bool consumes(const Flow&) const override { return takes_; }
  FabricLink& output_link(unsigned) override { return *link; }
  StubLink* link = nullptr;

 private:
  std::uint32_t npu_;
  bool takes_;
};

struct Chain {
  Chain() { table.set_entry(NpuId(0), nodes[0], 7); }
  StubNode nodes[3] = {StubNode(0xff), StubNode(0xfe), StubNode(2, false)};
  StubLink first{nodes[1], 4}, second{nodes[2], 5};
  FlowTable table;
};

TEST(FlowTable, WalksLinkByLink) {
  Chain chain;
  chain.nodes[0].link = &chain.first;
  chain.nodes[1].link = &chain.second;
  const Flow& flow = chain.table.unicast(NpuId(0), NpuId(2), 1);
  ASSERT_EQ(flow.hops.size(), 2u);
  EXPECT_EQ(flow.hops[0].link, &chain.first);
  EXPECT_EQ(flow.hops[0].input, 7u);  // the entry's port
  EXPECT_EQ(flow.hops[1].link, &chain.second);
  EXPECT_EQ(flow.hops[1].input, 4u);  // the port that the first link is bound to
  EXPECT_EQ(chain.first.opened, (std::vector<std::pair<std::uint16_t, unsigned>>{{0, 7}}));
  EXPECT_EQ(chain.second.opened, (std::vector<std::pair<std::uint16_t, unsigned>>{{1, 4}}));
  EXPECT_EQ(flow.traffic_class, 1u);
  EXPECT_FALSE(flow.unlimited_sink);  // the last node said that it does not always take packets
}

TEST(FlowTable, OpensAFlowOnceForEachPairAndClass) {
  Chain chain;
  chain.nodes[0].link = &chain.first;
  chain.nodes[1].link = &chain.second;
  Flow& flow = chain.table.unicast(NpuId(0), NpuId(2), 0);
  EXPECT_EQ(&chain.table.unicast(NpuId(0), NpuId(2), 0), &flow);
  EXPECT_NE(&chain.table.unicast(NpuId(0), NpuId(2), 1), &flow);
  Flow& group = chain.table.into_group(NpuId(0), 2, 0);
  EXPECT_NE(&group, &flow);
  EXPECT_EQ(&chain.table.into_group(NpuId(0), 2, 0), &group);
  EXPECT_EQ(chain.table.size(), 3u);
  EXPECT_EQ(group.group, 2u);
  EXPECT_FALSE(group.destination.valid());
}

TEST(FlowTable, BeginsTheFlowOfAStageAtItsOutput) {
  Chain chain;
  chain.nodes[0].link = &chain.first;
  chain.nodes[1].link = &chain.second;
  const Flow& flow = chain.table.from_stage(chain.nodes[1], 0, 3, 2, 0);
  ASSERT_EQ(flow.hops.size(), 1u);
  EXPECT_EQ(flow.hops[0].link, &chain.second);
  EXPECT_EQ(flow.hops[0].input, 3u);
  EXPECT_FALSE(flow.source.valid());
  EXPECT_NE(&chain.table.from_stage(chain.nodes[1], 0, 3, 2, 0), &flow);
}

TEST(FlowTable, ReportsARoutingLoop) {
  StubNode left(0xff), right(0xff);
  StubLink there(right, 0), back(left, 0);
  left.link = &there;
  right.link = &back;
  FlowTable table;
  table.set_entry(NpuId(3), left, 0);
  try {
    table.unicast(NpuId(3), NpuId(9), 0);
    FAIL() << "it found a way";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("routing loop"), testing::HasSubstr("NPU 3"),
                                             testing::HasSubstr("NPU 9")));
  }
}

}  // namespace
}  // namespace wafervp
