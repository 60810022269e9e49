// SPDX-License-Identifier: Apache-2.0
// Entries that move and cancel others while they run, and firmware that follows its arrivals, against a plain
// list.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "core/calendar.h"
#include "notes.h"

namespace wafervp::test {
namespace {

using testing::ElementsAre;

/// What an entry may do to another one.
class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual void schedule(int entry, Time when) = 0;
  virtual void follow(int entry) = 0;
  virtual void cancel(int entry) = 0;
  virtual bool scheduled(int entry) const = 0;
};

struct Shape {
  int entries;
  std::uint32_t orders;
  Time times;  ///< as far ahead as entries are scheduled
  int acts;    ///< things that the entries do in all
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    return out << shape.entries << " entries, " << shape.orders << " orders, " << shape.times << " times";
  }
};

struct Character {
  Stage stage;
  std::uint32_t order;
};

/// Decides what entries do; the same calls of act() make the same decisions.
class Script {
 public:
  explicit Script(const Shape& shape) : shape_(shape), random_(static_cast<unsigned>(shape.entries)) {
    for (int i = 0; i < shape.entries; ++i) {
      // Half are arrivals; their numbers come in stretches, as those of messages do.
      const auto stage = static_cast<Stage>(random_() % 2 == 0 ? 0 : random_() % kStages);
      const auto order = random_() % 3 == 0 ? random_() : static_cast<std::mt19937_64::result_type>(i);
      characters.push_back({stage, static_cast<std::uint32_t>(order % shape.orders)});
    }
  }
  void begin(Schedule& schedule) {
    for (int i = 0; i < shape_.entries; ++i) schedule.schedule(i, 1 + random_() % shape_.times);
    for (int i = 0; i < shape_.entries / 4; ++i) change(schedule, 1);
  }
  void act(Schedule& schedule, int self, Time now) {
    const Character& character = characters[static_cast<std::size_t>(self)];
    for (auto i = random_() % 4; i > 0 && acts_ < shape_.acts; --i, ++acts_) change(schedule, now);
    if (character.stage != Stage::kArrival || random_() % 2 == 0) return;
    for (int i = 0; i < shape_.entries; ++i) {
      const Character& other = characters[static_cast<std::size_t>(i)];
      if (other.stage != Stage::kFirmware || other.order != character.order || schedule.scheduled(i))
        continue;
      return schedule.follow(i);
    }
  }

  std::vector<Character> characters;

 private:
  void change(Schedule& schedule, Time now) {
    const int other = static_cast<int>(random_() % characters.size());
    if (random_() % 3 == 0) return schedule.cancel(other);
    schedule.schedule(other, now + (random_() % 2 == 0 ? 0 : random_() % shape_.times));
  }

  Shape shape_;
  std::mt19937_64 random_;
  int acts_ = 0;
};

/// The calendar as its document has it: all entries in one list that is searched for the next one.
class Plain final : public Schedule {
 public:
  explicit Plain(Script& script) : script_(script), entries_(script.characters.size()) {}

  void run() {
    script_.begin(*this);
    while (next_time()) run_stage();
  }
  std::vector<Noted> seen;

  void schedule(int entry, Time when) override { at(entry) = {when, ++posted_, false, false}; }
  void follow(int entry) override {
    if (arriving_ != order(entry) || follower_ != -1) return schedule(entry, now_);
    at(entry) = {now_, ++posted_, false, true};
    follower_ = entry;
  }
  void cancel(int entry) override {
    if (scheduled(entry)) at(entry) = {};
  }
  bool scheduled(int entry) const override { return at(entry).when != kNever; }

 private:
  struct State {
    Time when = kNever;
    int posted = 0;
    bool in_batch = false;
    bool follows = false;
  };
  static constexpr std::int64_t kNoOrder = -1;

  State& at(int entry) {
    State& state = entries_[static_cast<std::size_t>(entry)];
    if (state.follows) follower_ = -1;
    return state;
  }
  const State& at(int entry) const { return entries_[static_cast<std::size_t>(entry)]; }
  Stage stage(int entry) const { return script_.characters[static_cast<std::size_t>(entry)].stage; }
  std::int64_t order(int entry) const { return script_.characters[static_cast<std::size_t>(entry)].order; }
  int count() const { return static_cast<int>(entries_.size()); }

