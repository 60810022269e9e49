// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/arena.h"
#include "core/calendar.h"
#include "core/fabric_protocol.h"
#include "core/prefetch.h"
#include "link/booked_path.h"
#include "link/booked_runs.h"
#include "link/error_process.h"
#include "link/flow_control.h"
#include "link/lane.h"
#include "link/link_module.h"
#include "link/special.h"

namespace wafervp {

/// What a link has to look at for each run.
struct LinkTiming {
  LinkId id;
  Rate rate;                         ///< bytes per second, one direction
  Time latency = 0;                  ///< ps
  std::uint32_t buffer_packets = 2;  ///< credits of each flow at the far end
  std::uint32_t train_packets = 4;   ///< longest train under contention
  bool packet_grain = false;         ///< every packet is a run of its own
};
struct LinkConfig : LinkTiming {
  Preemption preemption;
  GoBackN go_back_n;
  /// Of each packet, beside its payload: counted, and in what is in error. Its time is in `rate`
  /// (Rate::under_header).
  std::uint32_t header_bytes = 0;
};
struct Resends;
struct ResendsDeleter {
  void operator()(Resends* resends) const;
};

/// What a link does: queue per flow, credits per flow, arbitration, serialisation, latency. It stands apart
/// from the module and its sockets, so that what a run touches lies together.
/// The law is in README.md; its parts are named in the same words as there.
class alignas(64) LinkEngine final : public FabricFwInterface, public FabricBwInterface {
 public:
  /// Throws std::invalid_argument for a buffer of no packets.
  LinkEngine(const LinkConfig& config, Calendar& calendar, Arena& arena);

  /// What the link's sockets are bound to.
  void bind(FabricFw& next, FabricBw& previous);
  Lane* open(Flow& flow, std::uint16_t hop, unsigned input);
  /// As FabricLink has them.
  void hold_flow(Lane& lane, bool back);
  void begin_path(std::uint8_t traffic_class, Time from);
  void end_path(const Lane& lane, std::uint64_t end_packet);
  /// Acknowledgements take time on `back`, if the configuration says so; both are told.
  void set_reverse(LinkEngine& back);

  LinkConfig config() const;
  const LinkTiming& timing() const { return config_; }
  std::uint32_t header_bytes() const { return special_ == nullptr ? 0 : special_->header_bytes; }
  LinkStatistics statistics() const;
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
  /// A run that may start now: its packets and their times.
  struct Plan {
    Slots slots;
    std::uint64_t packets = 0;
    std::uint64_t credited = 0;
  };
  /// Age and flow of a packet: the less goes first within a port.
  struct Seniority {
    Time age;
    FlowId id;
    bool operator<(const Seniority& other) const {
      return age != other.age ? age < other.age : id < other.id;
    }
  };
  /// That of the first packet of the present run that has not begun at a time, kept while many ask for it.
  struct Rank {
    Time at = kNever;
    Seniority of_present{};
  };

  /// A booked run, with what it takes to arbitrate it after all.
  struct Unbooked : RunSpan {
    Time arrived = 0;  ///< handed over by the source
    Time end_at = 0;   ///< its last byte
  };
  /// Of a list of booked runs, those that have got to a link.
  struct Progress {
    std::size_t promised = 0;    ///< have begun on the link before
    std::size_t begun = 0;       ///< have begun on the link
    std::size_t begun_next = 0;  ///< have begun on the link behind
  };

  class Wake final : public CalendarEntry {
   public:
    Wake(LinkEngine& engine, std::uint32_t order)
        : CalendarEntry(Stage::kArbitration, order), engine_(engine) {}

   private:
    void fire(Time now) override { engine_.arbitrate(now); }
    void prepare(unsigned step) const override { engine_.prepare(step); }
    LinkEngine& engine_;
  };
  /// Memory of an engine that a run or a credit touches that comes.
  static constexpr std::size_t kWarmBytes = 128, kWarmClaims = 256;
  static constexpr std::size_t kWarmEngineBytes = 768;
  static constexpr std::size_t kWarmLaneBytes = sizeof(Lane);

  void prepare(unsigned step) const;
  const Lane* expected() const;
  static void prepare_place(const void* place);
  static void prepare_neighbours(const Lane& lane);
  void set_places(Lane& lane);
  template <class Interface>
  FabricRelay* relay_of(Interface* place);

