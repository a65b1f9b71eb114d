// SPDX-License-Identifier: BSL-1.0
// Queues on streams of the program's: constructs among the program's own kernels, copies and events.
#include "cuda_backend/bed.hpp"
#include "support/outcome.hpp"
#include "support/started.hpp"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace adopted_streams_test {

namespace data = boost::unit_test::data;
namespace driver = omp_co::cuda::driver;
using namespace cuda_test;
using namespace std::chrono_literals;
using omp_co::errc;
using omp_co_test::outcome;
using omp_co_test::started;
using omp_co_test::starter;

using int_kernel = omp_co::kernel<void(int*)>;
int_kernel const increment("increment", image);
omp_co::kernel<void(int const*, int*)> const add_from("add_from", image);

// A program that uses the driver by itself: a stream, an integer on the device, and a kernel.
class program {
public:
    explicit program(int device = 0) : device_(device)
    {
        ok(d.primary_ctx_retain(&context_, device));
        ok(d.ctx_push_current(context_));
        ok(d.stream_create(&stream, driver::stream_non_blocking));
        ok(d.mem_alloc(&address_, sizeof(int)));
        ok(d.module_load_data_ex(&module_, kernels_ptx, 0, nullptr, nullptr));
        ok(d.module_get_function(&increment_, module_, "increment"));
        ok(d.memset_d32_async(address_, 0, 1, stream));
        ok(d.stream_synchronize(stream));
    }
    program(program const&) = delete;
    program& operator=(program const&) = delete;
    ~program()
    {
        destroy_stream();
        ok(d.mem_free(address_));
        ok(d.module_unload(module_));
        driver::context_handle mine = nullptr;
        ok(d.ctx_pop_current(&mine));
        ok(d.primary_ctx_release(device_));
    }

    int* data() const { return reinterpret_cast<int*>(address_); }

    void launch()
    {
        void* arguments[]{&address_};
        ok(d.launch_kernel(increment_, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
    }

    int value()
    {
        int x = -1;
        ok(d.memcpy_dtoh_async(&x, address_, sizeof x, stream));
        ok(d.stream_synchronize(stream));
        return x;
    }

    void destroy_stream()
    {
        if (stream == nullptr) return;
        ok(d.stream_synchronize(stream));
        ok(d.stream_destroy(stream));
        stream = nullptr;
    }

    static void ok(driver::result r) { BOOST_REQUIRE((r == driver::result::success)); }

    driver::api const& d = driver::table();
    driver::stream_handle stream = nullptr;

private:
    int device_;
    driver::context_handle context_ = nullptr;
    driver::device_address address_ = 0;
    driver::module_handle module_ = nullptr;
    driver::function_handle increment_ = nullptr;
};

/// What omp_co::cuda::queue() throws.
omp_co::error_code refusal(omp_co::device dev, driver::stream_handle s)
{
    try {
        (void)omp_co::cuda::queue(dev, s);
    } catch (boost::system::system_error const& e) {
        BOOST_TEST(std::string(e.what()).find("stream") != std::string::npos);
        return e.code();
    }
    return {};
}

BOOST_AUTO_TEST_SUITE(adopted_streams)

BOOST_DATA_TEST_CASE(constructs_mix_with_the_programs_own_commands, data::make(cuda_varieties), v)
{
    bed const dev(v, {{"KERNEL_US", "3000"}});
    program mine;
    int expected = 0;
    {
        omp_co::queue const q = omp_co::cuda::queue(dev, mine.stream);
        for (int k = 0; k < 5; ++k) {
            mine.launch();
            BOOST_TEST(!outcome(omp_co::target(q, add_from, omp_co::is_device_ptr(mine.data()),
                                               omp_co::is_device_ptr(mine.data()))));
            mine.launch();
            expected = (expected + 1) * 2 + 1;
        }
        BOOST_TEST(mine.value() == expected);
    }
    mine.launch();
    BOOST_TEST(mine.value() == expected + 1);
}

// What the program puts behind a construct may wait for what waits for that construct.
BOOST_DATA_TEST_CASE(who_follows_a_construct_does_not_follow_what_the_program_put_behind_it,
                     data::make(cuda_varieties), v)
{
    if (!simulator::present()) return;
    bed const dev(v);
    program mine;
    int x = 1;
    omp_co::queue const q = omp_co::cuda::queue(dev, mine.stream);
    BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(x))));
    BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::tofrom(x))));
    std::atomic<bool> done{false};
    program::ok(mine.d.launch_host_func(
        mine.stream, [](void* flag) { static_cast<std::atomic<bool>*>(flag)->wait(false); }, &done));
    omp_co::error_code const ec = outcome(omp_co::target(dev, increment, omp_co::tofrom(x)));
    done = true;
    done.notify_one();
    BOOST_TEST(!ec);
    BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(x))));
    BOOST_TEST(x == 3);
}

