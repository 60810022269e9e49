// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "errors.h"
#include "format.h"
#include "options.h"
#include "output.h"
#include "results/breakdown.h"
#include "results/folder.h"
#include "results/result_files.h"
#include "status.h"
#include "table.h"

namespace wafervp::cli {
namespace {

struct Entry {
  std::string place, name, status;  // place: the folder, and the variant
  Time time_ps = 0;
  Breakdown breakdown;
};

bool is_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

Json parse_file(const std::string& path) {
  try {
    return Json::parse(read_file(path));
  } catch (const Json::exception&) {
    throw UsageError(path + ": is not a result file");
  } catch (const FileError& error) {
    throw UsageError(error.what());
  }
}

Entry read_entry(const std::string& place, const std::string& name, const Json& json) {
  Entry entry;
  entry.place = place;
  entry.name = name;
  entry.status = json.at("status").get<std::string>();
  if (json.at("time_ps").is_number_unsigned()) entry.time_ps = json["time_ps"].get<Time>();
  entry.breakdown = read_breakdown(json.at("breakdown_ps"));
  return entry;
}

void read_folder(const std::string& typed, std::vector<Entry>& entries) {
  std::string folder = typed;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  const std::string summary = folder + "/summary.json", result = folder + "/result.json";
  const std::string path = is_file(summary) ? summary : result;
  if (!is_file(path)) {
    throw UsageError(typed + ": expected a folder with result.json or summary.json (made by wafervp run)");
  }
  const Json json = parse_file(path);
  try {
    if (path == result) {
      entries.push_back(read_entry(folder, json.value("name", ""), json));
      return;
    }
    for (const Json& variant : json.at("variants")) {
      entries.push_back(
          read_entry(folder + '/' + variant.at("name").get<std::string>(), json.value("name", ""), variant));
    }
  } catch (const Json::exception&) {
    throw UsageError(path + ": is not a result file of this version");
  }
}

/// Difference to the first, with its sign.
std::string difference(Time time, Time first) {
  if (time == first) return "=";
  return time > first ? '+' + format_time(time - first) : '-' + format_time(first - time);
}

}  // namespace

int compare_command(const std::vector<std::string>& folders) {
  std::vector<Entry> entries;
  for (const std::string& folder : folders) read_folder(folder, entries);
  if (entries.empty()) throw UsageError("there is no result in the folders");
  const Entry& first = entries.front();
  std::vector<std::string> head{"result", "name", "status", "time", "ratio"};
  for (const BreakdownPart& part : kBreakdownParts) head.push_back(part.name);
  Table table(head);
  table.left(1);
  table.left(2);
  for (const Entry& entry : entries) {
    const bool comparable = first.time_ps > 0 && entry.time_ps > 0;
    std::vector<std::string> row{entry.place, entry.name, entry.status, format_time(entry.time_ps),
                                 comparable ? fmt::format("{:.4f}", static_cast<double>(entry.time_ps) /
                                                                        static_cast<double>(first.time_ps))
                                            : ""};
    for (const BreakdownPart& part : kBreakdownParts) {
      const bool used = std::any_of(entries.begin(), entries.end(),
                                    [&part](const Entry& e) { return e.breakdown.*part.member > 0; });
      const Time time = entry.breakdown.*part.member;
      row.push_back(!used              ? ""
                    : &entry == &first ? format_time(time)
                                       : difference(time, first.breakdown.*part.member));
    }
    table.add(std::move(row));
  }
  print(table.text());
  return kOk;
}

}  // namespace wafervp::cli
