// SPDX-License-Identifier: BSL-1.0
// What the driver needs to know of a loaded image, whoever runs it: the PTX interpreter, or kernels written in C++ that
// a test registered.
#pragma once

#include "engine.hpp"
#include "memory.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace omp_co_sim {

struct kernel_parameter {
    std::size_t offset = 0;
    std::size_t size = 0;
};

struct kernel_facts {
    std::string name;
    std::vector<kernel_parameter> parameters;
    std::size_t parameter_bytes = 0;
    std::size_t static_shared = 0;
    std::size_t local_bytes = 0;
    unsigned registers = 32;
    unsigned max_threads = 1024;
};

struct global_facts {
    std::string name;
    std::size_t size = 0;
    bool constant = false;
    bool managed = false;
};

/// The packed parameters of a launch; few of them take no memory from the heap.
class parameter_block {
public:
    void resize(std::size_t bytes)
    {
        size_ = bytes;
        if (bytes > sizeof few_) many_.resize(bytes);
    }
    std::size_t size() const { return size_; }
    std::byte* data() { return size_ > sizeof few_ ? many_.data() : few_; }
    std::byte const* data() const { return size_ > sizeof few_ ? many_.data() : few_; }

private:
    std::size_t size_ = 0;
    alignas(16) std::byte few_[64]{};
    std::vector<std::byte> many_;
};

struct launch_shape {
    unsigned grid[3] = {1, 1, 1};
    unsigned block[3] = {1, 1, 1};
    std::size_t dynamic_shared = 0;
    parameter_block parameters; ///< packed as kernel_facts says
};

/// Immutable once made; runs on any thread.
class code {
public:
    virtual ~code() = default;
    virtual std::vector<kernel_facts> const& kernels() const = 0;
    virtual std::vector<global_facts> const& globals() const = 0;

    /// The first bytes of a global when the globals lie at `addresses`.
    virtual std::vector<std::byte> initial_bytes(std::size_t global,
                                                 std::span<std::uint64_t const> addresses) const = 0;

    /// The whole grid, on the calling thread.
    virtual outcome run(std::size_t kernel, launch_shape const& shape, memory_view& memory,
                        std::span<std::uint64_t const> addresses) const = 0;
};

/// An image that cannot be loaded: the driver's code, and the text for the JIT's error log.
class image_error : public std::runtime_error {
public:
    image_error(CUresult status, std::string const& text) : std::runtime_error(text), status_(status) {}
    CUresult status() const { return status_; }

private:
    CUresult status_;
};

/// PTX text. Throws image_error with the line.
std::shared_ptr<code const> code_from_ptx(std::string_view text);

/// The kernels registered so far with omp_co_sim_register_kernel.
std::shared_ptr<code const> registered_code();

/// PTX text, fatbin, fatbin wrapper or the words "omp_co_sim registered kernels"; a cubin is refused.
std::shared_ptr<code const> load_image(void const* image, int compute_capability, int driver_version);

} // namespace omp_co_sim
