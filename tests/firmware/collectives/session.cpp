// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <algorithm>
#include <numeric>

namespace wafervp::test {

wvp_command start_command(const Collective& c, std::uint16_t comm, std::uint8_t slot) {
  wvp_command command{};
  command.kind = WVP_CMD_START;
  command.op = c.op;
  command.algorithm = c.algorithm;
  command.dtype = c.dtype;
  command.traffic_class = WVP_CLASS_DP;
  command.slot = slot;
  command.comm = comm;
  command.root = c.root;
  command.chunks = c.chunks;
  command.active_chunks = c.active_chunks;
  command.bytes = c.bytes;
  return command;
}

wvp_command wait_command(std::uint8_t slot) {
  wvp_command command{};
  command.kind = WVP_CMD_WAIT;
  command.slot = slot;
  return command;
}

wvp_comm make_comm(const Collective& c, std::uint16_t id, std::uint32_t rank, std::uint32_t flows) {
  wvp_comm comm{};
  comm.size = c.size();
  comm.my_index = rank;
  comm.members = c.members.data();
  comm.dim_x = c.dim_x;
  comm.dim_y = c.dim_y;
  comm.x_first_share = c.x_first_share;
  comm.flows = flows;
  comm.ring_rate = comm.x_rate = comm.y_rate = comm.flow_rate = 750000;
  comm.hop_latency_ps = 20000;
  comm.trees = static_cast<std::uint32_t>(c.trees.size());
  if (!c.trees.empty()) comm.tree_links = c.tree_links[rank].data();
  comm.id = id;
  return comm;
}

std::string name_of(const Collective& c) {
  return "op " + std::to_string(c.op) + " algorithm " + std::to_string(c.algorithm) + " type " +
         std::to_string(c.dtype) + " bytes " + std::to_string(c.bytes) + " ranks " +
         std::to_string(c.size()) + " grid " + std::to_string(c.dim_x) + "x" + std::to_string(c.dim_y) +
         " share " + std::to_string(c.x_first_share) + " chunks " + std::to_string(c.chunks) + " active " +
         std::to_string(c.active_chunks) + " root " + std::to_string(c.root);
}

std::vector<std::uint32_t> Session::pick_members(std::uint32_t count) {
  std::vector<std::uint32_t> all(npus_);
  std::iota(all.begin(), all.end(), 0u);
  std::shuffle(all.begin(), all.end(), random_);
  all.resize(count);
  return all;
}

void Session::add(const Collective& collective, bool same_group) {
  Placed placed;
  placed.collective = collective;
  placed.id = static_cast<std::uint16_t>(100 + placed_.size());
  placed.flows = collective.flows ? next_flow_ : 0;
  placed.sequence = 0;
  if (same_group) {
    placed.id = placed_.back().id;
    placed.flows = placed_.back().flows;
    placed.sequence = placed_.back().sequence + 1;
  } else {
    next_flow_ += 1 + 2 * collective.size();
  }
  const bool exchange = collective.op == WVP_OP_ALL_TO_ALL;
  for (std::uint32_t i = 0; i < collective.size(); i++) {
    placed.before.push_back(random_values(collective.dtype, collective.bytes, random_));
  }
  placed.expected = expected_result(collective, placed.before);
  placed.out_bytes = collective.bytes;
  if (exchange) {
    for (const Buffer& buffer : placed.expected)
      placed.out_bytes = std::max<std::uint64_t>(placed.out_bytes, buffer.size());
  }
  placed.dst = memory_;
  memory_ += placed.out_bytes + 8;
  placed.src = memory_;
  if (exchange) memory_ += collective.bytes + 8;
  placed.command.resize(collective.size());
  placed.ended.resize(collective.size());
  placed_.push_back(std::move(placed));
}

void Session::add_flows(const Placed& placed) {
  const Collective& c = placed.collective;
  wafer_->add_flow(placed.flows, {c.members, c.members});
  for (std::uint32_t j = 0; j < c.size(); j++) {
    wafer_->add_flow(placed.flows + 1 + j, {c.members, {c.members[j]}});
    MockFlow cast{{c.members[j]}, c.members};
    cast.outputs.erase(cast.outputs.begin() + j);
    wafer_->add_flow(placed.flows + 1 + c.size() + j, cast);
  }
}

/// The program of one NPU, which starts its operations in the order given.
void Session::load(std::uint32_t npu, const std::vector<std::size_t>& operations, Order order) {
  std::vector<wvp_command> program;
  std::vector<wvp_comm> comms;
  for (const std::size_t k : operations) {
    Placed& placed = placed_[k];
    const Collective& c = placed.collective;
    const auto rank =
        static_cast<std::uint32_t>(std::find(c.members.begin(), c.members.end(), npu) - c.members.begin());
    const auto slot = static_cast<std::uint8_t>(order == Order::kOneByOne ? 0 : k % WVP_SLOTS);
    if (order != Order::kOneByOne) program.push_back(wait_command(slot));
    placed.command[rank] = static_cast<std::uint32_t>(program.size());
    program.push_back(start_command(c, static_cast<std::uint16_t>(comms.size()), slot));
    program.back().dst = placed.dst;
    program.back().src = placed.src;
    program.back().sequence = placed.sequence;
    comms.push_back(make_comm(c, placed.id, rank, placed.flows));
    if (order == Order::kOneByOne) program.push_back(wait_command(slot));
    if (options.values) {
      const std::uint64_t at = c.op == WVP_OP_ALL_TO_ALL ? placed.src : placed.dst;
      std::copy(placed.before[rank].begin(), placed.before[rank].end(),
                wafer_->npu(npu).memory.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  program.push_back(wvp_command{});  // END
  wafer_->load(npu, program, comms);
}

void Session::load(Order order) {
  options.memory_bytes = memory_;
  wafer_ = std::make_unique<MockWafer>(npus_, options);
  for (std::uint32_t npu = 0; npu < npus_; npu++) {
    std::vector<std::size_t> operations;
    for (std::size_t k = 0; k < placed_.size(); k++) {
      const auto& members = placed_[k].collective.members;
      if (std::count(members.begin(), members.end(), npu)) operations.push_back(k);
    }
    if (order == Order::kEachInItsOwn) std::shuffle(operations.begin(), operations.end(), random_);
    load(npu, operations, order);
  }
  for (const Placed& placed : placed_) {
    if (placed.collective.flows) add_flows(placed);
  }
}

void Session::check_end(std::uint32_t npu, std::uint32_t command) {
  for (Placed& placed : placed_) {
    const Collective& c = placed.collective;
    const auto place = std::find(c.members.begin(), c.members.end(), npu);
    const auto rank = static_cast<std::size_t>(place - c.members.begin());
    if (place == c.members.end() || placed.command[rank] != command) continue;
    if (placed.ended[rank]) difference_ += name_of(c) + ": ended twice";
    placed.ended[rank] = true;
    if (!options.values) return;
    Span compared{0, placed.expected[rank].size()};
    if (c.op == WVP_OP_REDUCE_SCATTER) compared = byte_shares(c)[rank];
    std::uint8_t* memory = wafer_->npu(npu).memory.data();
    const std::uint8_t* expected = placed.expected[rank].data() + compared.begin;
    if (difference_.empty() &&
        !std::equal(expected, expected + compared.count, memory + placed.dst + compared.begin)) {
      difference_ = name_of(c) + ": wrong values on rank " + std::to_string(rank);
    }
    std::fill_n(memory + placed.dst, placed.out_bytes, std::uint8_t{0xa5});
    if (c.op == WVP_OP_ALL_TO_ALL) std::fill_n(memory + placed.src, c.bytes, std::uint8_t{0xa5});
    return;
  }
  difference_ += "an end of command " + std::to_string(command) + ", which was not started";
}

std::string Session::run(Order order) {
  load(order);
  wafer_->on_end = [this](std::uint32_t npu, std::uint32_t command) { check_end(npu, command); };
  const bool done = wafer_->run();
  if (!difference_.empty()) return difference_;
  const std::string what = placed_.size() == 1 ? name_of(placed_[0].collective) : "several operations";
  if (!done) return what + ": not all ranks are done";
  if (wafer_->left_over()) return what + ": messages are left over";
  for (const Placed& placed : placed_) {
    if (std::count(placed.ended.begin(), placed.ended.end(), false))
      return name_of(placed.collective) + ": no end";
  }
  return "";
}

}  // namespace wafervp::test
