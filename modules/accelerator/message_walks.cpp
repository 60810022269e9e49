// SPDX-License-Identifier: Apache-2.0
// Messages that arrive, most of them for walks, and the steps of walks.
#include <algorithm>

#include "accelerator/message_engine.h"
#include "core/prefetch.h"

namespace wafervp {

namespace {

constexpr unsigned kWalkFlagShift = 8;  ///< from flags of walks to those of descriptors

/// As EXPECT parts and walks name it.
std::uint32_t sender_of(const Message& message) {
  return message.group != 0 ? (WVP_FROM_FLOW | message.group) : message.source.value;
}

}  // namespace

void MessageEngine::start_walk(const wvp_descriptor& descriptor, Time local) {
  const std::uint32_t number = descriptor.cookie;
  if (number >= walks_.size()) refuse(descriptor, "no such walk");
  const wvp_walk& walk = walks_[number];
  if (walk.under_way != 0) refuse(descriptor, "the walk is under way");
  if (walk.share >= walk.shares) refuse(descriptor, "the walk's share is not one of its shares");
  if (walk.traffic_class > WVP_CLASS_CONTROL) refuse(descriptor, "the walk has no such traffic class");
  walks_.begin(number);
  go_on(number, local);
}

/// To be called when a walk began or took a step, at `local`. A message that is here already is taken then,
/// as if it came at that time; behind the last step the walk is over.
inline void MessageEngine::go_on(std::uint32_t number, Time local) {
  const wvp_walk& walk = walks_[number];
  if (walk.left == 0) {
    walks_.end(number);
    expect({walk.from, walk.tag, wvp_share_bytes(&walk, walk.share), number}, local);
  } else if (early_ != 0 && matches_.holds(walk.from, walk.tag, MatchTable::State::kReceived)) {
    early_steps_.push_back({local, number});
    if (local < early_call_.time()) port_.calendar().schedule(early_call_, local);
  }
}

void MessageEngine::take_early_steps(Time now) {
  Time next = kNever;
  std::size_t kept = 0;
  for (const EarlyStep& step : early_steps_) {
    if (step.when <= now) {
      deferred_.push_back({step.number, nullptr});
    } else {
      next = std::min(next, step.when);
      early_steps_[kept++] = step;
    }
  }
  early_steps_.resize(kept);
  if (next != kNever) port_.calendar().schedule(early_call_, next);
  if (deferred_.empty()) return;
  deferring_ = true;
  completions_.defer(*this);
}

void MessageEngine::take_early_step(std::uint32_t number, Time now) {
  wvp_walk& walk = walks_[number];
  MatchTable::Slot& slot = *take_early(walk.from, walk.tag);
  if (slot.bytes != wvp_share_bytes(&walk, walk.share)) return stop_walk(number, slot, now);
  Time ready;
  const Outgoing outgoing = step(number, slot.data, slot.bytes, now, ready);
  staged_bytes_ -= slot.bytes;
  matches_.free(slot);
  send(outgoing, wvp_share_address(&walk, walk.share), ready);
  next_share(walk);
  go_on(number, now);
}

/// A step without its send. It begins at `local` at the earliest, which becomes its end; its send may leave
/// at `ready`.
inline Outgoing MessageEngine::step(std::uint32_t number, const Bytes& data, std::uint64_t bytes, Time& local,
                                    Time& ready) {
  wvp_walk& walk = walks_[number];
  if (charged_ != nullptr) local = std::min(charged_->charge_step(local), kTimeEnd);
  ready = local;
  if ((walk.flags & WVP_W_REDUCE) != 0) {
    if (!sums_are_free_) {
      ready = reduce({wvp_share_address(&walk, walk.share), bytes, data, walk.dtype, number}, local);
    }
  } else if (values_) {
    memory_.store(wvp_share_address(&walk, walk.share), data, bytes, number);
  }
  ++walk.tag;
  --walk.left;
  ++walked_steps_;
  Outgoing outgoing;
  outgoing.to = walk.send_to;
  static_assert(WVP_W_WINDOW << kWalkFlagShift == WVP_D_WINDOW &&
                WVP_W_TENSOR << kWalkFlagShift == WVP_D_TENSOR);
  outgoing.flags = static_cast<std::uint32_t>(walk.flags & (WVP_W_WINDOW | WVP_W_TENSOR)) << kWalkFlagShift;
  outgoing.tag = walk.tag;
  outgoing.bytes = bytes;
  outgoing.priority = walk.priority;
  outgoing.cookie = number;
  outgoing.dtype = walk.dtype;
  outgoing.traffic_class = walk.traffic_class;
  return outgoing;
}

inline void MessageEngine::next_share(wvp_walk& walk) {
  walk.share = (walk.share != 0 ? walk.share : walk.shares) - 1;
}

/// The message in `slot`, which has another size than the walk expects, goes to firmware.
void MessageEngine::stop_walk(std::uint32_t number, MatchTable::Slot& slot, Time when) {
  walks_.end(number);
  received(slot, wvp_share_bytes(&walks_[number], walks_[number].share), number, when);
}

/// Of a message that does not stay.
inline void MessageEngine::count_received(std::uint64_t bytes) {
  ++received_messages_;
  received_bytes_ += bytes;
  staged_bytes_peak_ = std::max(staged_bytes_peak_, staged_bytes_ + bytes);
}

/// Keeps what came with the message.
void MessageEngine::stage(MatchTable::Slot& slot, Message& message) {
  slot.bytes = message.bytes;
  if (message.data) move_values(slot.data, message.data);
  count_received(slot.bytes);
  staged_bytes_ += slot.bytes;
  messages_.release(&message);
}

inline void MessageEngine::take_step(std::uint32_t number, Message& message, Time now) {
  wvp_walk& walk = walks_[number];
  const std::uint64_t bytes = message.bytes;
  if (bytes != wvp_share_bytes(&walk, walk.share)) {
    MatchTable::Slot& slot = matches_.insert(walk.from, walk.tag, MatchTable::State::kStaged);
    stage(slot, message);
    return stop_walk(number, slot, now);
  }
  count_received(bytes);
  Time ready;
  const Outgoing outgoing = step(number, message.data, bytes, now, ready);
  // Nobody keeps the message, or what came with it.
  if (sends_sizes_ && (outgoing.flags & WVP_D_WINDOW) == 0) {
    port_.pass_on(message, outgoing, ready);
  } else {
    messages_.release(&message);
    send(outgoing, wvp_share_address(&walk, walk.share), ready);
  }
  next_share(walk);
  go_on(number, now);
}

/// Messages of one time take their steps in the order of their tags.
inline void MessageEngine::on_walk_message(std::uint32_t number, Message& message, Time now) {
  if (!deferring_ && port_.calendar().last_of_order()) return take_step(number, message, now);
  deferring_ = true;
  deferred_.push_back({number, &message});
  completions_.defer(*this);
}

void MessageEngine::run_deferred(Time now) {
  std::sort(deferred_.begin(), deferred_.end(), [this](const WalkMessage& a, const WalkMessage& b) {
    const std::uint64_t tag_a = walks_[a.number].tag, tag_b = walks_[b.number].tag;
    return tag_a != tag_b ? tag_a < tag_b : a.number < b.number;
  });
  for (const WalkMessage& one : deferred_) {
    if (one.message != nullptr) {
      take_step(one.number, *one.message, now);
    } else {
      take_early_step(one.number, now);
    }
  }
  deferred_.clear();
  deferring_ = false;
}

void MessageEngine::on_message(Message& message, Time now) {
  const std::uint32_t from = sender_of(message);
  if (walks_.waits(message.cookie, from, message.tag)) return on_walk_message(message.cookie, message, now);
  if (MatchTable::Slot* slot = matches_.take(from, message.tag, MatchTable::State::kArmed)) {
    const std::uint64_t expected_bytes = slot->bytes;
    stage(*slot, message);
    return received(*slot, expected_bytes, slot->cookie, now);
  }
  const std::uint32_t number = walks_.find(from, message.tag);
  if (number != WalkTable::kNone) return on_walk_message(number, message, now);
  ++early_;
  stage(matches_.insert(from, message.tag, MatchTable::State::kReceived), message);
}

// What a step reads, the one before has asked for, all but the slot: waiting for it overlaps with other work.
void MessageEngine::prepare(const Message& message, unsigned step) const {
  const std::uint32_t hash = MatchTable::hash_of(sender_of(message), message.tag);
  const bool walks = walks_.under_way() != 0 && message.cookie < walks_.size();
  if (step == 1) {
    if (walks) {
      prefetch(&walks_[message.cookie], sizeof(wvp_walk));
    } else {
      matches_.prepare(hash);
      prefetch(&ring_[head_ & (ring_size_ - 1)], sizeof(wvp_descriptor));
      completions_.prepare();
      port_.prepare();
    }
  } else if (walks) {
    port_.prepare(walks_[message.cookie].send_to, walks_[message.cookie].traffic_class);
  } else {
    completions_.prepare_processor(matches_.likely_cookie(hash));
  }
}

}  // namespace wafervp
