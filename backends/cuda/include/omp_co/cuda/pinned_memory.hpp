// SPDX-License-Identifier: BSL-1.0
// Page-locked host memory that omp_co uses itself.
#pragma once

#include <omp_co/cuda/context.hpp>

#include <cstddef>
#include <sys/mman.h>
#include <utility>

namespace omp_co::cuda::engine {

/// Pages of ours that the driver has registered. Memory from cuMemHostAlloc would vanish when another library resets the
/// device; these stay readable.
class pinned_memory {
public:
    pinned_memory() = default;

    /// With the context current. Empty if there is no memory, and then `why` says what the driver answered.
    pinned_memory(context& c, std::size_t bytes, result& why) noexcept : bytes_(bytes)
    {
        why = result::out_of_memory;
        void* const pages =
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) return;
        (void)::madvise(pages, bytes, MADV_DONTFORK);
        why = c.driver().mem_host_register(pages, bytes,
                                           driver::host_register_portable | driver::host_register_device_map);
        if (c.check(why))
            data_ = static_cast<char*>(pages);
        else
            (void)::munmap(pages, bytes);
    }

    pinned_memory(pinned_memory&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_)
    {
    }
    pinned_memory& operator=(pinned_memory&& other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    char* data() const noexcept { return data_; }

    /// With the context current, if there still is one.
    void release(context& c) noexcept
    {
        if (data_ == nullptr) return;
        if (!c.gone()) (void)c.driver().mem_host_unregister(data_);
        // A device that failed may still write.
        if (c.lost() == result::success) (void)::munmap(data_, bytes_);
        data_ = nullptr;
    }

private:
    char* data_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace omp_co::cuda::engine
