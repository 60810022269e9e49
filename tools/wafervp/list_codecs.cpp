// SPDX-License-Identifier: Apache-2.0
#include "list_codecs.h"

#include "compression/codec_config.h"
#include "table.h"

namespace wafervp::cli {
namespace {

const char* kept_text(const compression::CodecInfo& codec) {
  return codec.lossless ? "every bit" : codec.name == "subspace" ? "what is in the subspace" : "not exactly";
}

std::string parameters_text(const compression::CodecInfo& codec) {
  Table table({"parameter", "default", "range", "unit", ""});
  for (std::size_t column = 1; column < 5; ++column) table.left(column);
  for (const compression::CodecParameter& parameter : codec.parameters) {
    table.add({parameter.name, parameter.initial, parameter.range, parameter.unit, parameter.description});
  }
  return table.text("      ");
}

}  // namespace

std::string codecs_text() {
  std::string text = "codecs: how a compression unit makes values to bytes\n";
  for (const compression::CodecInfo& codec : compression::codec_catalogue()) {
    text += "  " + codec.name + ": " + codec.description + '\n';
    text += "      comes back: " + std::string(kept_text(codec)) +
            "; bytes depend on the data: " + (codec.data_dependent ? "yes" : "no") + '\n';
    text += "      sums in the fabric: " + codec.sums + '\n';
    text += parameters_text(codec);
  }
  return text;
}

}  // namespace wafervp::cli
