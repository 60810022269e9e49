// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>

#include "core/calendar.h"
#include "core/fabric_protocol.h"
#include "core/ids.h"
#include "core/rate.h"
#include "core/split_mix.h"
#include "link/link_module.h"

namespace wafervp {

/// What the messages of one or more site links take turns on, in the order in which they are there.
struct SiteWire {
  Time free_at = 0;
};

/// How much later than the latency a message arrives.
enum class Jitter : std::uint8_t {
  kNone,
  kUniform,  ///< 0 to `jitter`
  kNormal,   ///< standard deviation `jitter`, as a sum of twelve uniform numbers; never before the latency's
             ///< own minimum of 0
};

struct SiteLinkConfig {
  LinkId id;
  Rate rate;         ///< bytes per second
  Time latency = 0;  ///< ps
  /// The wire is taken until the message has arrived, so that a latency lies between two messages.
  bool latency_occupies = false;
  Jitter distribution = Jitter::kNone;
  Time jitter = 0;  ///< ps
  std::uint64_t seed = 0;
};

/// A link between sites, one direction. It works in whole messages: one that is here waits for the wire,
/// is sent at `rate`, and arrives a latency later; the gateway holds what waits, without bound. Messages of
/// one link arrive in the order in which they were sent. The law is in README.md.
class SiteLink final : public LinkModule, public FabricFwInterface, public FabricBwInterface {
 public:
  /// Links that are given the same wire share it.
  SiteLink(sc_core::sc_module_name name, const SiteLinkConfig& config, Calendar& calendar,
           std::shared_ptr<SiteWire> wire);
  ~SiteLink() override;

  Lane* open(Flow& flow, std::uint16_t hop, unsigned input) override;
  const Rate& rate() const override { return config_.rate; }
  Time latency() const override { return config_.latency; }
  std::uint32_t buffer_packets() const override { return ~std::uint32_t{0}; }

  LinkStatistics statistics() const override { return statistics_; }
  std::uint64_t queued_packets(Time now) const override;

 private:
  class Waiting;

  /// HEAD: a run on its way to the gateway. CREDIT and STALL of what is behind say nothing to it.
  tlm::tlm_sync_enum nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;
  void send(Waiting& waiting, Time now);
  Time delay_of_next();

  SiteLinkConfig config_;
  Calendar& calendar_;
  std::shared_ptr<SiteWire> wire_;
  SplitMix random_;
  Time last_arrival_ = 0;  ///< last byte of the message before
  std::unordered_map<const Message*, std::unique_ptr<Waiting>> waiting_;
  std::vector<std::unique_ptr<Waiting>> spare_;
  LinkStatistics statistics_;
};

}  // namespace wafervp