BOOST_DATA_TEST_CASE(an_event_of_the_programs_comes_behind_constructs, data::make(cuda_varieties), v)
{
    bed const dev(v, {{"KERNEL_US", "20000"}});
    program mine;
    driver::event_handle e = nullptr;
    program::ok(mine.d.event_create(&e, driver::event_disable_timing));
    {
        omp_co::queue const q = omp_co::cuda::queue(dev, mine.stream);
        auto const begin = std::chrono::steady_clock::now();
        BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::is_device_ptr(mine.data()))));
        program::ok(mine.d.event_record(e, mine.stream));
        if (simulator::present())
            BOOST_TEST((mine.d.event_query(e) == driver::result::not_ready ||
                        std::chrono::steady_clock::now() - begin >= 20ms));
        program::ok(mine.d.event_synchronize(e));
        BOOST_TEST(mine.value() == 1);
        // And a construct comes behind what the program waits for in the stream.
        BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::is_device_ptr(mine.data()))));
        BOOST_TEST(!outcome(q.synchronize()));
    }
    program::ok(mine.d.event_destroy(e));
    BOOST_TEST(mine.value() == 2);
}

BOOST_DATA_TEST_CASE(mapped_data_large_and_small, data::make(cuda_varieties), v)
{
    bed const dev(v);
    program mine;
    int x = 1;
    std::vector<int> large(std::size_t{1} << 19, 3);
    {
        omp_co::queue const q = omp_co::cuda::queue(dev, mine.stream);
        for (int k = 0; k < 3; ++k) {
            BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(x), omp_co::to(large))));
            BOOST_TEST(!outcome(omp_co::target(q, add_from, omp_co::to(large), omp_co::tofrom(x))));
            BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::tofrom(large))));
            BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(x), omp_co::from(large))));
        }
        BOOST_TEST(x == 1 + 3 + 4 + 5);
        BOOST_TEST(large[0] == 6);
        int y = 1; // on a stream of omp_co's, behind the queue's
        BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(y))));
        BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(y))));
        BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(y))));
        BOOST_TEST(y == 2);
    }
    BOOST_TEST(dev.now().mapped_ranges == 0U);
}

// The stream is the program's, before, while and after; what is the queue's own does not grow with every queue.
BOOST_DATA_TEST_CASE(one_queue_after_the_other, data::make(cuda_varieties), v)
{
    bed dev(v);
    program mine;
    int x = 0;
    for (int k = 0; k < 200; ++k) {
        omp_co::queue const q = omp_co::cuda::queue(dev, mine.stream);
        BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::tofrom(x))));
    }
    BOOST_TEST(x == 200);
    mine.launch();
    BOOST_TEST(mine.value() == 1);
    mine.destroy_stream();
    BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(x))));
    dev.close();
}

