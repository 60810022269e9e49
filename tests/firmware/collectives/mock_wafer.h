// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "values.h"
#include "wafervp/hal.h"

namespace wafervp::test {

struct MockOptions {
  std::uint64_t seed = 1;
  std::uint32_t descriptor_entries = 64;
  std::uint32_t completion_entries = 256;
  bool lazy = false;     ///< descriptors are consumed some time after the doorbell, not within it
  bool patient = false;  ///< steps are taken, and firmware is called, only when nothing else can happen
  bool values = true;
  std::size_t memory_bytes = 0;
};

struct PhaseMark {
  std::uint32_t kind, command;
};

/// An in-network flow of the mock: sums what all `inputs` send in their order, gives it to `outputs`.
struct MockFlow {
  std::vector<std::uint32_t> inputs, outputs;
};

class MockWafer;

/// One accelerator without time: executes descriptors, matches messages, writes completions.
class MockNpu {
 public:
  MockNpu(MockWafer& wafer, std::uint32_t number);

  Buffer memory;
  bool exited = false;
  std::uint32_t status = 0;
  std::map<std::uint32_t, std::uint32_t> error_registers;
  std::vector<PhaseMark> phases;
  std::uint64_t charges = 0, doorbells = 0, descriptors = 0, completions = 0, head_writes = 0,
                sent_messages = 0;
  std::uint64_t walked_steps = 0;
  std::vector<std::uint64_t> sent_tags;   ///< in the order of posting
  std::vector<std::uint32_t> priorities;  ///< of sends with WVP_D_WINDOW, as posted

  std::vector<struct wvp_waiting> waiting() const;

 private:
  friend class MockWafer;
  struct Message {
    std::uint32_t from;
    std::uint64_t tag, bytes;
    Buffer data;
  };
  struct Expectation {
    std::uint32_t cookie;
    std::uint64_t bytes;
  };
  using Key = std::pair<std::uint32_t, std::uint64_t>;

  std::uint32_t read(std::uint32_t offset);
  void write(std::uint32_t offset, std::uint32_t value);
  void consume(std::uint32_t count);
  void execute(const wvp_descriptor& descriptor);
  void arrive(Message message);
  void match(const Key& key, const Expectation& expectation);
  void expect(const Key& key, const Expectation& expectation);
  void combine(std::uint8_t dtype, bool reduce, std::uint64_t address, const Buffer& data);
  void start_walk(std::uint32_t number);
  void take_step(std::uint32_t number);
  void take_waiting_steps();
  void complete(wvp_completion completion);
  std::uint8_t* at(std::uint64_t address, std::uint64_t bytes);

  MockWafer& wafer_;
  std::uint32_t number_;
  std::vector<wvp_descriptor> ring_;
  std::vector<wvp_completion> completion_ring_;
  std::uint32_t head_ = 0, doorbell_ = 0, completion_tail_ = 0, completion_head_ = 0;
  std::map<Key, std::deque<Message>> arrived_;
  std::map<Key, Expectation> expected_;
  std::map<Key, std::uint32_t> walking_;  ///< numbers of the walks that wait
  std::vector<wvp_walk> walks_;
  std::map<Key, std::uint32_t> steps_;  ///< walks whose message is here, while a patient engine waits
  std::map<std::uint32_t, Message> staged_;
  std::uint32_t next_staged_ = 1;
  std::vector<std::uint64_t> context_;
  wvp_hal hal_{};
  std::vector<wvp_command> program_;
  std::vector<wvp_comm> comms_;
  bool booted_ = false, dirty_ = false;
};

/// N accelerators and a fabric that delivers in a random order, but each flow in its own. A message's
/// bytes are read when it leaves, as late as a real engine may: a schedule that overwrites too early, or
/// calls an operation done too early, fails.
class MockWafer {
 public:
  MockWafer(std::uint32_t npus, const MockOptions& options);
  ~MockWafer();

  MockNpu& npu(std::uint32_t number) { return *npus_[number]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(npus_.size()); }
  void add_flow(std::uint32_t handle, MockFlow flow) { flows_[handle] = std::move(flow); }
  void load(std::uint32_t npu, std::vector<wvp_command> program, std::vector<wvp_comm> comms);
  /// Called at each OP_END mark, within the firmware's register access.
  std::function<void(std::uint32_t npu, std::uint32_t command)> on_end;
  /// Runs until nothing is left to do; true when every loaded NPU has exited with WVP_EXIT_OK.
  bool run();
  /// Messages that nobody took, staged messages that nobody freed.
  std::size_t left_over() const;
  MockOptions options;

 private:
  friend class MockNpu;
  struct Posted {
    std::uint32_t source;
    wvp_descriptor descriptor;
  };
  struct Event {
    std::uint32_t npu;
    wvp_completion completion;
  };
  using Lane = std::pair<std::uint32_t, std::uint64_t>;  // source, destination or flow

  void post(std::uint32_t source, const wvp_descriptor& descriptor);
  void leave(const Lane& lane);
  void reduce(std::uint32_t number, std::uint32_t dtype);
  void progress(std::uint32_t number);
  std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_() % count); }

  std::mt19937_64 random_;
  std::vector<std::unique_ptr<MockNpu>> npus_;
  std::map<std::uint32_t, MockFlow> flows_;
  std::map<Lane, std::deque<Posted>> lanes_;
  std::vector<Lane> busy_;  // lanes with messages
  std::vector<Event> later_;
  std::map<std::uint32_t, std::map<std::uint32_t, std::deque<MockNpu::Message>>> stages_;
  std::set<std::uint32_t> dirty_;
  std::set<std::uint32_t> unconsumed_;
};

}  // namespace wafervp::test
