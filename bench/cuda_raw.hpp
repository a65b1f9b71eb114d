// SPDX-License-Identifier: BSL-1.0
// The same calls of CUDA's driver without omp_co: what its figures are held against.
#pragma once
#include "report.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <omp_co/cuda.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace bench {

namespace driver = omp_co::cuda::driver;

/// `nothing` ends at once; `work` ends after `ns` nanoseconds of the device's clock.
inline constexpr char cuda_kernels[] = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing(.param .u64 nothing_p)
{
    ret;
}
.visible .entry work(.param .u64 work_p, .param .u64 work_ns)
{
    .reg .pred %q;
    .reg .b64 %t<4>;
    ld.param.u64 %t1, [work_ns];
    setp.eq.u64 %q, %t1, 0;
    @%q bra $done;
    mov.u64 %t2, %globaltimer;
$again:
    mov.u64 %t3, %globaltimer;
    sub.u64 %t3, %t3, %t2;
    setp.lt.u64 %q, %t3, %t1;
    @%q bra $again;
$done:
    ret;
}
)";

inline double thread_seconds()
{
    timespec t{};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

inline double process_seconds()
{
    timespec t{};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

inline double wall_seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Device 0, with eight streams. Failures are thrown with the call's name. One thread.
class cuda_raw {
public:
    static constexpr int streams = 8;

    cuda_raw()
    {
        ok(d_.primary_ctx_retain(&context_, 0), "cuDevicePrimaryCtxRetain");
        current const here(*this);
        ok(d_.module_load_data_ex(&module_, cuda_kernels, 0, nullptr, nullptr), "cuModuleLoadDataEx");
        ok(d_.module_get_function(&nothing_, module_, "nothing"), "cuModuleGetFunction");
        ok(d_.module_get_function(&work_, module_, "work"), "cuModuleGetFunction");
        ok(d_.mem_alloc(&data_, 4096), "cuMemAlloc");
        ok(d_.mem_host_alloc(&host_, 4096, driver::host_alloc_device_map), "cuMemHostAlloc");
        std::memset(host_, 0, 4096);
        ok(d_.mem_host_get_device_pointer(&words_, host_, 0), "cuMemHostGetDevicePointer");
        ok(d_.event_create(&event_, driver::event_disable_timing), "cuEventCreate");
        for (auto& s : stream_) ok(d_.stream_create(&s, driver::stream_non_blocking), "cuStreamCreate");
        int can = 0;
        (void)d_.device_get_attribute(&can, driver::device_attribute::can_use_64_bit_stream_mem_ops, 0);
        writes_ = can != 0;
    }
    cuda_raw(cuda_raw const&) = delete;
    cuda_raw& operator=(cuda_raw const&) = delete;

    ~cuda_raw()
    {
        (void)d_.ctx_push_current(context_);
        for (auto& s : stream_) (void)d_.stream_destroy(s);
        (void)d_.event_destroy(event_);
        (void)d_.mem_free_host(host_);
        (void)d_.mem_free(data_);
        (void)d_.module_unload(module_);
        driver::context_handle same = nullptr;
        (void)d_.ctx_pop_current(&same);
        (void)d_.primary_ctx_release(0);
    }

    /// `regions` on all streams, batch by batch. Appends this thread's seconds a region for each batch, waiting left out;
    /// answers the seconds of the whole. `nap`: between a batch and the wait for its end.
    double loop(long regions, long batch, std::vector<double>& cpu, std::chrono::milliseconds nap = {})
    {
        double const begin = wall_seconds();
        for (long done = 0; done < regions; done += batch) {
            double const busy = thread_seconds();
            for (long i = 0; i < batch; ++i) {
                current const here(*this);
                region(nothing_, 0, stream_[i % streams], i % streams);
            }
            cpu.push_back((thread_seconds() - busy) / double(batch));
            if (nap.count() != 0) std::this_thread::sleep_for(nap);
            current const here(*this);
            for (auto& s : stream_) ok(d_.stream_synchronize(s), "cuStreamSynchronize");
        }
        return wall_seconds() - begin;
    }

    /// Seconds from the launch until a thread that does nothing but read has seen its end. ns < 0: the empty kernel.
    double round_trip(std::int64_t ns)
    {
        current const here(*this);
        double const begin = wall_seconds();
        region(ns < 0 ? nothing_ : work_, ns, stream_[0], 0);
        if (writes_) {
            std::atomic_ref<std::uint64_t> const word(*static_cast<std::uint64_t*>(host_));
            while (word.load(std::memory_order_acquire) != number_) {
            }
            return wall_seconds() - begin;
        }
        driver::result r;
        while ((r = d_.event_query(event_)) == driver::result::not_ready) {
        }
        ok(r, "cuEventQuery");
        return wall_seconds() - begin;
    }

    struct stages {
        double in = 0, kernel = 0, out = 0; ///< seconds of one tile
        double serial = 0;                  ///< of all tiles, one after the other
    };

    /// Tiles of `bytes` through one stream: each stage alone, and all in turn without a pause between.
    stages pipeline(int tiles, std::size_t bytes, std::int64_t ns)
    {
        current const here(*this);
        void* tile = nullptr;
        driver::device_address there = 0;
        ok(d_.mem_host_alloc(&tile, bytes, 0), "cuMemHostAlloc");
        ok(d_.mem_alloc(&there, bytes), "cuMemAlloc");
        auto const s = stream_[0];
        auto const in = [&] { ok(d_.memcpy_htod_async(there, tile, bytes, s), "cuMemcpyHtoDAsync"); };
        auto const kernel = [&] { launch(work_, ns, s); };
        auto const out = [&] { ok(d_.memcpy_dtoh_async(tile, there, bytes, s), "cuMemcpyDtoHAsync"); };
        auto const timed = [&](auto const& commands) {
            std::vector<double> samples;
            for (int again = 0; again < 5; ++again) {
                double const begin = wall_seconds();
                for (int i = 0; i < tiles; ++i) commands();
                ok(d_.stream_synchronize(s), "cuStreamSynchronize");
                samples.push_back(wall_seconds() - begin);
            }
            return median(samples);
        };
        stages const t{timed(in) / tiles, timed(kernel) / tiles, timed(out) / tiles, timed([&] {
                           in();
                           kernel();
                           out();
                       })};
        (void)d_.mem_free(there);
        (void)d_.mem_free_host(tile);
        return t;
    }

private:
    /// The context is current as long as this lives.
    class current {
    public:
        explicit current(cuda_raw& r) : d_(r.d_) { (void)d_.ctx_push_current(r.context_); }
        current(current const&) = delete;
        current& operator=(current const&) = delete;
        ~current()
        {
            driver::context_handle same = nullptr;
            (void)d_.ctx_pop_current(&same);
        }

    private:
        driver::api const& d_;
    };

    static void ok(driver::result r, char const* call)
    {
        if (r != driver::result::success)
            throw std::runtime_error(std::string(call) + " failed: " + std::to_string(static_cast<int>(r)));
    }

    void launch(driver::function_handle f, std::int64_t ns, driver::stream_handle s)
    {
        void* arguments[]{&data_, &ns};
        ok(d_.launch_kernel(f, 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr), "cuLaunchKernel");
    }

    void region(driver::function_handle f, std::int64_t ns, driver::stream_handle s, long word)
    {
        launch(f, ns, s);
        if (!writes_) {
            ok(d_.event_record(event_, s), "cuEventRecord");
            return;
        }
        ok(d_.stream_write_value_64(s, words_ + 64 * static_cast<std::uint64_t>(word), ++number_, 0),
           "cuStreamWriteValue64");
    }

    driver::api const& d_ = driver::table();
    driver::context_handle context_ = nullptr;
    driver::module_handle module_ = nullptr;
    driver::function_handle nothing_ = nullptr;
    driver::function_handle work_ = nullptr;
    driver::device_address data_ = 0;
    driver::device_address words_ = 0;
    driver::event_handle event_ = nullptr;
    driver::stream_handle stream_[streams]{};
    void* host_ = nullptr;
    std::uint64_t number_ = 0;
    bool writes_ = false;
};

} // namespace bench
