// SPDX-License-Identifier: BSL-1.0
// The driver under these tests: the simulator, which they control, or with OMP_CO_TEST_DRIVER=device the machine's own.
#pragma once

#include <boost/test/tools/assertion_result.hpp>
#include <string>
#include <vector>

struct CUstream_st;

namespace cuda_test::simulator {

/// False on the machine's own driver: then only `called`, the captures and `report` may be used of what follows.
bool present();

/// Everything as when it was loaded.
void reset();

/// Without the prefix OMP_CO_SIM_.
void set(char const* name, char const* value);

/// Calls of a driver function since the last reset; "*": of any.
unsigned long count(char const* function);

/// Whether a driver function was called that often since the last reset; a real driver does not count, and is believed.
boost::test_tools::assertion_result called(char const* function, unsigned long times);

/// What cudaDeviceReset does.
void reset_device(int number);
/// As whoever uses a device for the first time, or the first time after a reset; and lets go of it again.
void retain_device(int number);
void release_device(int number);

/// Captures in global mode, as the runtime API does by default.
void begin_capture(CUstream_st* stream);
void end_capture(CUstream_st* stream);

/// Misuse so far and what would be leaks now, a line each.
std::vector<std::string> report();

} // namespace cuda_test::simulator
