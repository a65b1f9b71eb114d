// SPDX-License-Identifier: BSL-1.0
// Memory and copies.
#include "harness.hpp"

#include <cerrno>
#include <cstring>
#include <numeric>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;

namespace {

test_case const opaque{
    "device_addresses_cannot_be_used_by_the_host", [] {
        session s;
        auto const x = s.memory(64);
        CUmemorytype type{};
        expect(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, x));
        check(type == CU_MEMORYTYPE_DEVICE, "device");
        void* host = nullptr;
        expect(cu.cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, x),
               CUDA_ERROR_INVALID_VALUE);
        // The kernel answers EFAULT where the host would be killed.
        int ends[2];
        check(::pipe(ends) == 0, "pipe");
        check(::write(ends[1], reinterpret_cast<void const*>(x), 1) == -1 && errno == EFAULT, "not readable");
        ::close(ends[0]);
        ::close(ends[1]);
    }};

test_case const round_trip{"bytes_come_back", [] {
                               session s;
                               std::vector<int> in(100'000);
                               std::iota(in.begin(), in.end(), 0);
                               std::vector<int> out(in.size());
                               auto const bytes = in.size() * sizeof(int);
                               auto const x = s.memory(bytes);
                               auto const y = s.memory(bytes);
                               expect(cu.cuMemcpyHtoD_v2(x, in.data(), bytes));
                               expect(cu.cuMemcpyDtoD_v2(y, x, bytes));
                               expect(cu.cuMemcpyDtoH_v2(out.data(), y, bytes));
                               check(in == out, "equal");
                               expect(cu.cuMemcpy(reinterpret_cast<CUdeviceptr>(out.data()), x + 4, 4));
                               check(out[0] == 1, "unified");
                               expect(cu.cuMemsetD32_v2(x, 0x01020304, in.size()));
                               expect(cu.cuMemsetD16_v2(x, 0x0506, 1));
                               expect(cu.cuMemsetD8_v2(x + 8, 9, 1));
                               expect(cu.cuMemcpyDtoH_v2(out.data(), x, bytes));
                               check(out[0] == 0x01020506 && out[1] == 0x01020304 && out[2] == 0x01020309,
                                     "set");
                           }};

test_case const bad_addresses{"wrong_addresses_and_sizes_are_refused_and_said", [] {
                                  session s;
                                  auto const x = s.memory(64);
                                  char host[128]{};
                                  expect(cu.cuMemcpyHtoD_v2(x, host, 65), CUDA_ERROR_INVALID_VALUE);
                                  check(reported("runs over the end"), "over the end");
                                  expect(cu.cuMemcpyHtoD_v2(x + 64, host, 1), CUDA_ERROR_INVALID_VALUE);
                                  expect(cu.cuMemcpyHtoD_v2(reinterpret_cast<CUdeviceptr>(host), host, 1),
                                         CUDA_ERROR_INVALID_VALUE);
                                  expect(cu.cuMemFree_v2(x + 8), CUDA_ERROR_INVALID_VALUE);
                                  expect(cu.cuMemFree_v2(x));
                                  expect(cu.cuMemFree_v2(x), CUDA_ERROR_INVALID_VALUE);
                                  check(reported("double free"), "double free");
                                  expect(cu.cuMemcpyHtoD_v2(x, host, 1), CUDA_ERROR_INVALID_VALUE);
                                  expect(cu.cuMemFree_v2(0));
                                  CUdeviceptr p = 0;
                                  expect(cu.cuMemAlloc_v2(&p, 0), CUDA_ERROR_INVALID_VALUE);
                              }};

test_case const full{"memory_runs_out_and_comes_back", [] {
                         session s({{"MEMORY", "1048576"}});
                         auto const x = s.memory(1'000'000);
                         CUdeviceptr p = 0;
                         expect(cu.cuMemAlloc_v2(&p, 100'000), CUDA_ERROR_OUT_OF_MEMORY);
                         expect(cu.cuMemAllocAsync(&p, 100'000, s.stream()), CUDA_ERROR_OUT_OF_MEMORY);
                         std::size_t free = 0;
                         std::size_t total = 0;
                         expect(cu.cuMemGetInfo_v2(&free, &total));
                         check(total == 1048576 && free == 1048576 - 1'000'448,
                               "free " + std::to_string(free));
                         expect(cu.cuMemFree_v2(x));
                         expect(cu.cuMemAlloc_v2(&p, 1'000'000));
                         CUdeviceptr base = 0;
                         std::size_t size = 0;
                         expect(cu.cuMemGetAddressRange_v2(&base, &size, p + 17));
                         check(base == p && size == 1'000'000, "range");
                     }};

test_case const synchronising{"allocating_waits_for_the_device", [] {
                                  session s({{"KERNEL_US", "20000"}});
                                  launch(s.kernel("nothing"), s.stream());
                                  CUdeviceptr x = 0;
                                  check(milliseconds([&] { x = s.memory(8); }) > 18, "cuMemAlloc");
                                  launch(s.kernel("nothing"), s.stream());
                                  check(milliseconds([&] { expect(cu.cuMemFree_v2(x)); }) > 18, "cuMemFree");
                                  launch(s.kernel("nothing"), s.stream());
                                  CUdeviceptr y = 0;
                                  auto const stream = s.stream();
                                  check(milliseconds([&] {
                                            expect(cu.cuMemAllocAsync(&y, 8, stream));
                                            expect(cu.cuMemFreeAsync(y, stream));
                                        }) < 10,
                                        "the stream-ordered ones do not");
                              }};

test_case const stream_ordered{
    "stream_ordered_memory_is_reused_in_order", [] {
        session s({{"MEMORY", "1048576"}});
        auto const stream = s.stream();
        auto const other = s.stream();
        CUdeviceptr x = 0;
        CUdeviceptr y = 0;
        expect(cu.cuMemAllocAsync(&x, 1'000'000, stream));
        launch(s.kernel("hold"), stream);
        expect(cu.cuMemFreeAsync(x, stream));
        expect(cu.cuMemFreeAsync(x, stream), CUDA_ERROR_INVALID_VALUE);
        check(reported("double free"), "said");
        expect(cu.cuMemAllocAsync(&y, 1'000'000, other), CUDA_ERROR_OUT_OF_MEMORY);
        expect(cu.cuMemAllocAsync(&y, 1'000'000, stream));
        CUdeviceptr z = 0;
        expect(cu.cuMemAllocAsync(&z, 1'000'000, stream), CUDA_ERROR_OUT_OF_MEMORY);
        release_kernels();
        expect(cu.cuMemFreeAsync(y, stream));
        expect(cu.cuStreamSynchronize(stream));
        CUmemoryPool pool = nullptr;
        expect(cu.cuDeviceGetDefaultMemPool(&pool, 0));
        cuuint64_t used = 1;
        expect(cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
        check(used == 0, "used " + std::to_string(used));
        expect(cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used));
        check(used >= 1'000'000, "high water");
    }};

test_case const not_ready{"memory_used_before_its_allocation_in_order_is_a_fault", [] {
                              session s;
                              auto const stream = s.stream();
                              launch(s.kernel("hold"), stream);
                              CUdeviceptr x = 0;
                              expect(cu.cuMemAllocAsync(&x, 64, stream));
                              float a = 1;
                              int n = 1;
                              auto const other = s.stream();
                              launch(s.kernel("add"), other, {&x, &a, &n});
                              expect(cu.cuStreamSynchronize(other), CUDA_ERROR_ILLEGAL_ADDRESS);
                          }};

test_case const pools{
    "pools_of_the_program", [] {
        session s({{"DEVICES", "2"}});
        CUmemPoolProps properties{};
        properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        properties.location.id = 0;
        properties.maxSize = 4096;
        CUmemoryPool pool = nullptr;
        expect(cu.cuMemPoolCreate(&pool, &properties));
        cuuint64_t threshold = 1 << 20;
        expect(cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
        auto const stream = s.stream();
        CUdeviceptr x = 0;
        expect(cu.cuMemAllocFromPoolAsync(&x, 8192, pool, stream), CUDA_ERROR_OUT_OF_MEMORY);
        expect(cu.cuMemAllocFromPoolAsync(&x, 4096, pool, stream));
        CUmemoryPool answered = nullptr;
        expect(cu.cuPointerGetAttribute(&answered, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, x));
        check(answered == pool, "pool of an address");
        expect(cu.cuMemFreeAsync(x, stream));
        expect(cu.cuStreamSynchronize(stream));
        cuuint64_t reserved = 0;
        expect(cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
        check(reserved == 4096, "kept below the threshold");
        expect(cu.cuMemPoolTrimTo(pool, 0));
        expect(cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
        check(reserved == 0, "trimmed");
        CUmemAccessDesc access{};
        access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access.location.id = 1;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        expect(cu.cuMemPoolSetAccess(pool, &access, 1));
        CUmemAccess_flags flags{};
        expect(cu.cuMemPoolGetAccess(&flags, pool, &access.location));
        check(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE, "access");
        expect(cu.cuMemPoolDestroy(pool));
        expect(cu.cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_HANDLE);
    }};

test_case const staged{"a_small_pageable_source_is_read_before_the_call_returns", [] {
                           session s;
                           auto const stream = s.stream();
                           auto const x = s.memory(64 * 1024);
                           launch(s.kernel("hold"), stream);
                           std::vector<char> source(64 * 1024, 'a');
                           expect(cu.cuMemcpyHtoDAsync_v2(x, source.data(), source.size(), stream));
                           std::fill(source.begin(), source.end(), 'b');
                           release_kernels();
                           expect(cu.cuMemcpyDtoHAsync_v2(source.data(), x, source.size(), stream));
                           check(source.front() == 'a' && source.back() == 'a', "first value");
                       }};

test_case const pageable{
    "pageable_copies_block_their_caller", [] {
        session s({{"KERNEL_US", "20000"}});
        auto const stream = s.stream();
        auto const x = s.memory(128 * 1024);
        std::vector<char> host(128 * 1024);
        auto nothing = s.kernel("nothing");
        launch(nothing, stream);
        check(milliseconds([&] { expect(cu.cuMemcpyHtoDAsync_v2(x, host.data(), host.size(), stream)); }) >
                  18,
              "to");
        launch(nothing, stream);
        check(milliseconds([&] { expect(cu.cuMemcpyDtoHAsync_v2(host.data(), x, 4, stream)); }) > 18, "from");
        auto* const pinned = s.pinned(128 * 1024);
        launch(nothing, stream);
        check(milliseconds([&] {
                  expect(cu.cuMemcpyHtoDAsync_v2(x, pinned, host.size(), stream));
                  expect(cu.cuMemcpyDtoHAsync_v2(pinned, x, host.size(), stream));
              }) < 10,
              "pinned ones do not");
        expect(cu.cuMemHostRegister_v2(host.data(), host.size(), 0));
        expect(cu.cuMemHostRegister_v2(host.data(), 1, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        check(milliseconds([&] { expect(cu.cuMemcpyDtoHAsync_v2(host.data(), x, host.size(), stream)); }) <
                  10,
              "nor registered ones");
        expect(cu.cuMemHostUnregister(host.data()));
        expect(cu.cuMemHostUnregister(host.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    }};

test_case const pitched{
    "boxes_are_copied", [] {
        session s;
        std::vector<char> in(8 * 6);
        std::iota(in.begin(), in.end(), '\0');
        auto const x = s.memory(64 * 4);
        expect(cu.cuMemsetD2D8_v2(x, 64, 1, 64, 4));
        CUDA_MEMCPY2D p{};
        p.srcMemoryType = CU_MEMORYTYPE_HOST;
        p.srcHost = in.data();
        p.srcPitch = 8;
        p.srcXInBytes = 2;
        p.srcY = 1;
        p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        p.dstDevice = x;
        p.dstPitch = 64;
        p.WidthInBytes = 3;
        p.Height = 4;
        expect(cu.cuMemcpy2D_v2(&p));
        std::vector<char> out(64 * 4);
        expect(cu.cuMemcpyDtoH_v2(out.data(), x, out.size()));
        check(out[0] == 10 && out[2] == 12 && out[3] == 1 && out[64] == 18 && out[3 * 64 + 2] == 36,
              "two dimensions");
        p.dstPitch = 2;
        expect(cu.cuMemcpy2DAsync_v2(&p, s.stream()), CUDA_ERROR_INVALID_VALUE);
        CUDA_MEMCPY3D q{};
        q.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        q.srcDevice = x;
        q.srcPitch = 16;
        q.srcHeight = 4;
        q.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
        q.dstDevice = reinterpret_cast<CUdeviceptr>(in.data());
        q.dstPitch = 4;
        q.dstHeight = 2;
        q.WidthInBytes = 4;
        q.Height = 2;
        q.Depth = 3;
        expect(cu.cuMemcpy3DAsync_v2(&q, s.stream()));
        check(in[0] == 10 && in[8] == 18 && in[12] == 1 && in[16] == 26, "three dimensions");
        q.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        expect(cu.cuMemcpy3D_v2(&q), CUDA_ERROR_NOT_SUPPORTED);
    }};

test_case const between{"devices_copy_to_each_other", [] {
                            session s({{"DEVICES", "2"}});
                            auto const first = s.context(0);
                            auto const second = s.context(1);
                            auto const x = s.memory(8);
                            expect(cu.cuCtxSetCurrent(second));
                            auto const y = s.memory(8);
                            expect(cu.cuMemsetD32_v2(x, 42, 2));
                            expect(cu.cuMemcpyPeer(y, second, x, first, 8));
                            expect(cu.cuCtxSynchronize());
                            int out[2]{};
                            expect(cu.cuMemcpyDtoH_v2(out, y, 8));
                            check(out[1] == 42, "peer");
                            CUDA_MEMCPY3D_PEER p{};
                            p.srcMemoryType = CU_MEMORYTYPE_DEVICE;
                            p.srcDevice = y;
                            p.srcContext = second;
                            p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
                            p.dstDevice = x;
                            p.dstContext = first;
                            p.WidthInBytes = 8;
                            p.Height = 1;
                            p.Depth = 1;
                            auto const stream = s.stream();
                            expect(cu.cuMemcpy3DPeerAsync(&p, stream));
                            expect(cu.cuStreamSynchronize(stream));
                            int device = -1;
                            expect(cu.cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, y));
                            check(device == 1, "ordinal");
                        }};

test_case const host_kinds{
    "host_memory_is_known_by_its_address", [] {
        session s;
        auto* const pinned = s.pinned(64);
        CUdeviceptr address = 0;
        expect(cu.cuMemHostGetDevicePointer_v2(&address, pinned, 0));
        check(address == reinterpret_cast<CUdeviceptr>(pinned), "one address");
        CUmemorytype type{};
        expect(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
        check(type == CU_MEMORYTYPE_HOST, "host");
        CUdeviceptr managed = 0;
        expect(cu.cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
        *reinterpret_cast<float*>(managed) = 1;
        float a = 2;
        int n = 1;
        launch(s.kernel("add"), nullptr, {&managed, &a, &n});
        expect(cu.cuCtxSynchronize());
        check(*reinterpret_cast<float*>(managed) == 3, "managed");
        int is_managed = 0;
        expect(cu.cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
        check(is_managed == 1, "is managed");
        int local = 0;
        CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
        unsigned answer = 7;
        CUdeviceptr pointer = 7;
        void* data[] = {&answer, &pointer};
        expect(cu.cuPointerGetAttributes(2, which, data, reinterpret_cast<CUdeviceptr>(&local)));
        check(answer == 0 && pointer == 0, "unknown");
        expect(cu.cuMemFreeHost(pinned));
        expect(cu.cuMemFree_v2(managed));
    }};

} // namespace
