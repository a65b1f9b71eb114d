// SPDX-License-Identifier: BSL-1.0
// The host as a device: its cores run kernels, and its device memory is apart, so that a forgotten map shows.
#pragma once

#include <omp_co/host/stream.hpp>
#include <omp_co/host/strict_stream.hpp>

#include <boost/system/system_error.hpp>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <sys/mman.h>

namespace omp_co::host {

class host_device final : public backend::device {
public:
    explicit host_device(options const& o) : options_(checked(o))
    {
        unsigned const workers = options_.workers;
        traits_.unified_memory = o.unified_memory;
        traits_.host_accessible = true;
        traits_.device_waits = workers != 0;
        traits_.inline_execution = workers == 0;
        traits_.quick_enqueueing = workers != 0;
        traits_.box_stride_limit = std::numeric_limits<std::size_t>::max();
        traits_.concurrency = workers == 0 ? 1 : workers;
        traits_.memory_limit = o.memory;
        if (workers != 0) crew_ = std::make_unique<crew>(o);
        if (o.strict) strict_ = std::make_unique<strict_memory>();
    }

    backend_kind kind() const noexcept override { return backend_kind::host; }
    backend::properties const& traits() const noexcept override { return traits_; }

    std::string name() const override
    {
        if (strict_ != nullptr) return "host, strict";
        if (options_.workers == 0) return "host, inline";
        return "host, " + std::to_string(options_.workers) + (options_.workers == 1 ? " worker" : " workers");
    }

    void* allocate(std::size_t bytes) noexcept override
    {
        if (options_.memory != 0 && bytes > options_.memory - allocated_) return nullptr;
        if (bytes > most_bytes) return nullptr;
        bool const large = bytes >= huge_page;
        void* const block = allocate_aligned(large ? huge_page : backend::block_alignment(bytes), bytes);
        if (block == nullptr) return nullptr;
        if (strict_ != nullptr && !strict_->add_block(block, bytes)) {
            std::free(block);
            return nullptr;
        }
        if (large) (void)::madvise(block, bytes, MADV_HUGEPAGE); // fewer faults on first use
        allocated_ += bytes;
        return block;
    }

    void deallocate(void* block, std::size_t bytes) noexcept override
    {
        allocated_ -= bytes;
        if (strict_ != nullptr) strict_->remove_block(block);
        std::free(block);
    }

    std::unique_ptr<backend::stream> create_stream(error_code&) override
    {
        if (strict_ != nullptr) return std::make_unique<strict_stream>(*strict_);
        if (crew_ == nullptr) return std::make_unique<inline_stream>();
        return std::make_unique<stream>(*crew_, wakeup_);
    }

    void set_wakeup(backend::wakeup target) noexcept override { wakeup_ = target; }
    backend::host_watch* watch() noexcept override { return strict_.get(); }
    void stop() noexcept override
    {
        if (crew_ != nullptr) crew_->stop();
    }

private:
    static constexpr std::size_t most_bytes = std::size_t{1} << 62;
    static constexpr std::size_t huge_page = std::size_t{2} << 20;

    static options checked(options o)
    {
        if (!o.strict) return o;
        if (!poison::available)
            throw boost::system::system_error(
                make_error_code(errc::not_supported),
                "a strict host device needs AddressSanitizer: compile and link all of the program with "
                "-fsanitize=address");
        if (o.unified_memory)
            throw boost::system::system_error(
                make_error_code(errc::invalid_argument),
                "a strict host device has memory of its own: it cannot have unified_memory");
        o.workers = 0;
        return o;
    }

    options options_;
    backend::properties traits_;
    backend::wakeup wakeup_;
    std::size_t allocated_ = 0;
    std::unique_ptr<crew> crew_;
    std::unique_ptr<strict_memory> strict_;
};

} // namespace omp_co::host
