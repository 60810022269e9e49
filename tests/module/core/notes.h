// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "core/calendar.h"

namespace wafervp::test {

/// One call of an entry.
struct Noted {
  int number;
  Time when;
  friend bool operator==(const Noted& a, const Noted& b) { return a.number == b.number && a.when == b.when; }
};

/// Calendar entries that write down when they run, and then act.
class Notes {
 public:
  class Entry final : public CalendarEntry {
   public:
    Entry(Notes& notes, int number, Stage stage, std::uint32_t order)
        : CalendarEntry(stage, order), notes_(notes), number_(number) {}
    std::function<void(Time)> action;

   private:
    void fire(Time now) override {
      notes_.seen.push_back({number_, now});
      if (action) action(now);
    }
    Notes& notes_;
    int number_;
  };

  Entry& add(Stage stage = Stage::kArrival, std::uint32_t order = 0) {
    return entries.emplace_back(*this, static_cast<int>(entries.size()), stage, order);
  }
  std::vector<int> numbers() const {
    std::vector<int> result;
    for (const Noted& noted : seen) result.push_back(noted.number);
    return result;
  }

  std::deque<Entry> entries;
  std::vector<Noted> seen;
};

/// Runs until nothing is left to do; throws what an entry threw.
inline void run(Calendar& calendar) {
  sc_core::sc_start();
  calendar.rethrow_failure();
}

}  // namespace wafervp::test
