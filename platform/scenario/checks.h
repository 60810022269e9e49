// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenario/validate.h"

namespace wafervp {

/// Checks that take more than one member. Each runs only when the members that it takes are sound.
class Checks {
 public:
  Checks(const Document& document, Validator& validator, std::vector<Issue>* warnings)
      : document_(document), validator_(validator), warnings_(warnings) {}

  /// Fills the defaults that depend on other members, then checks all.
  void run(Scenario& scenario);

 private:
  void fill_defaults(Scenario& scenario);
  void fabric(const Scenario& scenario);
  void link_rates(const Scenario& scenario);
  void errors(const Scenario& scenario);
  void fred_levels(const Scenario& scenario);
  void io(const Scenario& scenario);
  void sites(const Scenario& scenario);
  /// Faults at `pointer` where the wafer has no off-wafer memory.
  void needs_io(const Scenario& scenario, const std::string& pointer, const std::string& what);
  void firmware(const Scenario& scenario);
  void compression(const Scenario& scenario);
  void compression_at_ports(const Scenario& scenario);
  void parallelism(const Scenario& scenario);
  void placement(const Scenario& scenario);
  void training(const Scenario& scenario);
  void streaming(const Scenario& scenario);
  void gradients(const Scenario& scenario);
  void functional_training(const Scenario& scenario);
  void collective(const Scenario& scenario);
  void collective_algorithm(const Scenario& scenario);
  void collective_sizes(const Scenario& scenario);
  void collective_members(const Scenario& scenario);
  /// Warns of members that change nothing.
  void collective_without_effect(const Scenario& scenario);
  void messages(const Scenario& scenario);

  /// Reports NPU numbers that the wafer does not have and those that stand twice.
  bool npu_list(const Scenario& scenario, const std::vector<std::uint32_t>& npus, const std::string& pointer,
                const char* what);
  /// Why the fabric cannot run the algorithm, or empty.
  static std::string fabric_refusal(const Scenario& scenario, Algorithm algorithm);
  void warn(const std::string& pointer, std::string text);

  const Document& document_;
  Validator& validator_;
  std::vector<Issue>* warnings_;
};

}  // namespace wafervp
