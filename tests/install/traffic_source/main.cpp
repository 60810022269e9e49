// SPDX-License-Identifier: Apache-2.0
// traffic_source BYTES MESSAGES PERIOD_PS RATE_BYTES_PER_S LATENCY_PS: a source and a sink of one's own at
// the two ends of a wafer link. Prints when each message's last byte arrived, in ps.
#include <link/link.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "traffic_sink.h"
#include "traffic_source.h"

int sc_main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: %s BYTES MESSAGES PERIOD_PS RATE_BYTES_PER_S LATENCY_PS\n", argv[0]);
    return 2;
  }
  const auto number = [argv](int i) { return std::strtoull(argv[i], nullptr, 10); };
  TrafficConfig traffic;
  traffic.bytes = number(1);
  traffic.messages = static_cast<std::uint32_t>(number(2));
  traffic.period = number(3);
  wafervp::LinkConfig config;
  config.id = wafervp::LinkId(0);
  config.rate = wafervp::Rate(number(4));
  config.latency = number(5);

  wafervp::Calendar calendar("calendar");
  wafervp::MessagePool pool;
  wafervp::FlowTable flows;
  TrafficSource source("source", traffic, calendar, pool, flows);
  wafervp::Link link("link", config, calendar);
  TrafficSink sink("sink", calendar, pool);

  source.egress.bind(link.in);
  link.out.bind(sink.ingress);
  source.set_link(link);
  link.set_target(sink, 0);
  flows.set_entry(wafervp::NpuId(0), source, 0);

  sc_core::sc_start();

  for (const wafervp::Time time : sink.arrivals()) std::printf("%" PRIu64 "\n", time);
  if (sink.arrivals().size() != traffic.messages || pool.outstanding() != 0) {
    std::fprintf(stderr, "%zu of %u messages arrived, %" PRIu64 " still in flight\n", sink.arrivals().size(),
                 traffic.messages, pool.outstanding());
    return 1;
  }
  return 0;
}
