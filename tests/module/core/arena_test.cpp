// SPDX-License-Identifier: Apache-2.0
// Where an arena puts what it is asked for.
#include "core/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace wafervp::test {
namespace {

std::uintptr_t address(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

struct Small {
  std::uint64_t words[3];
};
struct alignas(64) Line {
  std::uint8_t byte;
};

TEST(Arena, PutsOneBehindTheOther) {
  Arena arena;
  std::vector<ArenaPointer<Small>> objects;
  for (int i = 0; i < 100; ++i) objects.push_back(arena.make<Small>());
  for (std::size_t i = 1; i < objects.size(); ++i) EXPECT_EQ(objects[i].get(), objects[i - 1].get() + 1);
}

TEST(Arena, AlignsAndKeepsRequestsOfAnySizeApart) {
  constexpr std::size_t kLargest = std::size_t{5} << 20;
  Arena arena;
  std::mt19937_64 random(1);
  struct Request {
    unsigned char* place;
    std::size_t bytes;
  };
  std::vector<Request> requests;
  for (int i = 0; i < 3000; ++i) {
    const std::size_t alignment = std::size_t{1} << (random() % 9);
    // All sizes, a large one now and then: some have more than what is left of a block, some more than any.
    const std::size_t bytes =
        i % 300 == 299 ? random() % kLargest : random() % (std::size_t{1} << random() % 15);
    auto* place = static_cast<unsigned char*>(arena.memory().allocate(bytes, alignment));
    ASSERT_EQ(address(place) % alignment, 0u);
    std::memset(place, i & 0xff, bytes);
    requests.push_back({place, bytes});
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (std::size_t k = 0; k < requests[i].bytes; ++k) ASSERT_EQ(requests[i].place[k], i & 0xff) << i;
  }
}

TEST(Arena, ArraysAreZeroOnLinesOfTheirOwn) {
  Arena arena;
  for (const std::size_t count : {1u, 15u, 16u, 17u, 20'000u, 3'000'000u, 1u, 0u, 5u}) {
    auto* array = arena.make_array<std::uint32_t>(count);
    ASSERT_EQ(address(array) % 64, 0u);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(array[i], 0u);
      array[i] = 0xffffffffu;
    }
  }
}

TEST(Arena, EndsTheLifeOfAnObjectOnceAndTakesNothingBack) {
  struct Counted {
    explicit Counted(int& ended) : ended_(ended) {}
    ~Counted() { ++ended_; }
    int& ended_;
  };
  int ended = 0;
  Arena arena;
  const void* first;
  {
    const ArenaPointer<Counted> object = arena.make<Counted>(ended);
    first = object.get();
    EXPECT_EQ(ended, 0);
  }
  EXPECT_EQ(ended, 1);
  EXPECT_NE(arena.make<Counted>(ended).get(), first);
  EXPECT_EQ(ended, 2);
}

TEST(Arena, HoldsObjectsOfTheAlignmentOfALine) {
  Arena arena;
  const auto before = arena.make<std::uint8_t>();
  EXPECT_EQ(address(arena.make<Line>().get()) % 64, 0u);
  std::pmr::vector<Line> lines(&arena.memory());
  for (int i = 0; i < 1000; ++i) {
    lines.push_back({static_cast<std::uint8_t>(i)});
    ASSERT_EQ(address(lines.data()) % 64, 0u);
  }
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(lines[static_cast<std::size_t>(i)].byte, i & 0xff);
}

}  // namespace
}  // namespace wafervp::test
