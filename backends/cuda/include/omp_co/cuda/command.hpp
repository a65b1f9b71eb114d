// SPDX-License-Identifier: BSL-1.0
// What a stream of a CUDA device can be told to do.
#pragma once

#include <omp_co/backend.hpp>
#include <omp_co/cuda/driver_types.hpp>

#include <cstddef>

namespace omp_co::cuda::engine {

class stream;
class device_kernel;

struct command {
    enum class kind : unsigned char {
        copy_in,
        copy_out,
        copy_within,
        copy_peer,
        fill,
        launch,
        wait,
        begin_timing,
        end_timing,
        signal
    };

    kind what = kind::signal;
    bool goes_on = false;       ///< a signal inside a series: what fails before it, fails what follows
    char* device = nullptr;     ///< copies: on the device
    char* host = nullptr;       ///< copies in and out
    char const* from = nullptr; ///< copies within the device, or from another one
    driver::context_handle peer = nullptr; ///< that one's
    backend::box const* shape =
        nullptr; ///< copies of a box, but from another device; `bytes` is what it holds
    std::size_t bytes = 0;
    std::size_t done = 0;                      ///< bytes of a copy in chunks that were dealt with
    unsigned char value = 0;                   ///< of a fill
    backend::invocation const* call = nullptr; ///< also of begin_timing: what must be there before it
    backend::timing* timing = nullptr;
    device_kernel* kernel = nullptr; ///< a launch's, once it was looked up
    stream* other = nullptr;         ///< that is waited for
    backend::sequence number = 0;
};

} // namespace omp_co::cuda::engine
