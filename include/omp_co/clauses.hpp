// SPDX-License-Identifier: BSL-1.0
// Clauses that map no data: the iteration space, conditions, names and diagnostics.
#pragma once

#include <omp_co/backend.hpp>
#include <omp_co/diagnostics.hpp>
#include <omp_co/name.hpp>
#include <omp_co/section.hpp>

#include <concepts>
#include <cstddef>
#include <limits>

namespace omp_co {

/// The iteration space of a kernel, x fastest; made by `range()`.
template <unsigned Dimensions>
class range_clause {
public:
    constexpr range_clause(backend::extents e, bool valid) noexcept : extents_(e), valid_(valid) {}
    constexpr backend::extents const& extents() const noexcept { return extents_; }
    constexpr bool valid() const noexcept { return valid_; }

private:
    backend::extents extents_;
    bool valid_;
};

/// Runs the kernel once for each index of 1 to 3 dimensions; it takes them first, as (x, y, z). Like `target teams
/// distribute parallel for` (OpenMP 5.2, 17.3). A negative extent, or more than 2^63 iterations, is
/// errc::invalid_argument; a zero extent runs nothing, however large the others, and data still moves.
template <std::integral... I>
requires(sizeof...(I) >= 1 && sizeof...(I) <= 3) constexpr auto range(I... extents) noexcept
{
    backend::extents e;
    e.dimensions = sizeof...(I);
    bool const fit = (detail::fits_size(extents) && ...);
    unsigned at = 0;
    ((e.count[at++] = fit ? static_cast<std::size_t>(extents) : 0), ...);
    return range_clause<sizeof...(I)>(e, fit && e.countable());
}

/// The shape of a launch; made by `teams()`.
class teams_clause {
public:
    constexpr teams_clause(backend::team_shape const& s, bool valid) noexcept : shape_(s), valid_(valid) {}
    constexpr backend::team_shape const& shape() const noexcept { return shape_; }
    constexpr bool valid() const noexcept { return valid_; }

private:
    backend::team_shape shape_;
    bool valid_;
};

/// Launches `blocks` teams of `threads` threads each, with `shared_bytes` of dynamic shared memory (OpenMP 5.2, 10.2 num_teams,
/// thread_limit). Beside a range() it fixes how a device divides it; without one, a device's kernel finds its work by itself
/// and a host variant runs once. Host devices have no teams and ignore it. Zero or negative numbers are
/// errc::invalid_argument.
template <unsigned D, unsigned E>
constexpr teams_clause teams(range_clause<D> blocks, range_clause<E> threads,
                             std::size_t shared_bytes = 0) noexcept
{
    backend::team_shape shape;
    shape.shared_bytes = shared_bytes;
    bool valid = blocks.valid() && threads.valid();
    for (unsigned i = 0; i < 3; ++i) {
        shape.teams[i] = blocks.extents().count[i];
        shape.threads[i] = threads.extents().count[i];
        valid = valid && shape.teams[i] != 0 && shape.threads[i] != 0;
    }
    return teams_clause(shape, valid);
}

template <std::integral B, std::integral T, std::integral S = std::size_t>
constexpr teams_clause teams(B blocks, T threads, S shared_bytes = 0) noexcept
{
    bool const fits = detail::fits_size(shared_bytes);
    teams_clause const made =
        teams(range(blocks), range(threads), fits ? static_cast<std::size_t>(shared_bytes) : 0);
    return teams_clause(made.shape(), made.valid() && fits);
}

/// `if_(false)`: the region runs on the initial device (OpenMP 5.2, 3.4); data constructs do nothing.
class if_clause {
public:
    constexpr explicit if_clause(bool value) noexcept : value_(value) {}
    constexpr bool value() const noexcept { return value_; }

private:
    bool value_;
};

constexpr if_clause if_(bool condition) noexcept { return if_clause(condition); }

/// Where the words that belong to an error go. The object must outlive the operation; for a construct of a queue, see diagnostics.
class explain_clause {
public:
    constexpr explicit explain_clause(diagnostics* d) noexcept : target_(d) {}
    constexpr diagnostics* target() const noexcept { return target_; }

private:
    diagnostics* target_;
};

inline explain_clause explain(diagnostics& d) noexcept { return explain_clause(&d); }

} // namespace omp_co