  bool next_time() {
    now_ = kNever;
    for (const State& state : entries_) now_ = std::min(now_, state.when);
    return now_ != kNever;
  }
  /// The earliest stage with work runs what is there now.
  void run_stage() {
    std::vector<int> batch;
    for (int i = 0; i < count(); ++i) {
      if (entries_[static_cast<std::size_t>(i)].when == now_) batch.push_back(i);
    }
    const auto first = [this](int a, int b) { return stage(a) < stage(b); };
    const Stage earliest = stage(*std::min_element(batch.begin(), batch.end(), first));
    batch.erase(std::remove_if(batch.begin(), batch.end(), [&](int i) { return stage(i) != earliest; }),
                batch.end());
    std::sort(batch.begin(), batch.end(), [this](int a, int b) {
      return std::make_tuple(order(a), at_posted(a)) < std::make_tuple(order(b), at_posted(b));
    });
    for (const int i : batch) entries_[static_cast<std::size_t>(i)].in_batch = true;
    for (std::size_t k = 0; k < batch.size(); ++k) {
      if (!in_batch(batch[k])) continue;
      fire(batch[k], earliest == Stage::kArrival ? order(batch[k]) : kNoOrder);
      const auto next = std::find_if(batch.begin() + static_cast<std::ptrdiff_t>(k) + 1, batch.end(),
                                     [this](int i) { return in_batch(i); });
      if (follower_ == -1 || (next != batch.end() && order(*next) == order(batch[k]))) continue;
      fire(follower_, kNoOrder);
    }
  }
  int at_posted(int entry) const { return entries_[static_cast<std::size_t>(entry)].posted; }
  bool in_batch(int entry) const { return entries_[static_cast<std::size_t>(entry)].in_batch; }
  void fire(int entry, std::int64_t arriving) {
    at(entry) = {};
    arriving_ = arriving;
    seen.push_back({entry, now_});
    script_.act(*this, entry, now_);
    arriving_ = kNoOrder;
  }

  Script& script_;
  std::vector<State> entries_;
  Time now_ = 0;
  int posted_ = 0;
  std::int64_t arriving_ = kNoOrder;
  int follower_ = -1;
};

class Real final : public Schedule {
 public:
  explicit Real(Script& script) : script_(script) {
    for (const Character& character : script.characters) {
      const int number = static_cast<int>(notes.entries.size());
      notes.add(character.stage, character.order).action = [this, number](Time now) {
        script_.act(*this, number, now);
      };
    }
  }
  void run() {
    script_.begin(*this);
    test::run(calendar_);
    EXPECT_TRUE(calendar_.empty());
  }
  Notes notes;

  void schedule(int entry, Time when) override { calendar_.schedule(at(entry), when); }
  void follow(int entry) override { calendar_.follow(at(entry)); }
  void cancel(int entry) override { calendar_.cancel(at(entry)); }
  bool scheduled(int entry) const override {
    return notes.entries[static_cast<std::size_t>(entry)].scheduled();
  }

 private:
  CalendarEntry& at(int entry) { return notes.entries[static_cast<std::size_t>(entry)]; }

  Script& script_;
  Calendar calendar_{"calendar"};
};

class CalendarBatch : public testing::TestWithParam<Shape> {};

TEST_P(CalendarBatch, RunsWhatAPlainListRuns) {
  Script plain_script(GetParam()), script(GetParam());
  Plain plain(plain_script);
  plain.run();
  Real real(script);
  real.run();
  const std::size_t common = std::min(plain.seen.size(), real.notes.seen.size());
  for (std::size_t i = 0; i < common; ++i) ASSERT_EQ(real.notes.seen[i], plain.seen[i]) << "call " << i;
  EXPECT_EQ(real.notes.seen.size(), plain.seen.size());
}

