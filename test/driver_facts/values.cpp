// SPDX-License-Identifier: BSL-1.0
// Values that a stream writes and waits for.
#include "facts.hpp"

namespace facts {
namespace {

void need_memory_operations()
{
    if (attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS) == 0)
        throw skipped("the device has no 64-bit stream memory operations");
}

fact const in_order{"a_value_is_written_behind_the_work_before_it",
                    "Driver API, Stream Memory Operations, CU_STREAM_WRITE_VALUE_DEFAULT: \"Normally, "
                    "cuStreamWriteValue32 will provide a "
                    "memory fence before the write, which has similar semantics to __threadfence_system() "
                    "but is scoped to the stream "
                    "rather than a CUDA thread.\"",
                    [] {
                        need_memory_operations();
                        pinned<int> const data(1024);
                        pinned<unsigned long long> const done(1);
                        stream const s;
                        gate g(s);
                        ok(cu.cuMemsetD32Async(data.address(), 6, 1024, s));
                        ok(cu.cuStreamWriteValue64_v2(s, done.address(), 0x100000001, 0));
                        for (int i = 0; i < 10; ++i) sleep_a_little();
                        check(done.read() == 0, "written too early");
                        g.open();
                        check(soon([&] { return done.read() != 0; }), "never written");
                        check(done.read() == 0x100000001, "another value");
                        check(data.read(0) == 6 && data.read(1023) == 6, "the work before is not seen");
                    }};

fact const growing{"values_written_in_a_stream_appear_in_its_order",
                   "Programming Guide, Asynchronous Concurrent Execution, Streams: \"A stream is a sequence "
                   "of commands [...] that "
                   "execute in order.\"",
                   [] {
                       need_memory_operations();
                       pinned<unsigned> const at(1);
                       stream const s;
                       for (unsigned i = 1; i <= 200; ++i)
                           ok(cu.cuStreamWriteValue32_v2(s, at.address(), i, 0));
                       unsigned last = 0;
                       bool backwards = false;
                       check(soon([&] {
                                 auto const now = at.read();
                                 backwards = backwards || now < last;
                                 last = now;
                                 return now == 200;
                             }),
                             "the last value never came");
                       check(!backwards, "an older value came later");
                   }};

fact const unordered{
    "the_memory_barrier_can_be_left_out",
    "Driver API, Stream Memory Operations, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER: \"Permits the write to "
    "be reordered "
    "with writes which were issued before it, as a performance optimization.\"",
    [] {
        need_memory_operations();
        pinned<unsigned> const at(1);
        stream const s;
        ok(cu.cuStreamWriteValue32_v2(s, at.address(), 8, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
        ok(cu.cuStreamSynchronize(s));
        check(at.read() == 8, "not written");
    }};

fact const waits{"a_stream_waits_until_a_value_is_reached",
                 "Driver API, Stream Memory Operations, cuStreamWaitValue32: \"Work ordered after the "
                 "operation will block until the "
                 "given condition on the memory is satisfied. By default, the condition is to wait for "
                 "(int32_t)(*addr - value) >= 0, "
                 "a cyclic greater-or-equal.\"",
                 [] {
                     need_memory_operations();
                     pinned<unsigned> const at(1);
                     stream const s;
                     at.write(0xfffffff0U);
                     ok(cu.cuStreamWaitValue32_v2(s, at.address(), 3, CU_STREAM_WAIT_VALUE_GEQ));
                     for (int i = 0; i < 5; ++i) sleep_a_little();
                     answers(cu.cuStreamQuery(s), CUDA_ERROR_NOT_READY);
                     at.write(2);
                     for (int i = 0; i < 5; ++i) sleep_a_little();
                     answers(cu.cuStreamQuery(s), CUDA_ERROR_NOT_READY);
                     at.write(4);
                     check(soon([&] { return cu.cuStreamQuery(s) == CUDA_SUCCESS; }), "it still waits");
                 }};

fact const equal{
    "a_stream_can_wait_for_equality",
    "Driver API, CUstreamWaitValue_flags: \"CU_STREAM_WAIT_VALUE_EQ: Wait until *addr == value.\"", [] {
        need_memory_operations();
        pinned<unsigned> const at(1);
        stream const s;
        at.write(9);
        ok(cu.cuStreamWaitValue32_v2(s, at.address(), 3, CU_STREAM_WAIT_VALUE_EQ));
        for (int i = 0; i < 5; ++i) sleep_a_little();
        answers(cu.cuStreamQuery(s), CUDA_ERROR_NOT_READY);
        at.write(3);
        check(soon([&] { return cu.cuStreamQuery(s) == CUDA_SUCCESS; }), "it still waits");
    }};

} // namespace
} // namespace facts
