// SPDX-License-Identifier: BSL-1.0
// How a range becomes blocks of threads, and which launches are refused, with the limit that they break.
#pragma once

#include <omp_co/cuda/limits.hpp>
#include <omp_co/cuda/loader.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace omp_co::cuda::engine {

struct launch_shape {
    unsigned grid[3]{1, 1, 1};
    unsigned block[3]{1, 1, 1};
    unsigned shared_bytes = 0;
};

/// Blocks of 256, 32 by 8, or 32 by 4 by 2 threads, smaller where the kernel cannot have so many, unless teams() says
/// otherwise. The kernel itself leaves out the indices beyond the range. False: it cannot be launched, as `why` says.
inline bool shape_of(backend::invocation const& call, kernel_facts const& kernel, limits const& device,
                     launch_shape& shape, backend::failure& why)
{
    static constexpr std::size_t usual[4][3]{{1, 1, 1}, {256, 1, 1}, {32, 8, 1}, {32, 4, 2}};
    auto const refuse = [&](char const* what, std::size_t is, std::string const& limit, std::size_t most) {
        why = {make_error_code(errc::invalid_argument), std::string(what) + ' ' + std::to_string(is) +
                                                            " exceeds " + limit + " = " +
                                                            std::to_string(most) + " of " + device.name};
        return false;
    };

    std::size_t block[3];
    std::size_t grid[3];
    std::size_t threads = 1;
    unsigned const dimensions = std::min(call.range.dimensions, 3U);
    backend::team_shape const* const given = call.teams;
    unsigned const used = given != nullptr ? 3 : dimensions; // the rest has one of one
    std::copy_n(given != nullptr ? given->threads : usual[dimensions], 3, block);
    if (given == nullptr)
        for (unsigned d = used; d-- > 0;)
            while (block[0] * block[1] * block[2] > kernel.max_threads && block[d] > 1) block[d] /= 2;
    for (unsigned d = 0; d < used; ++d) {
        grid[d] = given != nullptr ? given->teams[d]
                  : block[d] == 1  ? call.range.count[d]
                                   : (call.range.count[d] + block[d] - 1) / block[d];
        if (block[d] > device.max_block[d])
            return refuse("a team's thread count", block[d], block_limit_names[d], device.max_block[d]);
        if (grid[d] > device.max_grid[d])
            return refuse("the number of teams", grid[d], grid_limit_names[d], device.max_grid[d]);
        if (block[d] == 0 || grid[d] == 0) {
            why = {make_error_code(errc::invalid_argument), "teams() with a count of zero"};
            return false;
        }
        threads *= block[d];
        shape.block[d] = static_cast<unsigned>(block[d]);
        shape.grid[d] = static_cast<unsigned>(grid[d]);
    }
    if (threads > device.max_threads)
        return refuse("a team's thread count", threads, "max_threads_per_block", device.max_threads);
    if (threads > kernel.max_threads)
        return refuse("a team's thread count", threads, "max_threads_per_block of kernel " + kernel.name,
                      kernel.max_threads);
    std::size_t const asked = given != nullptr ? given->shared_bytes : 0;
    std::size_t const shared = asked + kernel.static_shared;
    if (asked > device.shared_bytes_optin || shared > device.shared_bytes_optin)
        return refuse("a team's shared memory of", shared, "max_shared_memory_per_block_optin",
                      device.shared_bytes_optin);
    shape.shared_bytes = static_cast<unsigned>(asked);
    return true;
}

/// Why the arguments do not fit the kernel's parameters.
inline backend::failure misfit(backend::invocation const& call, kernel_facts const& kernel)
{
    if (call.reduce != nullptr)
        return {make_error_code(errc::not_supported),
                "reduction is for host variants: a CUDA kernel reduces by itself"};
    if (call.private_arguments != 0)
        return {make_error_code(errc::not_supported),
                "private_ memory is for host variants: declare it in the kernel"};
    std::vector<std::size_t> const& parameters = kernel.parameter_sizes;
    if (call.argument_count != parameters.size())
        return {make_error_code(errc::invalid_argument),
                "the kernel takes " + std::to_string(parameters.size()) + " parameters and was given " +
                    std::to_string(call.argument_count) + " arguments"};
    unsigned at = 0;
    while (call.argument_sizes[at] == parameters[at]) ++at;
    return {make_error_code(errc::invalid_argument),
            "argument " + std::to_string(at + 1) + " has " + std::to_string(call.argument_sizes[at]) +
                " bytes and the kernel's parameter " + std::to_string(parameters[at])};
}

/// Whether the arguments fit the kernel's parameters, as far as the driver knows those. Else misfit() says why.
inline bool arguments_fit(backend::invocation const& call, kernel_facts const& kernel) noexcept
{
    if (call.reduce != nullptr || call.private_arguments != 0) return false;
    if (!kernel.parameters_known) return true;
    if (call.argument_count != kernel.parameter_sizes.size()) return false;
    for (unsigned i = 0; i < call.argument_count; ++i)
        if (call.argument_sizes[i] != kernel.parameter_sizes[i]) return false;
    return true;
}

} // namespace omp_co::cuda::engine
