// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace wafervp::compression {

/// Why a codec refuses.
enum class Refusal {
  kUnknownCodec,         ///< no codec of that name
  kBadParameter,         ///< a configuration out of its range
  kElementNotSupported,  ///< element type that the codec does not take
  kBadMessage,           ///< a view whose size is not that of its shape
  kWrongCodec,           ///< the wire image is another codec's
  kWrongShape,           ///< the wire image is of another shape, element type or direction than is waited for
  kWrongParameter,       ///< another k, block, scale, index width... than the receiver's
  kWrongVersion,         ///< another version of U than the receiver's
  kTruncated,            ///< fewer bytes than the shape needs
  kTooLong,              ///< more bytes than the shape needs
  kMalformed,            ///< bytes that no encoder writes
  kMissingTokenIds,      ///< a forward message without an id for each row
  kTokenOutOfRange,      ///< an id beyond the table or beyond the width of an id on the wire
  kPositionOutOfRange,   ///< a row beyond the table of positions
  kNoBasis,              ///< values asked of a subspace codec that was configured for sizes only
  kNonFinite,            ///< NaN or infinity where the codec has no image for it
  kScaleOutOfRange,      ///< a block's scale does not fit the type of scales
};

/// Word for a refusal, as in reports: "wrong_version".
const char* refusal_name(Refusal refusal);

/// All that a codec can fail with. The text names the codec, what was expected and what was found.
class CodecError : public std::runtime_error {
 public:
  CodecError(Refusal refusal, const std::string& codec, const std::string& text)
      : std::runtime_error(codec + ": " + text), refusal_(refusal) {}
  Refusal refusal() const { return refusal_; }

 private:
  Refusal refusal_;
};

}  // namespace wafervp::compression
