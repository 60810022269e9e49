// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/calendar.h"
#include "core/fabric_protocol.h"
#include "core/flow_table.h"
#include "router/promise_merger.h"
#include "router/stage_arithmetic.h"

namespace wafervp {

class TreeRouter;

/// The part of a tree at one node: the packets of all input ports are summed and the sum goes to all output
/// ports (arXiv 2406.19580: a flow of a FRED switch is a set of input ports IPs and a set of output ports
/// OPs).
struct StageConfig {
  std::uint32_t group = 0;  ///< handle of the in-network flow
  std::vector<unsigned> inputs, outputs;
  /// Makes the outputs' values; none: the sum in the order of the tree of input ports, for all outputs.
  std::shared_ptr<const StageArithmetic> arithmetic;
  bool takes_latency = true;  ///< the node's, from input to output
};

/// Where a node looks up a tree that is not configured yet: the compiled routing of the wafer.
class StageDirectory {
 public:
  virtual ~StageDirectory() = default;
  /// The stage of flow `group` that input port `input` of switch `node` feeds; an empty one (no inputs) if
  /// there is none.
  virtual StageConfig find(NodeId node, std::uint32_t group, unsigned input) const = 0;
};

/// Carries out one stage. A packet goes on when it has come on every input; a copy leaves each output
/// when that output has credit and its turn, and the input buffers free it when the last copy has left.
class CollectiveStage {
 public:
  CollectiveStage(TreeRouter& owner, const StageConfig& config, Calendar& calendar, MessagePool& messages,
                  FlowTable& flows, std::uint32_t order);
  ~CollectiveStage();
  CollectiveStage(const CollectiveStage&) = delete;
  CollectiveStage& operator=(const CollectiveStage&) = delete;

  const StageConfig& config() const { return config_; }
  /// A run of the flow that comes by `port`, new or shortened.
  void head(unsigned port, const Run& run);
  /// A run of an output's first link, which frees buffers: new or shortened.
  void credit(const Flow& output, const Run& run);
  /// An output's link asks for packets again (FabricPhase::kNack).
  void nack(Run& run);
  /// Gives back the messages of everything that has passed before a time: the present one, or at the end of a
  /// run one behind it.
  void release_passed(Time before);
  /// True when a message of `source` is here and has not passed, for a deadlock report.
  bool has_pending_from(NpuId source) const;

 private:
  /// The k-th message of every input, and of every output.
  struct Record {
    std::uint64_t first_packet = 0;
    std::uint32_t packets = 0;
    std::uint64_t bytes = 0;
    std::vector<Message*> inputs;
    std::vector<Message*> outputs;
    Time passed_at = kNever;  ///< when the last packet has left on all outputs, once promised
  };

  Record& record_with(std::uint64_t packet);
  void note_message(std::size_t input, const Run& run);
  void open_outputs(const Message& model);
  void start_outputs(Record& record);
  std::vector<Bytes> values_of(const Record& record) const;
  void check_alike(const Record& record) const;
  std::string name_of(const Record& record, std::size_t i) const;
  void send_on(const Run& merged);
  void return_credit(const Run& merged);
  void answer(Time now);
  Time last_answer(std::size_t input) const;

  TreeRouter& owner_;
  StageConfig config_;
  Calendar& calendar_;
  MessagePool& messages_;
  FlowTable& flows_;
  std::vector<Flow*> input_flows_;
  std::vector<Flow*> output_flows_;
  std::deque<Record> records_;
  PromiseMerger arrivals_;
  PromiseMerger credits_;
  /// By input: its run, while that goes beyond the credits that have been promised.
  std::vector<RunSpan> hopes_;
  CalendarCall<CollectiveStage, &CollectiveStage::answer> answer_;
};

}  // namespace wafervp
