// SPDX-License-Identifier: BSL-1.0
// What the variants of CUDA kernels have in common: code that can be built for a device, and the name of a function in it.
#pragma once

#include <omp_co/backend.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace omp_co::cuda::engine {

inline std::uint64_t next_identity() noexcept
{
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

/// What the driver can load, or why there is none.
struct built_code {
    error_code error;
    std::string bytes;    ///< PTX, cubin or fatbin; PTX ends in its terminating zero like any C string
    std::string function; ///< the name in it of the function that was asked for
    std::string words;    ///< the compiler's log
};

/// Shared by the kernels whose functions are in it. Immutable.
class code {
public:
    code() = default;
    code(code const&) = delete;
    code& operator=(code const&) = delete;
    virtual ~code() = default;

    std::uint64_t identity() const noexcept { return identity_; }

    /// Ways to build it, the best one first; each further one is tried when the driver refuses what came before.
    virtual unsigned ways() const noexcept = 0;

    /// Whether a function that has no plain C name is found by building the code for its name as an expression.
    virtual bool has_expressions() const noexcept { return false; }

    /// For a device of this architecture (10 * major + minor); may take a second. `expression`: the function is named by
    /// a C++ name expression.
    virtual built_code build(unsigned way, int architecture, std::string const& function,
                             bool expression) const = 0;

private:
    std::uint64_t identity_ = next_identity();
};

/// A kernel variant.
class cuda_kernel final : public backend::kernel {
public:
    cuda_kernel(std::shared_ptr<code const> c, std::string function)
        : kernel{backend_kind::cuda}, code_(std::move(c)), function_(std::move(function))
    {
    }

    std::shared_ptr<code const> const& where() const noexcept { return code_; }
    std::string const& function() const noexcept { return function_; }

    /// Of all kernels that there ever were in this process, the only one with this number.
    std::uint64_t identity() const noexcept { return identity_; }

private:
    std::shared_ptr<code const> code_;
    std::string function_;
    std::uint64_t identity_ = next_identity();
};

} // namespace omp_co::cuda::engine