  tlm::tlm_sync_enum take(Run& run, FabricPhase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum book(Run& run, FabricPhase& phase, sc_core::sc_time& delay);
  [[gnu::noinline]] tlm::tlm_sync_enum unbook_for_pace(Run& run, FabricPhase& phase, sc_core::sc_time& delay);
  [[gnu::noinline]] tlm::tlm_sync_enum book_path(Run& run, FabricPhase& phase, sc_core::sc_time& delay);
  void put_on(Run& run, Time start, Time keep);
  [[gnu::noinline]] void tell_source(const Run& run);
  void add_booked(LinkCounts& counts, std::size_t begun) const;

  bool serves_only(const Lane& lane) const;
  void begin_booking(Lane& lane);
  Lane* follow(Lane& first, BookedPath& path);
  bool admit(const Run& run, Time start);
  std::uint64_t missing_bytes(Time start) const;
  void unbook(Time now);
  std::vector<Unbooked> booked_runs() const;
  void take_back(const RunSpan& booked, Time latency, std::size_t hops, bool from_source);
  void resume(Lane& lane, const std::vector<Unbooked>& runs, const Progress& progress, Time now);

  friend struct Resends;
  void make_resends();
  SentSoFar sent_so_far() const;
  std::uint64_t packets_without_error() const;
  Time occupy(Time start, std::uint64_t bytes);
  bool send_in_vain(Lane& lane, Time start);
  void note_good_run(const Lane& lane);
  Time again_from_sources(const Lane& lane, Time told);
  void on_nack(Lane& lane, Run& run);
  void schedule_go_back(Time when);
  void go_back(Time now);
  bool refresh_resends(Lane& lane);

  friend struct PathHolds;
  friend class PathHolders;
  void make_path_holds(const std::shared_ptr<PathHolders>& holders);
  void take_notices(Time now);
  void hold_above(unsigned level, Time now);
  Time passed_at(const Lane& lane, std::uint64_t end_packet) const;
  [[gnu::noinline]] void look_at_ends(Time when);
  void change_back(unsigned level, Time now);
  bool waits_for_path(const Lane& lane) const;
  [[gnu::noinline]] bool is_held() const;
  void set_held(Lane& lane, std::uint8_t why, bool back);
  void park(Lane& lane);

  friend struct ControlPackets;
  void expect_acks(const Lane& lane);
  void shorten_acks(const Lane& lane);
  void schedule_control(Time when);
  void send_control(Time now);
  void carry_control(std::uint64_t packets, Time now);
  void put_control(Time start);
  bool is_control(const ClaimList& list) const;

  void arbitrate(Time now);
  void admit_claimants(Time now);
  void answer_hopes(Time now);
  Lane* choose(Time now, std::uint64_t* limit, bool* contended);
  Lane* choose_among(std::size_t first, std::size_t last, Time now, std::uint64_t* limit, bool* contended);
  std::size_t end_of_level(std::size_t first) const;
  void take_turns_of(unsigned level);
  bool configured(Time now);
  Time kept_until(const ClaimList& list) const;
  bool may_cut_for(const ClaimList& list) const;
  std::uint64_t before_older(const Claim& chosen, const ClaimList& list, Time now, std::uint64_t limit) const;
  Seniority seniority_of_present(Time at) const;
  Time last_age_of_present();
  bool goes_before_last(const Claim& claim);
  bool outranks_present(const Claim& claim, const ClaimList& list, Time at, Rank& rank);
  void start_run(Lane& lane, Time start, std::uint64_t limit, bool contended);
  void begin(Lane& lane, const Plan& plan, Time start);
  bool join_paced(Lane& lane, Time now);
  bool all_join_paced(Time now);
  void cut_paced(Time now);
  void drop_ended_paced(Time now);
  bool behind_present(const Lane& lane, Time now) const;
  bool in_progress(const Lane& lane, Time now) const;
  void note_stall(const Lane& lane, Time start);
  void shorten(Lane& lane, std::uint64_t end_packet);
  void count(const Lane& lane, Time start, std::uint64_t sign);
  void set_end_of(const RunSpan& run, Time end);
  void schedule_wake(Time now);
  void want_wake(const Lane& lane, Time now);
  Time wish(const Claim& claim, const ClaimList& list, Time now, Rank& rank);
  void tell_next(Lane& lane);
  void tell_previous(Lane& lane, FabricPhase phase);

  const Rate* own_copy(const Rate* rate);
  bool note_later_promise(Lane& lane);
  void refresh(Lane& lane);
  void claim(Lane& lane, Time age, Time ready);
  void block(Lane& lane);
  void leave(Lane& lane);
  ClaimList& claims_of(std::uint16_t input, std::uint8_t level);
  void set_answer(Lane& lane, Time when);
  void set_present(Lane* lane);
  void forget_spent_credits(Lane& lane, Time now);
  /// As round_trip() in core.
  Time round_trip_ps() const { return 2 * config_.latency + node_latency_; }
  Slots slots_from(Time start) const;
  Time arrival_of(const RunSpan& arrival, std::uint64_t i) const;
  Time credit_of(const Lane& lane, std::uint64_t packet) const;
  Plan plan(const Lane& lane, const Slots& slots, std::uint64_t limit, bool may_hope) const;
  Plan paced_by_arrivals(const Lane& lane, Time start) const;
  Plan paced_by_credits(const Lane& lane, Time start) const;
  Plan paced(const Lane& lane, Time start) const;
  std::uint64_t arrived_extent(const Lane& lane, const Slots& slots, std::uint64_t limit) const;
  Extent credited_extent(const Lane& lane, std::uint64_t first, const Slots& slots,
                         std::uint64_t limit) const;
  Time gathered(const Lane& lane, const RunSpan& arrival, Time ready) const;
  std::uint64_t turn_packets() const;
  std::uint32_t bridged_turn(const Lane& lane, const RunSpan& arrival) const;
  std::uint64_t least_turn(unsigned claimant) const;
  std::uint64_t begun_end(const RunSpan& run, Time now) const;

  // In the order of use, in groups that fill a cache line each. A booked run needs the first four, one
  // that comes to be arbitrated the first two and, from kWarmClaims on, two more.
  Calendar& calendar_;
  Lane* only_ = nullptr;           ///< the one lane that has ever been opened, while runs are booked here
  FabricFw* only_next_ = nullptr;  ///< the sink of what is booked
  Time free_at_ = 0;               ///< end of the last run
  Time period_start_ = 0;          ///< start of the busy period
  std::uint64_t period_bytes_ = 0;

  LinkTiming config_;

  BookedRuns booked_;
  std::unique_ptr<BookedPath> path_;   ///< where runs are booked over more links than this one
  FabricBw* only_previous_ = nullptr;  ///< previous place of `only_`
  Time packet_ps_ = 0;                 ///< serialisation of one full packet
  Time node_latency_ = 0;              ///< of the node at the far end, from its input to the next queue
  unsigned last_port_ = ~0u;           ///< port that was served before the present one
  std::uint32_t smallest_feed_ = 0;    ///< smallest buffer of the links that feed this one, 0: sources only

  boost::container::small_vector<ClaimList*, 1> active_;  ///< lists that are not empty, by input
  Wake wake_;
  Lane* present_ = nullptr;    ///< lane of the last run that has the link for itself
  std::uint32_t claimed_ = 0;  ///< claims that were ever made
  std::uint16_t turn_port_ = 0;
  bool bounded_ = false;       ///< the last run was limited to a turn: claimants of its level do not cut it
  bool preempts_ = false;      ///< classes have levels
  bool changes_over_ = false;  ///< the feeding node takes time to change between classes
  bool fixed_ = false;         ///< the last run cannot be cut at all
  bool arbitrating_ = false;
  bool gathering_ = false;  ///< packets or credits have come slower than the link sends
  bool bridging_ = false;   ///< a lane has had a `longest_turn`
  bool last_age_known_ = false;
  bool holding_ = false;                              ///< lanes have been held
  std::unique_ptr<Resends, ResendsDeleter> resends_;  ///< where packets are in error, or go once more
  boost::container::small_vector<Lane*, 1> blocked_;  ///< lanes that wait for a credit that is not promised

  std::array<ClaimList, 4> first_lists_;  ///< of the inputs that were opened first
  Time present_last_age_ = 0;      ///< age of the last packet of the present run, once that was asked for
  std::uint64_t turn_before_ = 0;  ///< packets that the present port sent before its present run
  std::uint64_t turn_left_ = 0;
  std::uint64_t last_turn_ = 0;  ///< packets that `last_port_` sent in its turn
  std::vector<Lane*> paced_;     ///< lanes of the runs that share the link, each at the pace of a slower one

  LinkCounts counts_;                ///< without what is booked
  LinkEngine* booked_at_ = nullptr;  ///< the engine that keeps what is booked on this link
  Time behind_first_ = 0;            ///< by which runs begin here later than there
  sc_core::sc_time no_delay_;

  mutable const Lane* expected_ = nullptr;          ///< for hints: who will go next
  boost::container::small_vector<Lane*, 1> owing_;  ///< lanes with a hopeful run to answer

  std::unique_ptr<Special> special_;  ///< null on a plain link

  // For set-up.
  Arena& arena_;
  std::vector<ArenaPointer<Lane>> lanes_;
  std::vector<ClaimList*> lists_;  ///< of all inputs that were opened, by input
  FabricFw* next_ = nullptr;
  FabricBw* previous_ = nullptr;
  std::vector<std::pair<const void*, FabricRelay*>> relays_;  ///< what is known of the places around
};

}  // namespace wafervp