// It waits for what the queue had, behind a kernel that is still being compiled, when the queue goes.
BOOST_AUTO_TEST_CASE(a_queue_goes_that_others_still_name)
{
    if (!omp_co::cuda::nvrtc::table().available()) return;
    bed dev(varieties[0], {{"KERNEL_US", "5000"}});
    program mine;
    omp_co::cuda::source const text("extern \"C\" __global__ void late(int* p) { *p += 10; }");
    int_kernel const late("late", text);
    int x = 0;
    int y = 1;
    BOOST_TEST(!outcome(omp_co::target_enter_data(dev.get(), omp_co::to(y))));
    BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(y))));
    starter all;
    all.start(omp_co::target(dev.get(), late, omp_co::tofrom(x)));
    {
        omp_co::queue const q = omp_co::cuda::queue(dev, mine.stream);
        BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::tofrom(y))));
        all.start(omp_co::target(dev.get(), add_from, omp_co::to(y), omp_co::tofrom(x)));
        BOOST_TEST(!outcome(q.synchronize()));
    }
    BOOST_TEST(all.run());
    BOOST_TEST(x == 10 + 3);
    BOOST_TEST(!outcome(omp_co::target_exit_data(dev.get(), omp_co::release(y))));
    dev.close();
}

BOOST_AUTO_TEST_CASE(what_is_no_stream_of_the_device_is_refused)
{
    bed const dev(varieties[0]);
    program mine;
    BOOST_TEST((refusal(dev, nullptr) == errc::invalid_argument));
    for (std::uintptr_t handle : {1U, 2U}) // CU_STREAM_LEGACY, CU_STREAM_PER_THREAD
        BOOST_TEST((refusal(dev, reinterpret_cast<driver::stream_handle>(handle)) == errc::invalid_argument));
    omp_co::host::virtual_device host;
    BOOST_TEST((refusal(host, mine.stream) == errc::invalid_argument));
    BOOST_TEST((refusal(omp_co::device(), mine.stream) == errc::invalid_argument));
    BOOST_TEST(!refusal(dev, mine.stream));
}

BOOST_AUTO_TEST_CASE(a_stream_of_another_device_is_refused, *boost::unit_test::precondition(simulated))
{
    bed const dev(varieties[0], {{"DEVICES", "2"}});
    {
        program other(1);
        BOOST_TEST((refusal(dev, other.stream) == errc::invalid_argument));
    }
    int x = 1;
    BOOST_TEST(!outcome(omp_co::target(dev.get(), increment, omp_co::tofrom(x))));
}

BOOST_AUTO_TEST_CASE(a_stream_that_is_captured_is_refused)
{
    bed const dev(varieties[0]);
    program mine;
    simulator::begin_capture(mine.stream);
    BOOST_TEST((refusal(dev, mine.stream) == errc::not_supported));
    simulator::end_capture(mine.stream);
    BOOST_TEST(!refusal(dev, mine.stream));
}

// Nothing of ours gets into the program's graph, nor does anything end its capture.
BOOST_DATA_TEST_CASE(constructs_wait_for_the_end_of_a_capture, data::make(cuda_varieties), v)
{
    bed const dev(v);
    program mine;
    std::vector<int> x(std::size_t{1} << 18, 1);
    int y = 1;
    {
        omp_co::queue const q = omp_co::cuda::queue(dev, mine.stream);
        BOOST_TEST(!outcome(omp_co::target(q, increment, omp_co::tofrom(y))));
        BOOST_TEST(!outcome(omp_co::target_enter_data(q, omp_co::to(y))));
        simulator::begin_capture(mine.stream);
        mine.launch();
        starter s;
        started const& small = s.start(omp_co::target(q, add_from, omp_co::to(y), omp_co::tofrom(y)));
        started const& large = s.start(omp_co::target(q, increment, omp_co::tofrom(x)));
        started const& behind = s.start(omp_co::target(dev.get(), increment, omp_co::tofrom(y)));
        s.io.run_for(30ms);
        BOOST_TEST(!small.over());
        BOOST_TEST(!large.over());
        BOOST_TEST(!behind.over());
        simulator::end_capture(mine.stream);
        BOOST_TEST(s.run());
        BOOST_TEST(small.well());
        BOOST_TEST(!outcome(omp_co::target_exit_data(q, omp_co::from(y))));
    }
    BOOST_TEST(x[0] == 2);
    BOOST_TEST(y == 5);
    BOOST_TEST(mine.value() == 0); // the program's kernel is in its graph
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace adopted_streams_test
