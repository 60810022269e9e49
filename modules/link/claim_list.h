// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "core/arena.h"
#include "core/ids.h"
#include "core/time.h"

namespace wafervp {

struct Lane;

/// What arbitration looks at in each lane whose next packet has an arrival and a credit that are known. No
/// claim is ready before its age, so that most need not be looked at.
struct Claim {
  Time age;    ///< arrival of the next packet: the older goes first within a port
  Time ready;  ///< when the next packets may leave, if nobody else wants the link
  Lane* lane;
  FlowId id;
  std::uint32_t longest_turn;  ///< as in the lane

  bool operator<(const Claim& other) const { return age != other.age ? age < other.age : id < other.id; }
};

/// The claims of the flows of one input port and level (Preemption), in the order in which they go. A place
/// is a hint where a lane's claim was last seen: claims move when others do, mostly by one place.
class ClaimList {
 public:
  explicit ClaimList(std::uint16_t input = 0, std::uint8_t level = 0) : input_(input), level_(level) {}
  ClaimList(const ClaimList&) = delete;
  ClaimList& operator=(const ClaimList&) = delete;

  std::uint16_t input() const { return input_; }
  std::uint8_t level() const { return level_; }
  /// Order of the lists: those of a level side by side, by input.
  std::uint32_t key() const { return key_of(input_, level_); }
  static std::uint32_t key_of(std::uint16_t input, std::uint8_t level) {
    return (static_cast<std::uint32_t>(level) << 16) | input;
  }
  void serve(std::uint16_t input, std::uint8_t level) {
    input_ = input;
    level_ = level;
  }
  std::uint32_t size() const { return size_; }
  const Claim* begin() const { return claims_; }
  const Claim* end() const { return claims_ + size_; }
  Claim& operator[](std::uint32_t place) { return claims_[place]; }

  std::uint32_t find(const Lane& lane, std::uint32_t place) const {
    std::uint32_t below = std::min(place, size_ - 1), above = below;
    for (;;) {
      if (claims_[below].lane == &lane) return below;
      if (claims_[above].lane == &lane) return above;
      if (below > 0) --below;
      if (above + 1 < size_) ++above;
    }
  }
  /// Returns the claim's place. What the list grows out of stays with the arena.
  std::uint32_t insert(const Claim& claim, Arena& arena) {
    if (size_ == capacity_) grow(arena);
    return place(claim, size_++);
  }
  /// Puts `claim` in its order, which replaces the one at `place`; returns its place.
  std::uint32_t move(const Claim& claim, std::uint32_t place) {
    if (place > 0 && claim < claims_[place - 1]) return this->place(claim, place);
    std::uint32_t to = place;
    while (to + 1 < size_ && claims_[to + 1] < claim) ++to;
    std::memmove(claims_ + place, claims_ + place + 1, (to - place) * sizeof(Claim));
    claims_[to] = claim;
    return to;
  }
  void erase(std::uint32_t place) {
    --size_;
    std::memmove(claims_ + place, claims_ + place + 1, (size_ - place) * sizeof(Claim));
  }

 private:
  /// Puts `claim` before those up to the free place `from` that go after it.
  std::uint32_t place(const Claim& claim, std::uint32_t from) {
    std::uint32_t to = from;
    while (to > 0 && claim < claims_[to - 1]) --to;
    std::memmove(claims_ + to + 1, claims_ + to, (from - to) * sizeof(Claim));
    claims_[to] = claim;
    return to;
  }
  [[gnu::noinline]] void grow(Arena& arena) {
    capacity_ *= 2;
    auto* more = static_cast<Claim*>(arena.memory().allocate(capacity_ * sizeof(Claim), alignof(Claim)));
    std::uninitialized_copy(begin(), end(), more);
    claims_ = more;
  }

  Claim* claims_ = &one_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 1;
  std::uint16_t input_;
  std::uint8_t level_;
  Claim one_{};
};

}  // namespace wafervp
