// SPDX-License-Identifier: Apache-2.0
#include "accelerator/compute_engine.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace wafervp {

namespace {

/// The peak in whole FLOP/s, so that times come from integers alone.
std::uint64_t whole_flops(double peak, NpuId npu) {
  if (!(peak >= 1.0 && peak < 9e18)) {
    throw std::invalid_argument("NPU " + std::to_string(npu.value) + ": peak_flops_per_s is " +
                                std::to_string(peak) + "; expected 1 to 9e18");
  }
  return static_cast<std::uint64_t>(peak + 0.5);
}

constexpr Time kLongest = Time{1} << 63;

Time checked(const Rate& rate, std::uint64_t amount, NpuId npu, std::uint32_t cookie) {
  __extension__ using Wide = unsigned __int128;
  if (static_cast<Wide>(amount) * kPsPerSecond > static_cast<Wide>(kLongest) * rate.bytes_per_s()) {
    throw std::runtime_error("NPU " + std::to_string(npu.value) + ": compute of descriptor cookie " +
                             std::to_string(cookie) + " takes more than 2^63 ps");
  }
  return rate.ps(amount);
}

}  // namespace

ComputeEngine::ComputeEngine(const AcceleratorConfig& config, Calendar& calendar,
                             CompletionQueue& completions)
    : calendar_(calendar),
      completions_(completions),
      npu_(config.npu),
      peak_(whole_flops(config.peak_flops_per_s, config.npu)),
      memory_(config.hbm_bytes_per_s == 0 ? 1 : config.hbm_bytes_per_s),
      memory_term_(config.hbm_bytes_per_s != 0),
      finish_(*this, Stage::kArrival, config.npu.value) {}

Time ComputeEngine::duration(const wvp_descriptor& descriptor) const {
  if (descriptor.compute_ps != 0) return descriptor.compute_ps;
  const Time arithmetic = checked(peak_, descriptor.compute_flops, npu_, descriptor.cookie);
  const Time memory = memory_term_ ? checked(memory_, descriptor.compute_bytes, npu_, descriptor.cookie) : 0;
  return std::max(arithmetic, memory);
}

void ComputeEngine::start(const wvp_descriptor& descriptor, Time local) {
  const Time begin = std::max(local, free_at_);
  const Time length = duration(descriptor);
  if (length > kLongest || begin > kLongest) {
    throw std::runtime_error("NPU " + std::to_string(npu_.value) + ": compute of descriptor cookie " +
                             std::to_string(descriptor.cookie) + " ends after 2^63 ps");
  }
  free_at_ = begin + length;
  queue_.push_back({begin, free_at_, descriptor.cookie, descriptor.kernel, descriptor.send_tag});
  if (observer_ != nullptr) observer_->on_compute(npu_, begin, free_at_);
  if (!finish_.scheduled()) calendar_.schedule(finish_, free_at_);
}

void ComputeEngine::finish(Time now) {
  const Work done = queue_.front();
  queue_.erase(queue_.begin());
  busy_ps_ += done.end - done.begin;
  if (done.kernel != 0 && kernels_ != nullptr) kernels_->run(npu_, done.kernel, done.argument, now);
  wvp_completion& completion = completions_.raise(now);
  completion.cookie = done.cookie;
  completion.kind = WVP_C_COMPUTED;
  if (!queue_.empty()) calendar_.schedule(finish_, queue_.front().end);
}

}  // namespace wafervp
