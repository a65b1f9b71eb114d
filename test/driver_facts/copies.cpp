// SPDX-License-Identifier: BSL-1.0
// Copies and sets: who waits, boxes with pitch, several devices.
#include "facts.hpp"

#include <chrono>
#include <numeric>
#include <thread>

namespace facts {
namespace {

fact const returns_at_once{"copies_of_pinned_memory_do_not_wait",
                           "Driver API, API synchronization behavior, Memcpy, Asynchronous: \"For all other "
                           "transfers, the function should be "
                           "fully asynchronous.\"",
                           [] {
                               device_memory const x(1 << 20);
                               pinned<int> const host(1 << 18);
                               stream const s;
                               gate const g(s);
                               ok(cu.cuMemcpyHtoDAsync_v2(x, host.get(), 1 << 20, s));
                               ok(cu.cuMemcpyDtoHAsync_v2(host.get(), x, 1 << 20, s));
                               answers(cu.cuStreamQuery(s), CUDA_ERROR_NOT_READY);
                           }};

fact const reads_pinned_later{
    "a_pinned_source_is_read_when_the_copy_runs",
    "Driver API, API synchronization behavior, Memcpy, Asynchronous: \"For all other transfers, the function "
    "should be "
    "fully asynchronous.\" So the source belongs to the copy until the stream has reached it.",
    [] {
        device_memory const x(4);
        pinned<int> const host(1);
        stream const s;
        gate g(s);
        host.write(1);
        ok(cu.cuMemcpyHtoDAsync_v2(x, host.get(), 4, s));
        host.write(2);
        g.open();
        ok(cu.cuStreamSynchronize(s));
        check(x.first() == 2, "the value at the time of the call was copied");
    }};

fact const pageable_source{"a_pageable_source_may_change_once_the_copy_has_returned",
                           "Driver API, API synchronization behavior, Memcpy, Synchronous: \"For transfers "
                           "from pageable host memory to device "
                           "memory, a stream sync is performed before the copy is initiated. The function "
                           "will return once the pageable buffer "
                           "has been copied to the staging memory for DMA transfer to device memory\"",
                           [] {
                               device_memory const x(1 << 20);
                               std::vector<int> host(1 << 18, 3);
                               ok(cu.cuMemcpyHtoD_v2(x, host.data(), 1 << 20));
                               std::fill(host.begin(), host.end(), 4);
                               std::vector<int> back(1 << 18);
                               ok(cu.cuMemcpyDtoH_v2(back.data(), x, 1 << 20));
                               check(back.front() == 3 && back.back() == 3, "later values arrived");
                           }};

fact const to_the_host{"a_synchronous_copy_to_the_host_returns_when_it_is_complete",
                       "Driver API, API synchronization behavior, Memcpy, Synchronous: \"For transfers from "
                       "device to either pageable or "
                       "pinned host memory, the function returns only once the copy has completed.\"",
                       [] {
                           device_memory const x(1 << 20);
                           std::vector<int> host(1 << 18);
                           gate g(nullptr);
                           ok(cu.cuMemsetD32Async(x, 5, 1 << 18, nullptr));
                           std::thread opener([&g] {
                               std::this_thread::sleep_for(std::chrono::milliseconds(20));
                               g.open();
                           });
                           auto const result = cu.cuMemcpyDtoH_v2(host.data(), x, 1 << 20);
                           check(host.front() == 5 && host.back() == 5,
                                 "it returned before the bytes were there");
                           opener.join();
                           answers(result, CUDA_SUCCESS);
                       }};

fact const host_to_host{"a_copy_within_the_host_is_over_when_the_call_returns",
                        "Driver API, API synchronization behavior, Memcpy, Asynchronous: \"For transfers "
                        "from any host memory to any host "
                        "memory, the function is fully synchronous with respect to the host.\"",
                        [] {
                            pinned<int> const from(1 << 18);
                            pinned<int> const to(1 << 18);
                            for (std::size_t i = 0; i < 1 << 18; ++i) from.get()[i] = 6;
                            stream const s;
                            ok(cu.cuMemcpyAsync(to.address(), from.address(), 1 << 20, s));
                            check(to.read(0) == 6 && to.read((1 << 18) - 1) == 6, "it is not");
                        }};

fact const within_device{"copies_within_a_device_do_not_wait",
                         "Driver API, API synchronization behavior, Memcpy, Synchronous: \"For transfers "
                         "from device memory to device memory, "
                         "no host-side synchronization is performed.\"",
                         [] {
                             device_memory const x(4);
                             device_memory const y(4);
                             ok(cu.cuMemsetD32_v2(x, 7, 1));
                             gate g(nullptr);
                             ok(cu.cuMemcpyDtoD_v2(y, x, 4));
                             answers(cu.cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
                             g.open();
                             check(y.first() == 7, "copied");
                         }};

fact const set_does_not_wait{"setting_device_memory_does_not_wait",
                             "Driver API, API synchronization behavior, Memset: \"The synchronous memset "
                             "functions are asynchronous with respect "
                             "to the host except when the target is pinned host memory or a Unified Memory "
                             "region, in which case they are fully "
                             "synchronous.\"",
                             [] {
                                 device_memory const x(4);
                                 gate g(nullptr);
                                 ok(cu.cuMemsetD32_v2(x, 7, 1));
                                 answers(cu.cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
                                 g.open();
                                 check(x.first() == 7, "set");
                                 pinned<int> const host(1);
                                 ok(cu.cuMemsetD32_v2(host.address(), 8, 1));
                                 check(host.read() == 8, "pinned memory is set when the call returns");
                             }};

fact const unified{"a_copy_finds_out_where_its_addresses_are",
                   "Driver API, Memory Management, cuMemcpyAsync: \"Note that this function infers the type "
                   "of the transfer (host to "
                   "host, host to device, device to device, or device to host) from the pointer values.\"",
                   [] {
                       device_memory const x(4);
                       pinned<int> const from(1);
                       pinned<int> const to(1);
                       stream const s;
                       from.write(21);
                       ok(cu.cuMemcpyAsync(x, from.address(), 4, s));
                       ok(cu.cuMemcpyAsync(to.address(), x, 4, s));
                       ok(cu.cuStreamSynchronize(s));
                       check(to.read() == 21, "value");
                   }};

fact const pitched{"boxes_are_copied_with_pitch_and_offset",
                   "Driver API, Memory Management, cuMemcpy2D: \"For device pointers, the starting address "
                   "is CUdeviceptr Start = "
                   "srcDevice+srcY*srcPitch+srcXInBytes\"",
                   [] {
                       device_memory const x(64 * 8);
                       ok(cu.cuMemsetD8_v2(x, 0, 64 * 8));
                       std::vector<unsigned char> in(10 * 6);
                       std::iota(in.begin(), in.end(), static_cast<unsigned char>(0));
                       CUDA_MEMCPY2D p{};
                       p.srcMemoryType = CU_MEMORYTYPE_HOST;
                       p.srcHost = in.data();
                       p.srcPitch = 10;
                       p.srcXInBytes = 2;
                       p.srcY = 1;
                       p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
                       p.dstDevice = x;
                       p.dstPitch = 64;
                       p.dstXInBytes = 5;
                       p.dstY = 3;
                       p.WidthInBytes = 4;
                       p.Height = 3;
                       ok(cu.cuMemcpy2D_v2(&p));
                       std::vector<unsigned char> out(64 * 8);
                       ok(cu.cuMemcpyDtoH_v2(out.data(), x, out.size()));
                       bool right = true;
                       for (std::size_t r = 0; r < 3; ++r)
                           for (std::size_t c = 0; c < 4; ++c)
                               right = right && out[(r + 3) * 64 + c + 5] == (r + 1) * 10 + c + 2;
                       check(right, "values");
                       check(std::accumulate(out.begin(), out.end(), 0) == 54 + 94 + 134,
                             "more than the box was written");
                   }};

fact const narrow_pitch{
    "a_pitch_below_the_width_is_invalid",
    "Driver API, Memory Management, cuMemcpy2D: \"If specified, srcPitch must be greater than or equal to "
    "WidthInBytes + "
    "srcXInBytes, and dstPitch must be greater than or equal to WidthInBytes + dstXInBytes.\"",
    [] {
        device_memory const x(64);
        pinned<int> const host(16);
        stream const s;
        CUDA_MEMCPY2D p{};
        p.srcMemoryType = CU_MEMORYTYPE_HOST;
        p.srcHost = host.get();
        p.srcPitch = 16;
        p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        p.dstDevice = x;
        p.dstPitch = 16;
        p.dstXInBytes = 8;
        p.WidthInBytes = 12;
        p.Height = 2;
        answers(cu.cuMemcpy2DAsync_v2(&p, s), CUDA_ERROR_INVALID_VALUE);
    }};

fact const three_dimensions{"three_dimensions_have_a_height_of_their_own",
                            "Driver API, Memory Management, cuMemcpy3D: \"For device pointers, the starting "
                            "address is CUdeviceptr Start = "
                            "srcDevice+(srcZ*srcHeight+srcY)*srcPitch+srcXInBytes\"",
                            [] {
                                device_memory const x(8 * 4 * 3);
                                pinned<unsigned char> const in(8 * 4 * 3);
                                pinned<unsigned char> const out(2 * 2 * 2);
                                for (unsigned i = 0; i < 96; ++i) in.get()[i] = static_cast<unsigned char>(i);
                                stream const s;
                                ok(cu.cuMemcpyHtoDAsync_v2(x, in.get(), 96, s));
                                CUDA_MEMCPY3D p{};
                                p.srcMemoryType = CU_MEMORYTYPE_DEVICE;
                                p.srcDevice = x;
                                p.srcPitch = 8;
                                p.srcHeight = 4;
                                p.srcXInBytes = 3;
                                p.srcY = 2;
                                p.srcZ = 1;
                                p.dstMemoryType = CU_MEMORYTYPE_HOST;
                                p.dstHost = out.get();
                                p.dstPitch = 2;
                                p.dstHeight = 2;
                                p.WidthInBytes = 2;
                                p.Height = 2;
                                p.Depth = 2;
                                ok(cu.cuMemcpy3DAsync_v2(&p, s));
                                ok(cu.cuStreamSynchronize(s));
                                bool right = true;
                                for (unsigned z = 0; z < 2; ++z)
                                    for (unsigned y = 0; y < 2; ++y)
                                        for (unsigned i = 0; i < 2; ++i)
                                            right = right && out.get()[z * 4 + y * 2 + i] ==
                                                                 ((z + 1) * 4 + y + 2) * 8 + i + 3;
                                check(right, "values");
                            }};

fact const set_box{"a_box_is_set_row_by_row",
                   "Driver API, Memory Management, cuMemsetD2D8: \"Height specifies the number of rows to "
                   "set, and dstPitch specifies the "
                   "number of bytes between each row.\"",
                   [] {
                       device_memory const x(32);
                       ok(cu.cuMemsetD8_v2(x, 1, 32));
                       ok(cu.cuMemsetD2D8_v2(x + 2, 8, 9, 3, 4));
                       std::vector<unsigned char> out(32);
                       ok(cu.cuMemcpyDtoH_v2(out.data(), x, 32));
                       bool right = true;
                       for (std::size_t i = 0; i < 32; ++i)
                           right = right && out[i] == (i % 8 >= 2 && i % 8 < 5 ? 9 : 1);
                       check(right, "values");
                   }};

fact const misaligned_set{
    "a_32_bit_set_must_be_aligned",
    "Driver API, Memory Management, cuMemsetD32: \"The dstDevice pointer must be four byte aligned.\"", [] {
        device_memory const x(16);
        answers(cu.cuMemsetD32_v2(x + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    }};

fact const pitch_limit{"a_box_with_a_larger_pitch_than_the_limit_is_refused",
                       "Driver API, Memory Management, cuMemcpy3D: \"cuMemcpy3D() returns an error if any "
                       "pitch is greater than the "
                       "maximum allowed (CU_DEVICE_ATTRIBUTE_MAX_PITCH)\"",
                       [] {
                           int limit = 0;
                           ok(cu.cuDeviceGetAttribute(&limit, CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0));
                           std::size_t const most = static_cast<std::size_t>(limit) / 16 * 16;
                           std::size_t free = 0;
                           std::size_t total = 0;
                           ok(cu.cuMemGetInfo_v2(&free, &total));
                           if (free < most + (std::size_t{256} << 20))
                               throw skipped("two rows that far apart do not fit");
                           device_memory const x(most + 64);
                           pinned<int> const host(16);
                           CUDA_MEMCPY3D c{};
                           c.srcMemoryType = CU_MEMORYTYPE_HOST;
                           c.srcHost = host.get();
                           c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
                           c.dstDevice = x;
                           c.WidthInBytes = 16;
                           c.Height = 2;
                           c.Depth = 1;
                           c.srcPitch = 16;
                           c.dstPitch = most;
                           c.srcHeight = c.dstHeight = 2;
                           answers(cu.cuMemcpy3DAsync_v2(&c, nullptr), CUDA_SUCCESS);
                           c.dstPitch = most + 16;
                           answers(cu.cuMemcpy3DAsync_v2(&c, nullptr), CUDA_ERROR_INVALID_VALUE);
                           ok(cu.cuCtxSynchronize());
                       }};

fact const peers{"memory_is_copied_between_devices",
                 "Driver API, Memory Management, cuMemcpyPeerAsync: \"Copies from device memory in one "
                 "context to device memory in "
                 "another context.\"",
                 [] {
                     need_devices(2);
                     CUcontext first = nullptr;
                     CUcontext second = nullptr;
                     ok(cu.cuCtxGetCurrent(&first));
                     ok(cu.cuDevicePrimaryCtxRetain(&second, 1));
                     device_memory const x(8);
                     ok(cu.cuMemsetD32_v2(x, 17, 2));
                     ok(cu.cuCtxSynchronize());
                     ok(cu.cuCtxPushCurrent_v2(second));
                     {
                         device_memory const y(8);
                         device_memory const z(8);
                         stream const s;
                         ok(cu.cuMemcpyPeerAsync(y, second, x, first, 8, s));
                         ok(cu.cuStreamSynchronize(s));
                         check(y.first() == 17, "asynchronous");
                         ok(cu.cuMemcpyPeer(z, second, x, first, 8));
                         ok(cu.cuCtxSynchronize());
                         check(z.first() == 17, "synchronous");
                     }
                     ok(cu.cuCtxPopCurrent_v2(nullptr));
                     ok(cu.cuDevicePrimaryCtxRelease_v2(1));
                 }};

fact const peer_access{
    "peer_access_is_enabled_once",
    "Driver API, Peer Context Memory Access, cuCtxEnablePeerAccess: \"Returns "
    "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED if "
    "direct access of peerContext from the current context has already been enabled.\" \"Returns "
    "CUDA_ERROR_INVALID_CONTEXT if [...] the current context is peerContext. Returns "
    "CUDA_ERROR_INVALID_VALUE if Flags is "
    "not 0.\"",
    [] {
        CUcontext first = nullptr;
        ok(cu.cuCtxGetCurrent(&first));
        answers(cu.cuCtxEnablePeerAccess(first, 0), CUDA_ERROR_INVALID_CONTEXT);
        need_devices(2);
        int can = 0;
        ok(cu.cuDeviceCanAccessPeer(&can, 0, 1));
        if (can == 0) throw skipped("device 0 cannot access device 1");
        CUcontext second = nullptr;
        ok(cu.cuDevicePrimaryCtxRetain(&second, 1));
        answers(cu.cuCtxEnablePeerAccess(second, 1), CUDA_ERROR_INVALID_VALUE);
        answers(cu.cuCtxEnablePeerAccess(second, 0), CUDA_SUCCESS);
        answers(cu.cuCtxEnablePeerAccess(second, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
        answers(cu.cuCtxDisablePeerAccess(second), CUDA_SUCCESS);
        answers(cu.cuCtxDisablePeerAccess(second), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
        ok(cu.cuDevicePrimaryCtxRelease_v2(1));
    }};

} // namespace
} // namespace facts
