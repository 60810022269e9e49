// SPDX-License-Identifier: Apache-2.0
// Is every all_reduce right for every rank count, size and element type, bit for bit?
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "session.h"

namespace wafervp::test {
namespace {

constexpr std::uint8_t kTypes[] = {WVP_INT32, WVP_FP32, WVP_FP16, WVP_BF16};
constexpr std::uint64_t kElements[] = {0, 1, 7, 371};

std::string run_one(Collective collective, std::uint64_t elements, std::uint64_t seed) {
  Session session(collective.members.empty() ? 1 : 24, seed);
  collective.bytes = elements * wvp_dtype_bytes(collective.dtype);
  collective.members = session.pick_members(collective.size());
  session.add(collective);
  return session.run();
}

Collective all_reduce(std::uint8_t algorithm, std::uint8_t dtype, std::uint32_t ranks) {
  Collective collective;
  collective.op = WVP_OP_ALL_REDUCE;
  collective.algorithm = algorithm;
  collective.dtype = dtype;
  collective.members.resize(ranks);
  collective.flows = algorithm == WVP_ALG_IN_SWITCH;
  return collective;
}

TEST(AllReduce, RingOnAllRankCounts) {
  std::uint64_t seed = 1;
  for (std::uint32_t ranks = 1; ranks <= 20; ranks++) {
    for (const std::uint8_t dtype : kTypes) {
      for (const std::uint64_t elements : kElements) {
        for (const std::uint32_t chunks : {0u, 1u, 3u}) {
          Collective collective = all_reduce(WVP_ALG_RING, dtype, ranks);
          collective.chunks = chunks;
          collective.active_chunks = static_cast<std::uint32_t>(seed % 3);
          ASSERT_EQ(run_one(collective, elements, seed++), "");
        }
      }
    }
  }
}

TEST(AllReduce, RingBothWaysOnAllRankCounts) {
  std::uint64_t seed = 1;
  for (std::uint32_t ranks = 1; ranks <= 20; ranks++) {
    for (const std::uint8_t dtype : kTypes) {
      for (const std::uint64_t elements : kElements) {
        for (const std::uint32_t chunks : {0u, 1u, 3u}) {
          Collective collective = all_reduce(WVP_ALG_RING_BOTH, dtype, ranks);
          collective.chunks = chunks;
          collective.active_chunks = static_cast<std::uint32_t>(seed % 3);
          ASSERT_EQ(run_one(collective, elements, seed++), "");
        }
      }
    }
  }
}

/// Trees whose members hang below any that was chosen before them.
std::vector<std::vector<std::uint32_t>> random_trees(std::uint32_t ranks, std::uint32_t count,
                                                     std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<std::uint32_t>> trees;
  for (std::uint32_t t = 0; t < count; t++) {
    std::vector<std::uint32_t> order(ranks), parents(ranks);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random);
    parents[order[0]] = order[0];
    for (std::uint32_t i = 1; i < ranks; i++) parents[order[i]] = order[random() % i];
    trees.push_back(parents);
  }
  return trees;
}

// With rings of descriptors of all lengths down to one, so that what a root or a parent sends has to wait.
TEST(AllReduce, TreesOnAllRankCounts) {
  std::uint64_t seed = 1;
  for (std::uint32_t ranks = 2; ranks <= 20; ranks++) {
    for (const std::uint8_t dtype : kTypes) {
      for (const std::uint64_t elements : kElements) {
        for (const std::uint32_t chunks : {1u, 3u}) {
          Collective collective = all_reduce(WVP_ALG_TREE, dtype, ranks);
          collective.chunks = chunks;
          collective.active_chunks = static_cast<std::uint32_t>(seed % 3);
          collective.bytes = elements * wvp_dtype_bytes(dtype);
          Session session(24, seed);
          session.options.lazy = seed % 2;
          session.options.descriptor_entries = 1u << seed % 5;
          collective.members = session.pick_members(ranks);
          add_trees(collective, random_trees(ranks, 1 + seed % 4, seed));
          session.add(collective);
          ASSERT_EQ(session.run(), "") << "descriptors " << session.options.descriptor_entries;
          seed++;
        }
      }
    }
  }
}

// Some on one group, some on others, all in flight together.
TEST(AllReduce, TreesBesideEachOther) {
  for (std::uint64_t seed = 1; seed <= 40; seed++) {
    Session session(12, seed);
    session.options.descriptor_entries = seed % 2 ? 2 : 16;
    for (std::uint32_t i = 0; i < 6; i++) {
      Collective collective = all_reduce(WVP_ALG_TREE, WVP_FP16, 5 + i);
      collective.chunks = 1 + i % 3;
      collective.bytes = 2 * (100 + i);
      collective.members = session.pick_members(collective.size());
      add_trees(collective, random_trees(collective.size(), 3, seed));
      session.add(collective);
    }
    ASSERT_EQ(session.run(Session::Order::kEachInItsOwn), "");
  }
}

TEST(AllReduce, InSwitchOnAllRankCounts) {
  std::uint64_t seed = 1;
  for (std::uint32_t ranks = 1; ranks <= 20; ranks++) {
    for (const std::uint8_t dtype : kTypes) {
      for (const std::uint64_t elements : kElements) {
        for (const std::uint32_t chunks : {0u, 5u}) {
          Collective collective = all_reduce(WVP_ALG_IN_SWITCH, dtype, ranks);
          collective.chunks = chunks;
          collective.active_chunks = static_cast<std::uint32_t>(seed % 3);
          ASSERT_EQ(run_one(collective, elements, seed++), "");
        }
      }
    }
  }
}

class AllReduceOf : public testing::TestWithParam<std::uint8_t> {};
std::string type_name(const testing::TestParamInfo<std::uint8_t>& type) {
  static constexpr const char* kNames[] = {"fp32", "fp16", "bf16", "int32"};
  return kNames[type.param];
}
INSTANTIATE_TEST_SUITE_P(Types, AllReduceOf, testing::ValuesIn(kTypes), type_name);

TEST_P(AllReduceOf, HierarchicalOnAllGrids) {
  std::uint64_t seed = 1;
  for (std::uint32_t ranks = 1; ranks <= 20; ranks++) {
    for (std::uint32_t dim_x = 1; dim_x <= ranks; dim_x++) {
      if (ranks % dim_x) continue;
      for (const std::uint64_t elements : kElements) {
        for (const std::uint32_t share : {0u, 65536u, 32768u, 30037u}) {
          Collective collective = all_reduce(WVP_ALG_HIERARCHICAL, GetParam(), ranks);
          collective.dim_x = dim_x;
          collective.dim_y = ranks / dim_x;
          collective.x_first_share = share;
          collective.chunks = static_cast<std::uint32_t>(1 + seed % 5);
          collective.active_chunks = static_cast<std::uint32_t>(seed % 4);
          ASSERT_EQ(run_one(collective, elements, seed++), "");
        }
      }
    }
  }
}

TEST_P(AllReduceOf, OneMebibyte) {
  const std::uint64_t elements = (1u << 20) / wvp_dtype_bytes(GetParam());
  ASSERT_EQ(run_one(all_reduce(WVP_ALG_RING, GetParam(), 6), elements, 5), "");
  ASSERT_EQ(run_one(all_reduce(WVP_ALG_IN_SWITCH, GetParam(), 5), elements, 7), "");
  Collective collective = all_reduce(WVP_ALG_HIERARCHICAL, GetParam(), 20);
  collective.dim_x = 5;
  collective.dim_y = 4;
  collective.x_first_share = 65536 * 11 / 24;
  collective.chunks = 8;
  ASSERT_EQ(run_one(collective, elements + 1, 6), "");
}

// More chunks than strands, with rings of descriptors and completions so short that they fill up.
TEST(AllReduce, ShortRingsAndManyChunks) {
  for (std::uint64_t seed = 1; seed <= 30; seed++) {
    for (const std::uint8_t algorithm : {WVP_ALG_RING, WVP_ALG_HIERARCHICAL, WVP_ALG_IN_SWITCH}) {
      Collective collective = all_reduce(algorithm, WVP_FP32, 6);
      collective.dim_x = 2;
      collective.dim_y = 3;
      collective.chunks = 150;
      Session session(6, seed);
      session.options.lazy = true;
      session.options.descriptor_entries = seed % 2 ? 1 : 4;
      collective.bytes = 4 * 1000;
      collective.members = session.pick_members(6);
      session.add(collective);
      ASSERT_EQ(session.run(), "");
    }
  }
}

// Two members that hear of the same sum in another order of steps still hold the same bits.
TEST(AllReduce, DoesNotDependOnTheOrderOfDelivery) {
  for (std::uint64_t seed = 1; seed <= 40; seed++) {
    Collective collective = all_reduce(WVP_ALG_HIERARCHICAL, WVP_FP16, 12);
    collective.dim_x = 4;
    collective.dim_y = 3;
    collective.chunks = 4;
    ASSERT_EQ(run_one(collective, 997, seed), "");
  }
}

}  // namespace
}  // namespace wafervp::test
