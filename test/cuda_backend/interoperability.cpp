// SPDX-License-Identifier: BSL-1.0
// Other libraries in the same process: their streams and events take part, their captures and contexts are left alone.
#include "cuda_backend/bed.hpp"
#include "support/outcome.hpp"

#include <boost/asio.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <chrono>
#include <thread>

namespace interoperability_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace cuda_test;
using namespace std::chrono_literals;
using omp_co_test::outcome;
namespace driver = omp_co::cuda::driver;

using int_kernel = omp_co::kernel<void(int*)>;
int_kernel const increment("increment", image);

// A program that uses the driver by itself.
class other_library {
public:
    other_library()
    {
        BOOST_REQUIRE((d.primary_ctx_retain(&context, 0) == driver::result::success));
        BOOST_REQUIRE((d.ctx_push_current(context) == driver::result::success));
        BOOST_REQUIRE((d.stream_create(&stream, driver::stream_non_blocking) == driver::result::success));
    }
    ~other_library()
    {
        (void)d.stream_synchronize(stream);
        (void)d.stream_destroy(stream);
        driver::context_handle mine = nullptr;
        (void)d.ctx_pop_current(&mine);
        BOOST_TEST(mine == context);
        (void)d.primary_ctx_release(0);
    }
    other_library(other_library const&) = delete;
    other_library& operator=(other_library const&) = delete;

    void sleep_on_stream(std::chrono::milliseconds t)
    {
        BOOST_REQUIRE((
            d.launch_host_func(
                stream,
                [](void* ms) {
                    timespec nap{0, static_cast<long>(reinterpret_cast<std::uintptr_t>(ms)) * 1000000};
                    (void)::nanosleep(&nap, nullptr);
                },
                reinterpret_cast<void*>(static_cast<std::uintptr_t>(t.count()))) == driver::result::success));
    }

    driver::api const& d = driver::table();
    driver::context_handle context = nullptr;
    driver::stream_handle stream = nullptr;
};

BOOST_AUTO_TEST_SUITE(interoperability)

BOOST_AUTO_TEST_CASE(a_stream_and_an_event_of_others_can_be_awaited)
{
    bed dev;
    other_library other;
    other.sleep_on_stream(30ms);
    auto begin = std::chrono::steady_clock::now();
    BOOST_TEST(!outcome(omp_co::cuda::await_stream(other.stream)));
    BOOST_TEST((std::chrono::steady_clock::now() - begin >= 25ms));

    driver::event_handle e = nullptr;
    BOOST_REQUIRE((other.d.event_create(&e, driver::event_disable_timing) == driver::result::success));
    other.sleep_on_stream(30ms);
    BOOST_REQUIRE((other.d.event_record(e, other.stream) == driver::result::success));
    begin = std::chrono::steady_clock::now();
    int x = 1;
    asio::io_context io;
    auto const run = [&]() -> asio::awaitable<void> {
        co_await omp_co::cuda::await_event(e);
        co_await omp_co::target(dev, increment, omp_co::tofrom(x));
    };
    asio::co_spawn(io, run(), [](std::exception_ptr error) { BOOST_TEST(!error); });
    io.run();
    BOOST_TEST((std::chrono::steady_clock::now() - begin >= 25ms));
    BOOST_TEST(x == 2);
    (void)other.d.event_destroy(e);
}

// Also when the wait's timer has expired by then, and its handler is about to be called.
BOOST_DATA_TEST_CASE(a_wait_can_be_cancelled, data::make({0, 1, 2}) * data::make({false, true}), way, expired)
{
    asio::cancellation_type const types[]{asio::cancellation_type::terminal, asio::cancellation_type::partial,
                                          asio::cancellation_type::total};
    bed dev;
    other_library other;
    other.sleep_on_stream(300ms);
    asio::io_context io;
    asio::cancellation_signal signal;
    omp_co::error_code ended;
    omp_co::cuda::await_stream(other.stream)(asio::bind_cancellation_slot(
        signal.slot(), asio::bind_executor(io, [&](omp_co::error_code ec) { ended = ec; })));
    asio::steady_timer cancels(io);
    asio::steady_timer later(io, 10ms);
    auto const begin = std::chrono::steady_clock::now();
    later.async_wait([&](omp_co::error_code) {
        cancels.expires_after(0ms); // before the wait's own
        cancels.async_wait([&](omp_co::error_code) { signal.emit(types[way]); });
        if (expired) std::this_thread::sleep_for(5ms);
    });
    io.run();
    BOOST_TEST((ended == asio::error::operation_aborted));
    BOOST_TEST((std::chrono::steady_clock::now() - begin < 250ms));
}

