// SPDX-License-Identifier: BSL-1.0
// The driver simulator as these tests control it.
#pragma once

#include <string>
#include <vector>

struct CUstream_st;

namespace cuda_test::simulator {

/// Everything as when it was loaded.
void reset();

/// Without the prefix OMP_CO_SIM_.
void set(char const* name, char const* value);

/// Calls of a driver function since the last reset; "*": of any.
unsigned long count(char const* function);

/// What cudaDeviceReset does.
void reset_device(int number);

/// Captures in global mode, as the runtime API does by default.
void begin_capture(CUstream_st* stream);
void end_capture(CUstream_st* stream);

/// Misuse so far and what would be leaks now, a line each.
std::vector<std::string> report();

} // namespace cuda_test::simulator
