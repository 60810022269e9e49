// SPDX-License-Identifier: Apache-2.0
// The table of expectations and messages against a plain list.
#include "accelerator/matching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace wafervp::test {
namespace {

using State = MatchTable::State;

struct Key {
  std::uint32_t from;
  std::uint64_t tag;
  friend bool operator==(const Key& a, const Key& b) { return a.from == b.from && a.tag == b.tag; }
};

/// A table beside a list that is searched from its oldest entry on.
class Pair {
 public:
  void expect_or_receive(const Key& key, bool expects) {
    const State wanted = expects ? State::kReceived : State::kArmed;
    const State otherwise = expects ? State::kArmed : State::kReceived;
    const auto oldest = std::find_if(waiting_.begin(), waiting_.end(), [&](const Entry& entry) {
      return entry.key == key && entry.state == wanted;
    });
    MatchTable::Slot* taken = table_.take(key.from, key.tag, wanted);
    const bool matched = taken != nullptr;
    ASSERT_EQ(matched, oldest != waiting_.end());
    MatchTable::Slot& slot = matched ? *taken : table_.insert(key.from, key.tag, otherwise);
    ASSERT_EQ(slot.from, key.from);
    ASSERT_EQ(slot.tag, key.tag);
    const std::uint32_t handle = table_.handle_of(slot);
    if (matched) {
      ASSERT_EQ(slot.cookie, oldest->cookie);
      ASSERT_EQ(slot.state, wanted);
      ASSERT_EQ(table_.staged(handle), nullptr);
      slot.state = State::kStaged;
      staged_.push_back({key, State::kStaged, slot.cookie, handle});
      waiting_.erase(oldest);
    } else {
      slot.cookie = next_cookie_++;
      waiting_.push_back({key, otherwise, slot.cookie, handle});
    }
    check_counts();
  }
  /// Combines the `i`-th of the staged messages.
  void combine(std::size_t i) {
    const Entry entry = staged_[i];
    MatchTable::Slot* slot = table_.staged(entry.handle);
    ASSERT_NE(slot, nullptr);
    ASSERT_EQ(slot->cookie, entry.cookie);
    table_.free(*slot);
    ASSERT_EQ(table_.staged(entry.handle), nullptr);
    staged_.erase(staged_.begin() + static_cast<std::ptrdiff_t>(i));
    check_counts();
  }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t staged() const { return staged_.size(); }
  const Key& waiting_key(std::size_t i) const { return waiting_[i].key; }
  bool waiting_expects(std::size_t i) const { return waiting_[i].state == State::kArmed; }

 private:
  struct Entry {
    Key key;
    State state;
    std::uint32_t cookie;
    std::uint32_t handle;
  };
  void check_counts() const {
    ASSERT_EQ(table_.unmatched(), waiting_.size());
    ASSERT_EQ(table_.used(), waiting_.size() + staged_.size());
  }

  Arena arena_;
  MatchTable table_{arena_};
  std::vector<Entry> waiting_, staged_;
  std::uint32_t next_cookie_ = 0;
};

/// Expects and receives at random, about `depth` at a time in flight, then all of what is left.
void expect_agreement(const std::vector<Key>& keys, std::size_t depth, int rounds, unsigned seed) {
  std::mt19937_64 random(seed);
  Pair pair;
  for (int i = 0; i < rounds && !testing::Test::HasFatalFailure(); ++i) {
    if (pair.waiting() > 0 && random() % (2 * depth) < pair.waiting()) {
      const std::size_t partner = random() % pair.waiting();
      const Key key = pair.waiting_key(partner);
      pair.expect_or_receive(key, !pair.waiting_expects(partner));
    } else {
      pair.expect_or_receive(keys[random() % keys.size()], random() % 2 == 0);
    }
    if (pair.staged() > depth) pair.combine(random() % pair.staged());
  }
  while (pair.waiting() > 0 && !testing::Test::HasFatalFailure()) {
    const std::size_t partner = random() % pair.waiting();
    const Key key = pair.waiting_key(partner);
    pair.expect_or_receive(key, !pair.waiting_expects(partner));
  }
  while (pair.staged() > 0 && !testing::Test::HasFatalFailure()) pair.combine(random() % pair.staged());
}

TEST(MatchTable, AgreesWithAListAsItGrows) {
  std::vector<Key> keys;
  for (std::uint32_t from = 0; from < 16; ++from) {
    for (std::uint64_t tag = 0; tag < 64; ++tag) keys.push_back({from, tag << 20});
  }
  for (const std::size_t depth : {1u, 3u, 40u, 700u}) expect_agreement(keys, depth, 20'000, 1);
}

TEST(MatchTable, OfManyEqualPairsTheOldestGoesFirst) {
  for (const std::size_t depth : {5u, 60u}) expect_agreement({{1, 7}, {2, 7}, {1, 8}}, depth, 10'000, 2);
}

// Rows of occupied places that go over the end of the index, in an index of any size: their places are the
// last.
TEST(MatchTable, AgreesWhereRowsGoOverTheEndOfTheIndex) {
  constexpr std::uint32_t kLast = 0x1ffe;
  std::vector<Key> keys;
  for (std::uint64_t tag = 0; keys.size() < 24; ++tag) {
    if ((MatchTable::hash_of(3, tag) & kLast) == kLast) keys.push_back({3, tag});
  }
  for (const std::size_t depth : {2u, 9u, 30u, 90u}) expect_agreement(keys, depth, 10'000, 3);
}

// Two pairs with the same hash value.
TEST(MatchTable, TellsPairsOfOneHashValueApart) {
  const Key a{1, 5}, b{2, 5 ^ (std::uint64_t{3} << 40)};
  ASSERT_EQ(MatchTable::hash_of(a.from, a.tag), MatchTable::hash_of(b.from, b.tag));
  expect_agreement({a, b}, 6, 5'000, 4);
}

TEST(MatchTable, KnowsNoHandleThatItHasNotGiven) {
  Arena arena;
  MatchTable table(arena);
  for (const std::uint32_t handle : {0u, 1u, 0xffffffffu}) EXPECT_EQ(table.staged(handle), nullptr);
}

}  // namespace
}  // namespace wafervp::test
