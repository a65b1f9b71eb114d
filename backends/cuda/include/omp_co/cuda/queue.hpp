// SPDX-License-Identifier: BSL-1.0
// Constructs in the order of a stream that the program has made: between its own kernels, copies and events.
#pragma once

#include <omp_co/cuda/backend.hpp>
#include <omp_co/queue.hpp>

#include <boost/system/system_error.hpp>
#include <utility>

namespace omp_co::cuda {

namespace engine {

inline char const* why_not_adopted(error_code ec) noexcept
{
    if (ec == errc::invalid_argument)
        return "a queue needs a stream of the primary context of its device, and none of the default streams";
    return ec == errc::not_supported ? "the stream is being captured" : "the stream cannot be used";
}

} // namespace engine

/// A queue whose constructs run on `stream`, in order with whatever the program puts there itself: each comes behind what was put
/// there before it was started, and what is put there after its await has completed comes behind it: it does not complete before the
/// stream has it, so one whose kernel is still to be loaded (see kernel::prepare) takes as long as that. While the program captures
/// the stream, constructs wait for the end of the capture.
///
/// Errors: throws boost::system::system_error where the stream cannot be used: invalid_argument if it is one of the default streams
/// (null, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD) or not of the primary context of `where`, a CUDA device; not_supported if it
/// is being captured; device_lost; out_of_memory. Otherwise as omp_co::queue.
/// Lifetimes: the stream outlives the queue and what is in flight there; it is not destroyed with the queue.
/// Thread safety: as omp_co::queue. It may take long where the device has not been used yet.
inline omp_co::queue queue(device where, CUstream_st* stream, omp_co::queue::error_handler on_error = {})
{
    error_code ec = omp_co::make_error_code(errc::invalid_argument);
    if (where.backend() == backend_kind::cuda && stream != nullptr) {
        boost::intrusive_ptr made(new omp_co::detail::queue_state(where, std::move(on_error), stream));
        ec = made->fault();
        if (!ec) return omp_co::queue(std::move(made));
    }
    throw boost::system::system_error(ec, engine::why_not_adopted(ec));
}

} // namespace omp_co::cuda