BOOST_AUTO_TEST_CASE(containers_cannot_live_where_the_host_reaches_nothing)
{
    bed dev;
    BOOST_TEST(!omp_co::device(dev).host_accessible());
    omp_co::device_allocator<int> a(dev);
    BOOST_CHECK_EXCEPTION((void)a.allocate(1), boost::system::system_error,
                          [](boost::system::system_error const& e) {
                              return e.code() == omp_co::errc::not_supported &&
                                     std::string(e.what()).find("device_buffer") != std::string::npos;
                          });
}

BOOST_AUTO_TEST_CASE(large_memory_that_others_have_registered_is_not_staged)
{
    bed dev;
    other_library other;
    std::vector<int> x(1 << 20, 1);
    BOOST_REQUIRE((other.d.mem_host_register(x.data(), x.size() * sizeof(int),
                                             driver::host_register_portable) == driver::result::success));
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(x))));
    BOOST_TEST(x[0] == 2);
    BOOST_TEST(simulator::called("cuMemcpyHtoDAsync_v2", 1));
    BOOST_TEST(simulator::called("cuMemcpyDtoHAsync_v2", 1));
    (void)other.d.mem_host_unregister(x.data());
}

BOOST_AUTO_TEST_CASE(the_current_context_stays_current)
{
    bed dev;
    int x = 1;
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(x))));
    driver::context_handle now = nullptr;
    BOOST_TEST((driver::table().ctx_get_current(&now) == driver::result::success));
    BOOST_TEST(now == nullptr);
    other_library other;
    BOOST_TEST(!outcome(omp_co::target(dev, increment, omp_co::tofrom(x))));
    BOOST_TEST((driver::table().ctx_get_current(&now) == driver::result::success));
    BOOST_TEST(now == other.context);
    BOOST_TEST(x == 3);
}

BOOST_AUTO_TEST_CASE(a_capture_in_progress_is_not_disturbed)
{
    bed dev;
    other_library other;
    simulator::begin_capture(other.stream);
    int x = 1;
    std::vector<int> large(1 << 18, 1);
    BOOST_TEST(
        !outcome(omp_co::target(dev, increment, omp_co::tofrom(x), omp_co::also(omp_co::tofrom(large)))));
    BOOST_TEST(x == 2);
    auto status = driver::capture_status::none;
    BOOST_TEST((other.d.stream_is_capturing(other.stream, &status) == driver::result::success));
    BOOST_TEST((status == driver::capture_status::active));
    simulator::end_capture(other.stream);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(memory_for_others, *boost::unit_test::precondition(simulated))

// A block comes to be when a stream has come that far, which takes a while here.
BOOST_DATA_TEST_CASE(memory_is_handed_out_when_streams_of_others_may_use_it, data::make({true, false}),
                     by_operation)
{
    bed dev(varieties[0], {{"LATENCY_US", "20000"}});
    omp_co::device const where = dev;
    (void)where.deallocate(where.allocate(1)); // the device is open now
    auto const begin = std::chrono::steady_clock::now();
    omp_co::device_buffer<char> made;
    void* raw = nullptr;
    if (by_operation)
        made = omp_co::sync_wait(omp_co::allocate<char>(where, 100000));
    else
        raw = where.allocate(100000);
    BOOST_TEST((std::chrono::steady_clock::now() - begin >= 20ms));
    (void)where.deallocate(raw);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace interoperability_test
