// SPDX-License-Identifier: Apache-2.0
#include "mock_wafer.h"

#include <algorithm>
#include <stdexcept>

namespace wafervp::test {
namespace {

constexpr std::uint32_t kWalks = 96;

[[noreturn]] void refuse(std::uint32_t npu, const std::string& what) {
  throw std::logic_error("NPU " + std::to_string(npu) + ": " + what);
}

}  // namespace

MockNpu::MockNpu(MockWafer& wafer, std::uint32_t number)
    : memory(wafer.options.values ? wafer.options.memory_bytes : 0),
      wafer_(wafer),
      number_(number),
      ring_(wafer.options.descriptor_entries),
      completion_ring_(wafer.options.completion_entries),
      walks_(kWalks),
      context_((wvp_context_bytes() + 7) / 8) {
  hal_.bus = this;
  hal_.read32 = [](void* bus, std::uint32_t offset) { return static_cast<MockNpu*>(bus)->read(offset); };
  hal_.write32 = [](void* bus, std::uint32_t offset, std::uint32_t value) {
    static_cast<MockNpu*>(bus)->write(offset, value);
  };
  hal_.charge_step = [](void* bus) { static_cast<MockNpu*>(bus)->charges++; };
  hal_.descriptors = ring_.data();
  hal_.completions = completion_ring_.data();
  hal_.walks = walks_.data();
}

std::vector<struct wvp_waiting> MockNpu::waiting() const {
  const auto* context = reinterpret_cast<const wvp_context*>(context_.data());
  std::vector<struct wvp_waiting> entries(wvp_waiting(context, nullptr, 0));
  wvp_waiting(context, entries.data(), static_cast<std::uint32_t>(entries.size()));
  return entries;
}

std::uint32_t MockNpu::read(std::uint32_t offset) {
  switch (offset) {
    case WVP_REG_DQ_SIZE:
      return static_cast<std::uint32_t>(ring_.size());
    case WVP_REG_WALKS:
      return kWalks;
    case WVP_REG_CQ_SIZE:
      return static_cast<std::uint32_t>(completion_ring_.size());
    case WVP_REG_DQ_HEAD:
      return head_;
    default:
      refuse(number_, "read of register " + std::to_string(offset));
  }
}

void MockNpu::write(std::uint32_t offset, std::uint32_t value) {
  if (exited) refuse(number_, "register written after EXIT");
  switch (offset) {
    case WVP_REG_DQ_DOORBELL:
      doorbells++;
      if (value - head_ > ring_.size()) refuse(number_, "descriptor ring overrun");
      if (value == doorbell_) refuse(number_, "doorbell without a descriptor");
      doorbell_ = value;
      if (wafer_.options.lazy) {
        wafer_.unconsumed_.insert(number_);
      } else {
        consume(doorbell_ - head_);
      }
      break;
    case WVP_REG_CQ_HEAD:
      head_writes++;
      if (value - completion_head_ > completion_tail_ - completion_head_)
        refuse(number_, "CQ_HEAD beyond tail");
      completion_head_ = value;
      break;
    case WVP_REG_EXIT:
      exited = true;
      status = value;
      break;
    case WVP_REG_PHASE:
      phases.push_back({value >> 24 & 0xfu, value & 0xffffffu});
      if ((value >> 24 & 0xfu) == WVP_PHASE_OP_END && wafer_.on_end)
        wafer_.on_end(number_, value & 0xffffffu);
      break;
    default:
      if (offset < WVP_REG_ERROR_OP || offset > WVP_REG_ERROR_FOUND_HI)
        refuse(number_, "write of a register");
      error_registers[offset] = value;
  }
}

void MockNpu::consume(std::uint32_t count) {
  for (; count > 0; count--) {
    const wvp_descriptor descriptor = ring_[head_ & (ring_.size() - 1)];
    ring_[head_ & (ring_.size() - 1)].flags = 0xffffffffu;  // nobody may rely on what it held
    head_++;
    descriptors++;
    execute(descriptor);
  }
}

std::uint8_t* MockNpu::at(std::uint64_t address, std::uint64_t bytes) {
  if (bytes > memory.size() || address > memory.size() - bytes) refuse(number_, "address outside memory");
  return memory.data() + address;
}

void MockNpu::execute(const wvp_descriptor& descriptor) {
  const std::uint32_t flags = descriptor.flags;
  const bool values = wafer_.options.values;
  wvp_completion note{};
  note.cookie = descriptor.cookie;
  if (flags & WVP_D_COMPUTE) {
    note.kind = WVP_C_COMPUTED;
    wafer_.later_.push_back({number_, note});
    return;
  }
  if (flags & WVP_D_COPY) {
    note.kind = WVP_C_COPIED;
    if (values) {
      const std::uint8_t* from = at(descriptor.send_addr, descriptor.send_bytes);
      std::copy(from, from + descriptor.send_bytes, at(descriptor.combine_addr, descriptor.send_bytes));
    }
    wafer_.later_.push_back({number_, note});
    return;
  }
  if (flags & (WVP_D_COMBINE_REDUCE | WVP_D_COMBINE_COPY | WVP_D_COMBINE_DROP)) {
    const auto staged = staged_.find(descriptor.staged);
    if (staged == staged_.end()) refuse(number_, "no such staged message");
    if (!(flags & WVP_D_COMBINE_DROP)) {
      combine(descriptor.dtype, flags & WVP_D_COMBINE_REDUCE, descriptor.combine_addr, staged->second.data);
    }
    if (flags & WVP_D_NOTIFY_COMBINED) {
      note.kind = WVP_C_COPIED;
      wafer_.later_.push_back({number_, note});
    }
    staged_.erase(staged);
  }
  if (flags & WVP_D_SEND) {
    sent_messages++;
    sent_tags.push_back(descriptor.send_tag);
    if (flags & WVP_D_WINDOW) priorities.push_back(descriptor.priority);
    wafer_.post(number_, descriptor);
  }
  if (flags & WVP_D_WALK) {
    start_walk(descriptor.cookie);
  } else if (flags & WVP_D_EXPECT) {
    expect({descriptor.expect_from, descriptor.expect_tag}, {descriptor.cookie, descriptor.expect_bytes});
  }
}

void MockNpu::expect(const Key& key, const Expectation& expectation) {
  if (!expected_.emplace(key, expectation).second) refuse(number_, "two receives with one tag");
  const auto arrived = arrived_.find(key);
  if (arrived != arrived_.end()) match(key, expectation);
}

void MockNpu::combine(std::uint8_t dtype, bool reduce, std::uint64_t address, const Buffer& data) {
  if (data.empty()) return;
  std::uint8_t* to = at(address, data.size());
  if (reduce) {
    add_all(dtype, to, data.data(), data.size());
  } else {
    std::copy(data.begin(), data.end(), to);
  }
}

void MockNpu::start_walk(std::uint32_t number) {
  if (number >= walks_.size()) refuse(number_, "no such walk");
  wvp_walk& walk = walks_[number];
  if (walk.under_way || walk.share >= walk.shares) refuse(number_, "a walk under way, or without a share");
  walk.under_way = 1;
  while (walk.under_way) {
    const Key key{walk.from, walk.tag};
    if (walk.left == 0) {
      walk.under_way = 0;
      expect(key, {number, wvp_share_bytes(&walk, walk.share)});
    } else if (arrived_.count(key) != 0) {
      take_step(number);
    } else {
      if (!walking_.emplace(key, number).second) refuse(number_, "two walks with one tag");
      return;
    }
  }
}

void MockNpu::take_waiting_steps() {
  while (!steps_.empty()) {
    auto first = steps_.begin();
    for (auto step = steps_.begin(); step != steps_.end(); ++step) {
      if (step->first.second < first->first.second) first = step;
    }
    const std::uint32_t number = first->second;
    steps_.erase(first);
    take_step(number);
    if (!walks_[number].under_way) continue;
    walks_[number].under_way = 0;
    start_walk(number);
  }
}

/// The message of the walk's next step has arrived.
void MockNpu::take_step(std::uint32_t number) {
  wvp_walk& walk = walks_[number];
  const Key key{walk.from, walk.tag};
  const std::uint64_t bytes = wvp_share_bytes(&walk, walk.share);
  const Message message = arrived_[key].front();
  if (message.bytes != bytes) {
    walk.under_way = 0;
    expect(key, {number, bytes});
    return;
  }
  arrived_[key].pop_front();
  if (arrived_[key].empty()) arrived_.erase(key);
  charges++;
  walked_steps++;
  wvp_descriptor send{};
  send.flags = WVP_D_SEND;
  send.cookie = number;
  send.send_addr = wvp_share_address(&walk, walk.share);
  send.send_bytes = bytes;
  send.send_to = walk.send_to;
  send.send_tag = ++walk.tag;
  combine(walk.dtype, walk.flags & WVP_W_REDUCE, send.send_addr, message.data);
  if (walk.flags & WVP_W_WINDOW) priorities.push_back(walk.priority);
  sent_messages++;
  sent_tags.push_back(send.send_tag);
  wafer_.post(number_, send);
  walk.share = (walk.share ? walk.share : walk.shares) - 1;
  walk.left--;
}

void MockNpu::arrive(Message message) {
  const Key key{message.from, message.tag};
  arrived_[key].push_back(std::move(message));
  const auto walking = walking_.find(key);
  if (walking != walking_.end()) {
    const std::uint32_t number = walking->second;
    walking_.erase(walking);
    steps_.emplace(key, number);
    if (wafer_.options.patient) {
      wafer_.dirty_.insert(number_);
    } else {
      take_waiting_steps();
    }
    return;
  }
  const auto expected = expected_.find(key);
  if (expected != expected_.end()) match(key, expected->second);
}

void MockNpu::match(const Key& key, const Expectation& expectation) {
  auto& queue = arrived_[key];
  wvp_completion completion{};
  completion.cookie = expectation.cookie;
  completion.kind = WVP_C_RECEIVED;
  completion.status = queue.front().bytes == expectation.bytes ? WVP_S_OK : WVP_S_SIZE_MISMATCH;
  completion.from = key.first;
  completion.tag = key.second;
  completion.bytes = queue.front().bytes;
  completion.staged = next_staged_++;
  staged_[completion.staged] = std::move(queue.front());
  queue.pop_front();
  if (queue.empty()) arrived_.erase(key);
  expected_.erase(key);
  complete(completion);
}

void MockNpu::complete(wvp_completion completion) {
  if (completion_tail_ - completion_head_ == completion_ring_.size())
    refuse(number_, "completion ring overrun");
  completion.phase = !(completion_tail_ / completion_ring_.size() & 1);
  completion_ring_[completion_tail_++ & (completion_ring_.size() - 1)] = completion;
  completions++;
  wafer_.dirty_.insert(number_);
}

MockWafer::MockWafer(std::uint32_t npus, const MockOptions& mock_options)
    : options(mock_options), random_(mock_options.seed) {
  for (std::uint32_t i = 0; i < npus; i++) npus_.push_back(std::make_unique<MockNpu>(*this, i));
}

MockWafer::~MockWafer() = default;

void MockWafer::load(std::uint32_t number, std::vector<wvp_command> program, std::vector<wvp_comm> comms) {
  npus_[number]->program_ = std::move(program);
  npus_[number]->comms_ = std::move(comms);
}

void MockWafer::post(std::uint32_t source, const wvp_descriptor& descriptor) {
  const bool to_flow = descriptor.flags & WVP_D_SEND_FLOW;
  if (to_flow && !flows_.count(descriptor.send_to)) refuse(source, "no such flow");
  if (!to_flow && (descriptor.send_to >= size() || descriptor.send_to == source))
    refuse(source, "no such peer");
  const Lane lane{source, descriptor.send_to | (to_flow ? std::uint64_t{1} << 32 : 0)};
  auto& queue = lanes_[lane];
  if (queue.empty()) busy_.push_back(lane);
  queue.push_back({source, descriptor});
}

void MockWafer::leave(const Lane& lane) {
  auto& queue = lanes_[lane];
  const Posted posted = queue.front();
  queue.pop_front();
  if (queue.empty()) busy_.erase(std::find(busy_.begin(), busy_.end(), lane));
  const wvp_descriptor& descriptor = posted.descriptor;
  MockNpu& source = *npus_[posted.source];
  MockNpu::Message message{posted.source, descriptor.send_tag, descriptor.send_bytes, {}};
  if (options.values && message.bytes) {
    const std::uint8_t* from = source.at(descriptor.send_addr, message.bytes);
    message.data.assign(from, from + message.bytes);
  }
  if (descriptor.flags & WVP_D_NOTIFY_SENT) {
    wvp_completion note{};
    note.cookie = descriptor.cookie;
    note.kind = WVP_C_SENT;
    note.tag = descriptor.send_tag;
    later_.push_back({posted.source, note});
  }
  if (descriptor.flags & WVP_D_SEND_FLOW) {
    const MockFlow& flow = flows_[descriptor.send_to];
    if (std::find(flow.inputs.begin(), flow.inputs.end(), posted.source) == flow.inputs.end()) {
      refuse(posted.source, "sends into a flow that it does not feed");
    }
    stages_[descriptor.send_to][posted.source].push_back(std::move(message));
    reduce(descriptor.send_to, descriptor.dtype);
  } else {
    npus_[descriptor.send_to]->arrive(std::move(message));
  }
}

void MockWafer::reduce(std::uint32_t number, std::uint32_t dtype) {
  const MockFlow& flow = flows_[number];
  auto& stage = stages_[number];
  for (const std::uint32_t input : flow.inputs) {
    if (stage[input].empty()) return;
  }
  MockNpu::Message sum = std::move(stage[flow.inputs[0]].front());
  stage[flow.inputs[0]].pop_front();
  for (std::size_t i = 1; i < flow.inputs.size(); i++) {
    auto& queue = stage[flow.inputs[i]];
    if (queue.front().tag != sum.tag) refuse(flow.inputs[i], "tags differ within a flow");
    if (queue.front().bytes != sum.bytes) refuse(flow.inputs[i], "sizes differ within a flow");
    if (!sum.data.empty()) add_all(dtype, sum.data.data(), queue.front().data.data(), sum.data.size());
    queue.pop_front();
  }
  sum.from = WVP_FROM_FLOW | number;
  for (const std::uint32_t output : flow.outputs) npus_[output]->arrive(sum);
}

void MockWafer::progress(std::uint32_t number) {
  MockNpu& npu = *npus_[number];
  npu.take_waiting_steps();
  if (npu.booted_) wvp_progress(reinterpret_cast<wvp_context*>(npu.context_.data()));
}

bool MockWafer::run() {
  for (std::uint32_t i = 0; i < size(); i++) {
    MockNpu& npu = *npus_[i];
    if (npu.program_.empty()) continue;
    npu.booted_ = true;
    wvp_boot(reinterpret_cast<wvp_context*>(npu.context_.data()), &npu.hal_, npu.program_.data(),
             npu.comms_.data(), static_cast<std::uint32_t>(npu.comms_.size()));
  }
  const auto take = [this](std::set<std::uint32_t>& set) {
    auto place = std::next(set.begin(), static_cast<std::ptrdiff_t>(pick(set.size())));
    const std::uint32_t number = *place;
    set.erase(place);
    return number;
  };
  for (;;) {
    const std::size_t others = busy_.size() + later_.size() + unconsumed_.size();
    if (others + dirty_.size() == 0) break;
    if (options.patient && others == 0) {
      const std::set<std::uint32_t> ready = std::move(dirty_);
      dirty_.clear();
      for (const std::uint32_t number : ready) progress(number);
      continue;
    }
    const std::size_t callable = options.patient ? 0 : dirty_.size();
    std::size_t choice = pick(others + callable);
    if (choice < busy_.size()) {
      leave(Lane(busy_[choice]));
      continue;
    }
    choice -= busy_.size();
    if (choice < later_.size()) {
      const Event event = later_[choice];
      later_[choice] = later_.back();
      later_.pop_back();
      npus_[event.npu]->complete(event.completion);
      continue;
    }
    choice -= later_.size();
    if (choice < callable) {
      progress(take(dirty_));
      continue;
    }
    MockNpu& npu = *npus_[take(unconsumed_)];
    npu.consume(1 + static_cast<std::uint32_t>(pick(npu.doorbell_ - npu.head_)));
    if (npu.doorbell_ != npu.head_) unconsumed_.insert(npu.number_);
    dirty_.insert(npu.number_);
  }
  return std::all_of(npus_.begin(), npus_.end(), [](const auto& npu) {
    return !npu->booted_ || (npu->exited && npu->status == WVP_EXIT_OK);
  });
}

std::size_t MockWafer::left_over() const {
  std::size_t count = 0;
  for (const auto& npu : npus_)
    count += npu->arrived_.size() + npu->expected_.size() + npu->staged_.size() + npu->walking_.size();
  for (const auto& lane : lanes_) count += lane.second.size();
  for (const auto& flow : stages_) {
    for (const auto& input : flow.second) count += input.second.size();
  }
  return count;
}

}  // namespace wafervp::test
