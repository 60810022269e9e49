// SPDX-License-Identifier: Apache-2.0
#include "router/collective_stage.h"

#include <algorithm>
#include <string>

#include "core/element.h"
#include "router/tree_router.h"

namespace wafervp {

CollectiveStage::CollectiveStage(TreeRouter& owner, const StageConfig& config, Calendar& calendar,
                                 MessagePool& messages, FlowTable& flows, std::uint32_t order)
    : owner_(owner),
      config_(config),
      calendar_(calendar),
      messages_(messages),
      flows_(flows),
      input_flows_(config.inputs.size(), nullptr),
      arrivals_(config.inputs.size(), [this](const Run& run) { send_on(run); }),
      credits_(config.outputs.size(), [this](const Run& run) { return_credit(run); }),
      hopes_(config.inputs.size()),
      answer_(*this, Stage::kAnswer, order) {}

CollectiveStage::~CollectiveStage() = default;

void CollectiveStage::head(unsigned port, const Run& run) {
  const auto at = std::find(config_.inputs.begin(), config_.inputs.end(), port);
  const auto input = static_cast<std::size_t>(at - config_.inputs.begin());
  input_flows_[input] = run.flow;
  if (run.count > 0) note_message(input, run);
  if (run.hopeful && run.count > 0) {
    hopes_[input].copy(run);
  } else {
    hopes_[input].count = 0;
  }
  const Time answer_at = last_answer(input);
  if (answer_at < answer_.time()) calendar_.schedule(answer_, std::max(answer_at, calendar_.now()));
  arrivals_.promise(input, run, calendar_.now());
}

/// The first run of a message brings it in; all inputs must bring the same.
void CollectiveStage::note_message(std::size_t input, const Run& run) {
  release_passed(calendar_.now());
  const Message& message = *run.message;
  Record* record = nullptr;
  for (Record& candidate : records_) {
    if (message.first_packet == candidate.first_packet) record = &candidate;
  }
  if (record == nullptr) {
    record = &records_.emplace_back();
    record->first_packet = message.first_packet;
    record->packets = message.packets;
    record->bytes = message.bytes;
    record->inputs.resize(config_.inputs.size(), nullptr);
  }
  record->inputs[input] = run.message;
  if (record->bytes == message.bytes) return;
  std::string text = "in-network flow " + std::to_string(config_.group) + " at " + owner_.name() +
                     ": the ranks' messages differ in size:";
  for (std::size_t i = 0; i < record->inputs.size(); ++i) {
    const Message* other = record->inputs[i];
    if (other == nullptr) continue;
    text += ' ' + name_of(*record, i) + " sends " + std::to_string(other->bytes) + " bytes,";
  }
  text.back() = '.';
  throw CollectiveMismatch(config_.group, text);
}

CollectiveStage::Record& CollectiveStage::record_with(std::uint64_t packet) {
  for (Record& record : records_) {
    if (packet < record.first_packet + record.packets) return record;
  }
  throw std::logic_error("tree stage: a run without a message");
}

void CollectiveStage::open_outputs(const Message& model) {
  // At the links the stage counts as the port of its first input.
  for (unsigned output : config_.outputs) {
    Flow& flow = owner_.is_accelerator(output) ? flows_.at_stage(config_.group, model.flow->traffic_class)
                                               : flows_.from_stage(owner_, output, config_.inputs.front(),
                                                                   config_.group, model.flow->traffic_class);
    owner_.bind_output(flow, *this);
    output_flows_.push_back(&flow);
  }
}

void CollectiveStage::start_outputs(Record& record) {
  const Message& model = *record.inputs.front();
  if (output_flows_.empty()) open_outputs(model);
  std::vector<Bytes> values = values_of(record);
  for (std::size_t o = 0; o < output_flows_.size(); ++o) {
    Flow* flow = output_flows_[o];
    Message* message = messages_.acquire();
    message->flow = flow;
    message->bytes = record.bytes;
    message->first_packet = record.first_packet;
    message->packets = record.packets;
    message->source = model.source;
    message->tag = model.tag;
    message->dtype = model.dtype;
    message->data = std::move(values[o]);
    record.outputs.push_back(message);
  }
}

/// By output; empty ones where the messages have no values.
std::vector<Bytes> CollectiveStage::values_of(const Record& record) const {
  std::vector<Bytes> inputs;
  for (const Message* message : record.inputs) {
    if (message->data == nullptr) return std::vector<Bytes>(config_.outputs.size());
    inputs.push_back(message->data);
  }
  std::uint8_t dtype = record.inputs.front()->dtype;
  if ((dtype & kCompressedMessage) != 0) {
    check_alike(record);
    if (inputs.front()->empty()) return std::vector<Bytes>(config_.outputs.size(), inputs.front());
    dtype = static_cast<std::uint8_t>(dtype & ~kCompressedMessage);
  }
  const auto element = element_of(dtype);
  if (config_.arithmetic != nullptr) return config_.arithmetic->outputs(std::move(inputs), element);
  return std::vector<Bytes>(config_.outputs.size(),
                            port_tree_sum(config_.inputs, std::move(inputs), element));
}

/// Of messages that compression units have made.
void CollectiveStage::check_alike(const Record& record) const {
  const Message& first = *record.inputs.front();
  for (std::size_t i = 1; i < record.inputs.size(); ++i) {
    const Message& other = *record.inputs[i];
    const CompressedData& data = CompressedData::of(first.data);
    const std::string difference = other.dtype != first.dtype
                                       ? "found elements of different types, or one that is not compressed"
                                       : data.difference(data, CompressedData::of(other.data));
    if (difference.empty()) continue;
    throw CollectiveMismatch(config_.group, "in-network flow " + std::to_string(config_.group) + " at " +
                                                owner_.name() + ": messages of " + name_of(record, 0) +
                                                " and " + name_of(record, i) +
                                                " cannot be added up: " + difference);
  }
}

/// Who sent the message at input `i`.
std::string CollectiveStage::name_of(const Record& record, std::size_t i) const {
  const Message& message = *record.inputs[i];
  if (message.source.valid()) return "NPU " + std::to_string(message.source.value);
  return "port " + std::to_string(config_.inputs[i]);
}

void CollectiveStage::send_on(const Run& merged) {
  Record& record = record_with(merged.first);
  if (record.outputs.empty()) start_outputs(record);
  for (std::size_t o = 0; o < output_flows_.size(); ++o) {
    Run run = merged;
    run.flow = output_flows_[o];
    run.message = record.outputs[o];
    run.hop = 0;
    run.hopeful = false;
    if (config_.takes_latency) run.origin += owner_.config().latency;
    FabricPhase phase = FabricPhase::kHead;
    owner_.output(config_.outputs[o]).nb_transport_fw(run, phase, owner_.no_delay_);
    // What goes to the accelerator here leaves the buffers as it comes.
    if (owner_.is_accelerator(config_.outputs[o])) credits_.promise(o, run, calendar_.now());
  }
}

void CollectiveStage::credit(const Flow& output, const Run& run) {
  const auto at = std::find(output_flows_.begin(), output_flows_.end(), &output);
  credits_.promise(static_cast<std::size_t>(at - output_flows_.begin()), run, calendar_.now());
}

/// Sums are not kept: all inputs are asked for their packets again, and the sum is here when the last of them
/// is.
void CollectiveStage::nack(Run& run) {
  Time again = run.origin;
  for (std::size_t i = 0; i < input_flows_.size(); ++i) {
    Run up = run;
    up.flow = input_flows_[i];
    up.hop = static_cast<std::uint16_t>(input_flows_[i]->hops.size());
    up.lane = nullptr;
    FabricPhase phase = FabricPhase::kNack;
    owner_.input(config_.inputs[i]).nb_transport_bw(up, phase, owner_.no_delay_);
    again = std::max(again, up.origin);
  }
  run.origin = again + owner_.config().latency;
}

void CollectiveStage::return_credit(const Run& merged) {
  // A run that no longer ends its message takes the promise of its passing back.
  Record& record = record_with(merged.first);
  record.passed_at = merged.last && merged.count > 0 ? merged.tail(merged.count - 1) : kNever;
  for (std::size_t i = 0; i < input_flows_.size(); ++i) {
    Run run = merged;
    run.flow = input_flows_[i];
    run.message = record.inputs[i];
    // Where inputs wait for each other, what they have together is no more than the one that is cut first.
    const Time answer_at = last_answer(i);
    run.hopeful = answer_at != kNever && answer_at > calendar_.now();
    if (answer_at < answer_.time()) calendar_.schedule(answer_, std::max(answer_at, calendar_.now()));
    run.hop = static_cast<std::uint16_t>(input_flows_[i]->hops.size());
    FabricPhase phase = FabricPhase::kCredit;
    owner_.input(config_.inputs[i]).nb_transport_bw(run, phase, owner_.no_delay_);
  }
}

/// When the first packet without a promised credit leaves the far end of the input's link: until then the
/// credits that the outputs promise are an answer to its hopeful run, and so a short wait for another input
/// does not cut it.
Time CollectiveStage::last_answer(std::size_t input) const {
  const RunSpan& hope = hopes_[input];
  if (hope.count == 0) return kNever;
  const FabricLink& link = *input_flows_[input]->hops.back().link;
  const std::uint64_t beyond = std::max(hope.first, credits_.end() + link.buffer_packets());
  if (beyond >= hope.end()) return kNever;
  const Time here = hope.head(beyond - hope.first);
  return here > link.latency() ? here - link.latency() : 0;
}

/// Inputs that sent in the hope of credits and did not get them all stop at what is covered.
void CollectiveStage::answer(Time now) {
  Time next = kNever;
  for (std::size_t i = 0; i < hopes_.size(); ++i) {
    const Time last = last_answer(i);
    if (last > now) {
      next = std::min(next, last);
      continue;
    }
    hopes_[i].count = 0;
    Run run;
    run.flow = input_flows_[i];
    run.hop = static_cast<std::uint16_t>(input_flows_[i]->hops.size());
    FabricPhase phase = FabricPhase::kStall;
    owner_.input(config_.inputs[i]).nb_transport_bw(run, phase, owner_.no_delay_);
  }
  if (next != kNever && next < answer_.time()) calendar_.schedule(answer_, next);
}

void CollectiveStage::release_passed(Time before) {
  while (!records_.empty() && records_.front().passed_at < before) {
    for (Message* message : records_.front().inputs) messages_.release(message);
    records_.pop_front();
  }
}

bool CollectiveStage::has_pending_from(NpuId source) const {
  for (const Record& record : records_) {
    for (const Message* message : record.inputs) {
      if (message != nullptr && message->flow->source == source && record.passed_at == kNever) return true;
    }
  }
  return false;
}

}  // namespace wafervp
