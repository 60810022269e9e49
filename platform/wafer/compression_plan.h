// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "compression/compression_unit.h"
#include "scenario/scenario.h"
#include "topology/topology.h"
#include "workload/programs.h"

namespace wafervp {

/// The compression units of a scenario.
class CompressionPlan {
 public:
  /// Throws ScenarioError where a codec cannot be made, or does not take the values.
  explicit CompressionPlan(const Scenario& scenario);

  /// Whether NPUs, and I/O controllers, have units of their own.
  bool at_npus() const { return placement() == CompressionPlacement::kNpu || at_io(); }
  bool at_io() const { return placement() == CompressionPlacement::kNpuAndIo; }
  /// Whether units stand at ports of FRED switches instead (PortUnits).
  bool at_ports() const { return placement() == CompressionPlacement::kFredPorts; }
  /// The unit of an NPU, or of an I/O controller. Units whose codecs carry values have codecs of their own,
  /// for the memories of these.
  CompressionUnitConfig unit(NpuId end, bool is_io, const std::string& owner) const;
  /// Throws ScenarioError for sums in the fabric of a class whose codec is not linear, for operations whose
  /// bytes are not whole rows where the codec needs these, and at ports for traffic without the one codec.
  void check(const Topology& topology, const Workload& workload) const;

  /// Bytes that an operation of a group puts on the wire at least, of `command.bytes`; 0: not known before
  /// the values are.
  std::uint64_t wire_bytes(const wvp_command& command, const Communicator& group) const;

  /// A traffic class with a codec.
  struct Class {
    const char* name;      ///< member of the policy
    std::uint32_t number;  ///< enum wvp_class
    CodecName codec;
    bool stream;  ///< only what is loaded from off-wafer memory
  };
  const std::vector<Class>& classes() const { return classes_; }
  /// What messages of the class go through.
  CompressionUse use(const Class& of) const;
  /// Whether an operation (of no group: a message) goes through a codec.
  bool has_codec(const wvp_command& command, const Communicator* group) const {
    return class_of(command, group) != nullptr;
  }
  CompressionRates rates() const;
  Element element() const { return element_; }

 private:
  CompressionPlacement placement() const { return scenario_.wafer.compression.placement; }
  std::shared_ptr<compression::Codec> make(const Class& of) const;
  const Class* class_of(const wvp_command& command, const Communicator* group) const;

  const Scenario& scenario_;
  Element element_;
  std::vector<Class> classes_;
  std::vector<std::shared_ptr<compression::Codec>> shared_;  ///< by class
};

/// Of the class's codec in the scenario.
std::string pointer_of(const CompressionPlan::Class& of);

}  // namespace wafervp
