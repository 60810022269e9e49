// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "compression/message.h"

namespace wafervp::compression {

/// What the messages of each stream have left unsent, which is added to the next one. A message of another
/// shape than the last one of its stream starts anew.
class ErrorFeedback {
 public:
  /// The message with what is owed, rounded to its element type; valid until the next call.
  MessageView owed(const MessageView& message, std::uint64_t stream);
  /// `sent`: what the receiver will decode of the message that owed() gave last. NaN and infinity are not
  /// kept.
  void settle(ByteView sent);

 private:
  struct Stream {
    Shape shape;
    std::vector<double> residual;
  };
  std::map<std::uint64_t, Stream> streams_;
  Stream* current_ = nullptr;
  std::vector<double> exact_;
  std::vector<std::byte> rounded_;
};

}  // namespace wafervp::compression
