// SPDX-License-Identifier: BSL-1.0
// Memory of the device, at once and in stream order.
#include "facts.hpp"

namespace facts {
namespace {

fact const nothing{"zero_bytes_cannot_be_allocated",
                   "Driver API, Memory Management, cuMemAlloc: \"If bytesize is 0, cuMemAlloc() returns "
                   "CUDA_ERROR_INVALID_VALUE.\"",
                   [] {
                       CUdeviceptr x = 0;
                       answers(cu.cuMemAlloc_v2(&x, 0), CUDA_ERROR_INVALID_VALUE);
                   }};

fact const aligned{"device_memory_is_aligned_to_256_bytes",
                   "Programming Guide, Device Memory Accesses: \"Any address of a variable residing in "
                   "global memory or returned by one "
                   "of the memory allocation routines from the driver or runtime API is always aligned to at "
                   "least 256 bytes.\"",
                   [] {
                       for (std::size_t const bytes : {1UL, 3UL, 100UL, 5000UL}) {
                           device_memory const x(bytes);
                           check(x % 256 == 0, std::to_string(bytes) + " bytes at " + std::to_string(x));
                       }
                   }};

fact const range{"an_address_knows_its_allocation",
                 "Driver API, Memory Management, cuMemGetAddressRange: \"Returns the base address in *pbase "
                 "and size in *psize of the "
                 "allocation by cuMemAlloc() or cuMemAllocPitch() that contains the input pointer dptr. Both "
                 "parameters pbase and psize "
                 "are optional.\"",
                 [] {
                     device_memory const x(1000);
                     CUdeviceptr base = 0;
                     std::size_t size = 0;
                     ok(cu.cuMemGetAddressRange_v2(&base, &size, x + 500));
                     check(base == x, "base");
                     check(size >= 1000, "size: " + std::to_string(size));
                     ok(cu.cuMemGetAddressRange_v2(nullptr, &size, x));
                 }};

fact const out_of_memory{"running_out_of_memory_is_not_for_ever",
                         "Driver API, CUDA_ERROR_OUT_OF_MEMORY: \"The API call failed because it was unable "
                         "to allocate enough memory or other "
                         "resources to perform the requested operation.\" (Unlike e.g. "
                         "CUDA_ERROR_ILLEGAL_ADDRESS, it does not say that \"any "
                         "further CUDA work will return the same error\".)",
                         [] {
                             kernels const k;
                             std::size_t free = 0;
                             std::size_t total = 0;
                             ok(cu.cuMemGetInfo_v2(&free, &total));
                             check(free <= total, "more is free than there is");
                             CUdeviceptr x = 0;
                             answers(cu.cuMemAlloc_v2(&x, 2 * total), CUDA_ERROR_OUT_OF_MEMORY);
                             answers(cu.cuCtxSynchronize(), CUDA_SUCCESS);
                             device_memory const y(4);
                             CUdeviceptr address = y;
                             unsigned by = 2;
                             ok(cu.cuMemsetD32_v2(y, 1, 1));
                             ok(launch(k["add"], 1, nullptr, {&address, &by}));
                             check(y.first() == 3, "the device works no more");
                         }};

void need_pools()
{
    if (attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) == 0)
        throw skipped("the device has no memory pools");
}

fact const in_order{"memory_of_a_stream_is_there_for_the_work_behind_it",
                    "Driver API, Stream Ordered Memory Allocator, cuMemAllocAsync: \"A pointer to the "
                    "allocated memory is returned "
                    "immediately in *dptr.\" \"Basic stream ordering allows future work submitted into the "
                    "same stream to use the "
                    "allocation.\"",
                    [] {
                        need_pools();
                        pinned<int> const out(1);
                        stream const s;
                        gate g(s);
                        CUdeviceptr x = 0;
                        ok(cu.cuMemAllocAsync(&x, 1024, s));
                        check(x != 0, "no address");
                        ok(cu.cuMemsetD32Async(x, 11, 256, s));
                        ok(cu.cuMemcpyDtoHAsync_v2(out.get(), x + 1020, 4, s));
                        ok(cu.cuMemFreeAsync(x, s));
                        g.open();
                        ok(cu.cuStreamSynchronize(s));
                        check(out.read() == 11, "value");
                    }};

fact const by_event{"memory_of_a_stream_is_there_for_streams_that_wait_for_it",
                    "Driver API, Stream Ordered Memory Allocator, cuMemAllocAsync: \"Stream query, stream "
                    "synchronize, and CUDA events can "
                    "be used to guarantee that the allocation operation completes before work submitted in a "
                    "separate stream runs.\"",
                    [] {
                        need_pools();
                        pinned<int> const out(1);
                        stream const first;
                        stream const second;
                        event const allocated;
                        event const used;
                        gate g(first);
                        CUdeviceptr x = 0;
                        ok(cu.cuMemAllocAsync(&x, 4, first));
                        ok(cu.cuEventRecord(allocated, first));
                        ok(cu.cuStreamWaitEvent(second, allocated, 0));
                        ok(cu.cuMemsetD32Async(x, 12, 1, second));
                        ok(cu.cuMemcpyDtoHAsync_v2(out.get(), x, 4, second));
                        ok(cu.cuEventRecord(used, second));
                        ok(cu.cuStreamWaitEvent(first, used, 0));
                        ok(cu.cuMemFreeAsync(x, first));
                        g.open();
                        ok(cu.cuStreamSynchronize(first));
                        check(out.read() == 12, "value");
                    }};

fact const reused{"memory_freed_in_a_stream_serves_its_later_allocations_without_harm",
                  "Driver API, Stream Ordered Memory Allocator, cuMemFreeAsync: \"The allocation must not be "
                  "accessed after stream "
                  "execution reaches the free.\" Before that, it may.",
                  [] {
                      need_pools();
                      pinned<int> const out(2);
                      stream const s;
                      gate g(s);
                      for (unsigned i = 0; i < 2; ++i) {
                          CUdeviceptr x = 0;
                          ok(cu.cuMemAllocAsync(&x, 1 << 16, s));
                          ok(cu.cuMemsetD32Async(x, 31 + i, 1 << 14, s));
                          ok(cu.cuMemcpyDtoHAsync_v2(out.get() + i, x, 4, s));
                          ok(cu.cuMemFreeAsync(x, s));
                      }
                      g.open();
                      ok(cu.cuStreamSynchronize(s));
                      check(out.read(0) == 31 && out.read(1) == 32, "one allocation disturbed the other");
                  }};

fact const counted{"a_pool_counts_what_is_in_use",
                   "Driver API, CUmemPool_attribute: \"CU_MEMPOOL_ATTR_USED_MEM_CURRENT: (value type = "
                   "cuuint64_t) Amount of memory from "
                   "the pool that is currently in use by the application.\"",
                   [] {
                       need_pools();
                       CUmemoryPool pool = nullptr;
                       ok(cu.cuDeviceGetDefaultMemPool(&pool, 0));
                       auto const used = [pool] {
                           cuuint64_t value = 0;
                           ok(cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
                           return value;
                       };
                       stream const s;
                       auto const before = used();
                       CUdeviceptr x = 0;
                       ok(cu.cuMemAllocAsync(&x, 1 << 20, s));
                       ok(cu.cuStreamSynchronize(s));
                       check(used() >= before + (1 << 20), "it does not count the allocation");
                       ok(cu.cuMemFreeAsync(x, s));
                       ok(cu.cuStreamSynchronize(s));
                       check(used() == before, "it does not count the free");
                   }};

fact const freed_at_once{
    "stream_ordered_memory_may_be_freed_at_once",
    "Driver API, Memory Management, cuMemFree: \"Frees the memory space pointed to by dptr, which must have "
    "been returned "
    "by a previous call to one of the following memory allocation APIs - cuMemAlloc(), cuMemAllocPitch(), "
    "cuMemAllocManaged(), cuMemAllocAsync(), cuMemAllocFromPoolAsync()\"",
    [] {
        need_pools();
        stream const s;
        CUdeviceptr x = 0;
        ok(cu.cuMemAllocAsync(&x, 64, s));
        ok(cu.cuStreamSynchronize(s));
        answers(cu.cuMemFree_v2(x), CUDA_SUCCESS);
    }};

} // namespace
} // namespace facts
