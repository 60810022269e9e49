// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <systemc>

int sc_main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
