// SPDX-License-Identifier: BSL-1.0
// A device that has memory and nothing else.
#pragma once

#include <omp_co/backend.hpp>

#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

class memory_device final : public omp_co::backend::device {
public:
    memory_device() = default;
    ~memory_device() override
    {
        if (only_count) return;
        for (auto const& [block, size] : blocks) std::free(block);
    }

    omp_co::backend_kind kind() const noexcept override { return omp_co::backend_kind::other; }
    std::string name() const override { return "memory"; }
    omp_co::backend::properties const& traits() const noexcept override { return traits_; }

    void* allocate(std::size_t n) noexcept override
    {
        if (limit != 0 && bytes + n > limit) return nullptr;
        ++allocations;
        void* const block = only_count ? reinterpret_cast<void*>(++count_ * 4096) : std::malloc(n);
        blocks[block] = n;
        bytes += n;
        return block;
    }

    omp_co::backend::supply allocate_quickly(std::size_t n, omp_co::backend::memory_user) noexcept override
    {
        ++questions;
        if (why || coming) return {nullptr, coming, why};
        return {allocate(n), false, {}};
    }

    bool settled() noexcept override { return !unsettled; }
    void settle() noexcept override { unsettled = false; }

    void deallocate(void* block, std::size_t n) noexcept override
    {
        auto const at = blocks.find(block);
        if (at == blocks.end() || at->second != n) {
            wrong_size = true;
            return;
        }
        bytes -= n;
        blocks.erase(at);
        if (!only_count) std::free(block);
    }

    std::unique_ptr<omp_co::backend::stream> create_stream(omp_co::error_code& error) override
    {
        error = make_error_code(omp_co::errc::not_supported);
        return nullptr;
    }
    void set_wakeup(omp_co::backend::wakeup) noexcept override {}
    void stop() noexcept override {}

    std::map<void*, std::size_t> blocks;
    std::size_t limit = 0; ///< bytes; 0: none
    std::size_t bytes = 0; ///< allocated
    int allocations = 0;
    int questions = 0;       ///< of callers that cannot wait
    bool coming = false;     ///< what they are told
    bool unsettled = false;  ///< what they are told of what is free
    omp_co::error_code why;  ///< why there is nothing for them
    bool only_count = false; ///< addresses without memory
    bool wrong_size = false; ///< something was given back that was not taken

private:
    omp_co::backend::properties traits_;
    std::size_t count_ = 0;
};
