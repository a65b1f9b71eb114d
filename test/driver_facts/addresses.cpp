// SPDX-License-Identifier: BSL-1.0
// Questions about addresses, and memory of the program that is registered.
#include "facts.hpp"

#include <cstdlib>

namespace facts {
namespace {

unsigned kind_of(CUdeviceptr address)
{
    unsigned kind = 0;
    ok(cu.cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    return kind;
}

struct pages {
    std::size_t bytes;
    char* first = static_cast<char*>(std::aligned_alloc(4096, bytes));
    explicit pages(std::size_t n) : bytes(n) {}
    pages(pages const&) = delete;
    pages& operator=(pages const&) = delete;
    ~pages() { std::free(first); }
    CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(first); }
};

fact const kinds{
    "an_address_knows_its_kind_of_memory",
    "Driver API, Unified Addressing, cuPointerGetAttribute: \"If ptr addresses device memory then *data is "
    "set to "
    "CU_MEMORYTYPE_DEVICE. [...] If ptr addresses host memory then *data is set to CU_MEMORYTYPE_HOST. If "
    "ptr was not "
    "allocated by, mapped by, or registered with a CUcontext which uses unified virtual addressing then "
    "CUDA_ERROR_INVALID_VALUE is returned.\"",
    [] {
        device_memory const x(64);
        pinned<int> const host(4);
        check(kind_of(x + 63) == CU_MEMORYTYPE_DEVICE, "device memory");
        check(kind_of(host.address()) == CU_MEMORYTYPE_HOST, "pinned memory");
        pages const own(4096);
        unsigned kind = 0;
        answers(cu.cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, own.address()),
                CUDA_ERROR_INVALID_VALUE);
    }};

fact const pointers{
    "the_pointer_of_each_side_is_the_address_itself",
    "Driver API, Unified Addressing, cuPointerGetAttribute, CU_POINTER_ATTRIBUTE_HOST_POINTER: \"If there "
    "exists no host "
    "pointer value through which the host program may directly access ptr then CUDA_ERROR_INVALID_VALUE is "
    "returned. "
    "Except in the exceptional disjoint addressing cases discussed below, the value returned in *data will "
    "equal the input "
    "value ptr.\"",
    [] {
        device_memory const x(64);
        pinned<int> const host(4);
        CUdeviceptr from_device = 0;
        void* from_host = nullptr;
        ok(cu.cuPointerGetAttribute(&from_device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, host.address()));
        check(from_device == host.address(), "device pointer of pinned memory");
        ok(cu.cuPointerGetAttribute(&from_host, CU_POINTER_ATTRIBUTE_HOST_POINTER, host.address()));
        check(from_host == host.get(), "host pointer of pinned memory");
        answers(cu.cuPointerGetAttribute(&from_host, CU_POINTER_ATTRIBUTE_HOST_POINTER, x),
                CUDA_ERROR_INVALID_VALUE);
    }};

fact const owner{"an_address_knows_its_context_and_device",
                 "Driver API, Unified Addressing, cuPointerGetAttribute: \"CU_POINTER_ATTRIBUTE_CONTEXT: "
                 "Returns in *data the CUcontext "
                 "in which ptr was allocated or registered.\"",
                 [] {
                     device_memory const x(64);
                     CUcontext c = nullptr;
                     CUcontext current = nullptr;
                     int ordinal = -1;
                     ok(cu.cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, x));
                     ok(cu.cuCtxGetCurrent(&current));
                     check(c == current, "context");
                     ok(cu.cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, x));
                     check(ordinal == 0, "device");
                 }};

fact const list_of_unknown{
    "a_list_of_questions_about_a_foreign_address_answers_nothing_but_no_error",
    "Driver API, Unified Addressing, cuPointerGetAttributes: \"Unlike cuPointerGetAttribute, this function "
    "will not return "
    "an error when the ptr encountered is not a valid CUDA pointer. Instead, the attributes are assigned "
    "default NULL "
    "values and CUDA_SUCCESS is returned.\"",
    [] {
        pages const own(4096);
        CUcontext c = reinterpret_cast<CUcontext>(1);
        CUdeviceptr x = 1;
        CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
        void* data[] = {&c, &x};
        answers(cu.cuPointerGetAttributes(2, which, data, own.address()), CUDA_SUCCESS);
        check(c == nullptr && x == 0, "values");
    }};

fact const registered{"memory_can_be_registered_once",
                      "Driver API, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED: \"This error indicates that "
                      "the memory range passed to "
                      "cuMemHostRegister() has already been registered.\" cuMemHostUnregister: \"The base "
                      "address must be the same one "
                      "specified to cuMemHostRegister().\"",
                      [] {
                          pages const own(8192);
                          ok(cu.cuMemHostRegister_v2(own.first, own.bytes, 0));
                          answers(cu.cuMemHostRegister_v2(own.first, own.bytes, 0),
                                  CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
                          check(kind_of(own.address()) == CU_MEMORYTYPE_HOST, "kind");
                          ok(cu.cuMemHostUnregister(own.first));
                          answers(cu.cuMemHostUnregister(own.first), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
                      }};

fact const registered_is_pinned{
    "copies_of_registered_memory_do_not_wait",
    "Driver API, Memory Management, cuMemHostRegister: \"This memory range also is added to the same "
    "tracking mechanism as "
    "cuMemHostAlloc to automatically accelerate calls to functions such as cuMemcpyHtoD().\"",
    [] {
        device_memory const x(1 << 20);
        pages const own(1 << 20);
        ok(cu.cuMemHostRegister_v2(own.first, own.bytes, 0));
        {
            stream const s;
            gate g(s);
            ok(cu.cuMemcpyHtoDAsync_v2(x, own.first, own.bytes, s));
            answers(cu.cuStreamQuery(s), CUDA_ERROR_NOT_READY);
            g.open();
            ok(cu.cuStreamSynchronize(s));
        }
        ok(cu.cuMemHostUnregister(own.first));
    }};

fact const mapped{"kernels_write_to_pinned_memory",
                  "Driver API, Memory Management, cuMemHostAlloc: \"the device pointer that may be used to "
                  "access this host memory from "
                  "those contexts is always equal to the returned host pointer *pp\" (unless write-combined)",
                  [] {
                      kernels const k;
                      pinned<unsigned> const x(1);
                      CUdeviceptr address = 0;
                      ok(cu.cuMemHostGetDevicePointer_v2(&address, x.get(), 0));
                      check(address == x.address(), "another address");
                      unsigned by = 4;
                      x.write(1);
                      ok(launch(k["add"], 1, nullptr, {&address, &by}));
                      ok(cu.cuCtxSynchronize());
                      check(x.read() == 5, "value");
                  }};

} // namespace
} // namespace facts
