// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/time.h"

namespace wafervp::cli {

/// For people, four digits and a unit: "1.234 ms". Files hold exact numbers instead.
std::string format_time(Time ps);
std::string format_bytes(double bytes);                 // 10^3 steps: B, KB, MB, GB, TB
std::string format_rate(double bytes_per_s);            // "750 GB/s"
std::string format_percent(double part, double whole);  // "12.3 %", empty when whole is 0

/// What a scenario or study without a name is called: its file without folder and extension.
std::string title_of(const std::string& name, const std::string& file);

/// A folder name for a scenario or variant: letters, digits and a few signs stay, others become '_'.
std::string folder_name(const std::string& name);

}  // namespace wafervp::cli