// Few and many numbers; batches of one, of some and of hundreds; one time and many.
INSTANTIATE_TEST_SUITE_P(Shapes, CalendarBatch,
                         testing::Values(Shape{5, 1, 2, 200}, Shape{6, 4, 1, 500}, Shape{40, 3, 1, 4'000},
                                         Shape{41, 1'000, 3, 4'000}, Shape{300, 7, 1, 3'000},
                                         Shape{900, 300, 1, 4'000}, Shape{901, 1'000, 2, 4'000},
                                         Shape{500, 50, 200, 4'000}),
                         [](const auto& shape) { return "of" + std::to_string(shape.param.entries); });

TEST(CalendarFollow, ComesBehindTheLastArrivalOfItsNumber) {
  Calendar calendar("calendar");
  Notes notes;
  for (const std::uint32_t order : {2u, 1u, 1u, 3u}) calendar.schedule(notes.add(Stage::kArrival, order), 10);
  auto& firmware = notes.add(Stage::kFirmware, 1);  // 4
  calendar.schedule(notes.add(Stage::kArbitration, 0), 10);
  notes.entries[1].action = [&](Time now) {
    calendar.follow(firmware);
    EXPECT_TRUE(firmware.scheduled());
    EXPECT_EQ(firmware.time(), now);
  };
  firmware.action = [&](Time) { EXPECT_FALSE(firmware.scheduled()); };
  run(calendar);
  EXPECT_THAT(notes.numbers(), ElementsAre(1, 2, 4, 0, 3, 5));
}

TEST(CalendarFollow, ComesWhereTheLastArrivalOfItsNumberIsNotThereAnyMore) {
  Calendar calendar("calendar");
  Notes notes;
  for (int i = 0; i < 3; ++i) calendar.schedule(notes.add(Stage::kArrival, 1), 10);
  auto& firmware = notes.add(Stage::kFirmware, 1);  // 3
  calendar.cancel(notes.entries[1]);                // before the time
  notes.entries[0].action = [&](Time) {
    calendar.follow(firmware);
    calendar.schedule(notes.entries[2], 20);  // at the time
  };
  run(calendar);
  EXPECT_THAT(notes.numbers(), ElementsAre(0, 3, 2));
}

TEST(CalendarFollow, WaitsForItsStageWhereNoArrivalOfItsNumberRuns) {
  Calendar calendar("calendar");
  Notes notes;
  for (const std::uint32_t order : {1u, 2u}) calendar.schedule(notes.add(Stage::kArrival, order), 10);
  auto& firmware = notes.add(Stage::kFirmware, 2);  // 2
  auto& again = notes.add(Stage::kFirmware, 3);     // 3
  calendar.schedule(notes.add(Stage::kArbitration, 3), 10);
  notes.entries[0].action = [&](Time) { calendar.follow(firmware); };
  notes.entries[4].action = [&](Time) { calendar.follow(again); };
  run(calendar);
  EXPECT_THAT(notes.numbers(), ElementsAre(0, 1, 2, 4, 3));
}

/// What runs when the second arrival does `what` to the firmware that follows.
std::vector<int> numbers_after(const std::function<void(Calendar&, CalendarEntry&)>& what) {
  Calendar calendar("calendar");
  Notes notes;
  for (int i = 0; i < 2; ++i) calendar.schedule(notes.add(Stage::kArrival, 1), 10);
  auto& firmware = notes.add(Stage::kFirmware, 1);  // 2
  notes.entries[0].action = [&](Time) { calendar.follow(firmware); };
  notes.entries[1].action = [&](Time) { what(calendar, firmware); };
  calendar.schedule(notes.add(Stage::kAnswer, 0), 20);  // 3
  run(calendar);
  return notes.numbers();
}

TEST(CalendarFollow, MayBeCancelled) {
  const auto cancel = [](Calendar& calendar, CalendarEntry& firmware) {
    calendar.cancel(firmware);
    EXPECT_FALSE(firmware.scheduled());
  };
  EXPECT_THAT(numbers_after(cancel), ElementsAre(0, 1, 3));
}

TEST(CalendarFollow, MayBeMoved) {
  const auto move = [](Calendar& calendar, CalendarEntry& firmware) { calendar.schedule(firmware, 30); };
  EXPECT_THAT(numbers_after(move), ElementsAre(0, 1, 3, 2));
}

}  // namespace
}  // namespace wafervp::test
