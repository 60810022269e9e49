// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <systemc>
#include <vector>

#include "core/calendar.h"
#include "core/fabric_protocol.h"
#include "link/lane.h"

namespace wafervp {

struct LinkConfig {
  LinkId id;
  Rate rate;                         ///< bytes per second, one direction
  Time latency = 0;                  ///< ps
  std::uint32_t buffer_packets = 2;  ///< credits of each flow at the far end
  std::uint32_t train_packets = 4;   ///< longest train under contention
  bool packet_grain = false;         ///< every packet is a run of its own
};

struct LinkStatistics {
  std::uint64_t bytes = 0;  ///< payload that was put on the wire
  std::uint64_t packets = 0;
  std::uint64_t runs = 0;
  Time busy_ps = 0;     ///< serialising
  Time stalled_ps = 0;  ///< idle while the flow that went next had a packet and no credit
  std::array<std::uint64_t, 4> class_bytes{};  ///< by traffic class
};

/// A wafer link, one direction: queue per flow, credits per flow, arbitration, serialisation, latency.
/// The law is in README.md; its parts are named in the same words as there.
class Link : public sc_core::sc_module,
             public FabricFwInterface,
             public FabricBwInterface,
             public FabricLink {
 public:
  FabricTargetSocket in;
  FabricInitiatorSocket out;

  Link(sc_core::sc_module_name name, const LinkConfig& config, Calendar& calendar);

  /// The node that `out` is bound to, and its input port.
  void set_target(FabricNode& node, unsigned input);

  Lane* open(Flow& flow, std::uint16_t hop, unsigned input) override;
  FabricNode& target() override { return *target_; }
  unsigned target_input() const override { return target_input_; }
  const Rate& rate() const override { return config_.rate; }
  Time latency() const override { return config_.latency; }
  std::uint32_t buffer_packets() const override { return config_.buffer_packets; }

  const LinkConfig& config() const { return config_; }
  const LinkStatistics& statistics() const { return statistics_; }
  /// Packets that wait at this link at `now`, for reports.
  std::uint64_t queued_packets(Time now) const;

  tlm::tlm_sync_enum nb_transport_fw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(Run& run, FabricPhase& phase, sc_core::sc_time& delay) override;

 private:
  /// Start times of the packets of a run that begins at a given time on this link.
  struct Slots {
    Time origin;
    std::uint64_t offset;
    const Rate* rate;
    Time late = 0;
    Time at(std::uint64_t i) const { return origin + late + rate->ps(offset + i * kPacketBytes); }
  };
  struct Extent {
    std::uint64_t packets;
    bool unknown_beyond;  ///< it ends where nothing is promised yet, not where a promise is too late
  };
  /// A run that was put on the link ahead of its time.
  struct Booked {
    Run run;
    Time arrived;  ///< when the message was handed over
  };
  /// A run that may start now: its packets and their times.
  struct Plan {
    Slots slots;
    std::uint64_t packets = 0;
    std::uint64_t credited = 0;
  };

  void end_of_elaboration() override;
  void arbitrate(Time now);
  Lane* choose(Time now, std::uint64_t* limit, bool* contended);
  bool outranks_present(const Lane& lane, Time at) const;
  void start_run(Lane& lane, Time start, std::uint64_t limit, bool contended);
  void begin(Lane& lane, const Plan& plan, Time start);
  bool join_paced(Lane& lane, Time now);
  bool all_join_paced(Time now);
  void cut_paced(Time now);
  void drop_ended_paced(Time now);
  bool in_progress(const Lane& lane, Time now) const;
  void note_stall(const Lane& lane, Time start);
  void set_places(Lane& lane);
  void book(Lane& lane, const Run& arrival, Time now);
  void unbook(Time now);
  void shorten(Lane& lane, std::uint64_t end_packet);
  void count(const Run& run, std::uint64_t packets, std::uint64_t sign);
  void refresh(Lane& lane);
  void forget_spent_credits(Lane& lane, Time now);
  void schedule_wake(Time now);
  void want_wake(const Lane& lane, Time now);
  Time wish(const Lane& lane, Time now) const;
  void tell_next(Lane& lane);
  void tell_previous(Lane& lane, FabricPhase phase);

  Slots slots_from(Time start) const;
  bool needs_credit(const Lane& lane) const;
  const Run* arrival_with(const Lane& lane, std::uint64_t packet) const;
  const Run* credit_with(const Lane& lane, std::uint64_t packet) const;
  Time arrival_of(const Run& arrival, std::uint64_t i) const;
  Time credit_of(const Lane& lane, std::uint64_t packet) const;
  Plan plan(const Lane& lane, const Slots& slots, std::uint64_t limit, bool may_hope) const;
  Plan paced_by_arrivals(const Lane& lane, Time start) const;
  Plan paced_by_credits(const Lane& lane, Time start) const;
  Plan paced(const Lane& lane, Time start) const;
  void set_end_of(const Run& run);
  std::uint64_t arrived_extent(const Lane& lane, const Slots& slots) const;
  Extent credited_extent(const Lane& lane, std::uint64_t first, const Slots& slots,
                         std::uint64_t limit) const;
  Time gathered(const Lane& lane, const Run& arrival, Time ready) const;
  std::uint64_t turn_packets() const;
  std::uint32_t bridged_turn(const Lane& lane, const Run& arrival) const;
  std::uint64_t least_turn(const Lane& claimant) const;
  std::uint64_t begun_end(const Run& run, Time now) const;

  // In the order of use by an uncontended message, which touches few cache lines so.
  LinkConfig config_;
  Calendar& calendar_;
  Lane* only_ = nullptr;   ///< the one lane that has ever been opened, while it may be booked
  Time free_at_ = 0;       ///< end of the last run
  Time period_start_ = 0;  ///< start of the busy period
  std::uint64_t period_bytes_ = 0;
  LinkStatistics statistics_;
  std::vector<Booked> booked_;  ///< of the only lane of an uncontended link
  Lane* present_ = nullptr;     ///< lane of the last run that has the link for itself
  std::deque<Lane> lanes_;
  std::vector<Lane*> active_;
  std::vector<Lane*> paced_;  ///< lanes of the runs that share the link, each at the pace of a slower one
  CalendarCall<Link, &Link::arbitrate> wake_;
  FabricNode* target_ = nullptr;
  unsigned target_input_ = 0;
  FabricFw* next_ = nullptr;
  FabricBw* previous_ = nullptr;
  unsigned ports_ = 1;
  unsigned turn_port_ = 0;
  std::uint64_t turn_left_ = 0;
  unsigned last_port_ = ~0u;         ///< port that was served before the present one
  std::uint64_t last_turn_ = 0;      ///< packets that it sent in that turn
  std::uint64_t turn_before_ = 0;    ///< packets that the present port sent before its present run
  std::uint32_t smallest_feed_ = 0;  ///< smallest buffer of the links that feed this one, 0: sources only
  bool bounded_ = false;             ///< the last run was limited to a turn: claimants do not cut it
  bool arbitrating_ = false;
  Time packet_ps_ = 0;  ///< serialisation of one full packet
  sc_core::sc_time no_delay_;
};

}  // namespace wafervp
