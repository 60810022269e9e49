// SPDX-License-Identifier: Apache-2.0
#include "workload/hand_over.h"

#include <algorithm>
#include <utility>

namespace wafervp {

void HandOver::receive_by(std::uint16_t chain, std::vector<std::uint64_t> buffers) {
  receive_chain_ = chain;
  received_ = std::move(buffers);
}

void HandOver::send_by(std::uint16_t chain, std::vector<std::uint64_t> buffers) {
  send_chain_ = chain;
  sent_ = std::move(buffers);
}

void HandOver::start_step() {
  received_count_ = sent_count_ = 0;
  post_receive();
}

void HandOver::post_receive() {
  if (received_.empty() || received_count_ == microbatches_) return;
  program_.start(make_(receive_chain_, slots_.receive, received_[received_count_ % received_.size()]));
  ++received_count_;
}

void HandOver::await_receive() {
  if (received_.empty()) return;
  program_.wait(slots_.receive);
  post_receive();
}

void HandOver::send() {
  if (sent_.empty()) return;
  const unsigned turn = sent_count_ % kSendsInFlight;
  if (sent_count_ >= kSendsInFlight) program_.wait(slots_.send + turn);
  program_.start(make_(send_chain_, slots_.send + turn, sent_[sent_count_ % sent_.size()]));
  ++sent_count_;
}

void HandOver::end_step() {
  for (unsigned i = 0; i < std::min(sent_count_, kSendsInFlight); ++i) program_.wait(slots_.send + i);
}

}  // namespace wafervp
