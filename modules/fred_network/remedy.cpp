// SPDX-License-Identifier: Apache-2.0
#include "fred_network/remedy.h"

#include <stdexcept>

#include "fred_network/remedies.h"

namespace wafervp {

std::vector<std::string> remedy_names() { return {"serialise", "more_middles", "endpoint_ring"}; }

std::unique_ptr<Remedy> make_remedy(const std::string& name) {
  if (name == "serialise") return std::make_unique<SerialiseRemedy>();
  if (name == "more_middles") return std::make_unique<MoreMiddlesRemedy>();
  if (name == "endpoint_ring") return std::make_unique<EndpointRingRemedy>();
  std::string known;
  for (const std::string& word : remedy_names()) known += (known.empty() ? "" : ", ") + word;
  throw std::invalid_argument("expected a remedy of " + known + ", found " + name);
}

}  // namespace wafervp
