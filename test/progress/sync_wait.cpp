// SPDX-License-Identifier: BSL-1.0
// sync_wait drives progress on whatever thread calls it.
#include "measure.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

namespace sync_wait_test {

using namespace measure;

/// A kernel that waits for a region `depth` levels further down.
struct nested_kernel {
    omp_co::device device;
    int depth;
    std::atomic<int>* runs;

    void operator()() const
    {
        ++*runs;
        if (depth != 0) omp_co::sync_wait(omp_co::target(device, nested_kernel{device, depth - 1, runs}));
    }
};

BOOST_AUTO_TEST_SUITE(blocking)

BOOST_AUTO_TEST_CASE(from_several_threads)
{
    for (unsigned workers : {0U, 1U, 2U}) {
        BOOST_TEST_CONTEXT("workers: " << workers)
        {
            omp_co::host::virtual_device device({.workers = workers});
            std::vector<std::vector<int>> data(4, std::vector<int>(100));
            int const n = rounds(300, 60);
            std::vector<std::thread> threads;
            for (auto& mine : data)
                threads.emplace_back([&] {
                    for (int i = 0; i < n; ++i)
                        omp_co::sync_wait(omp_co::target(
                            device, [](std::size_t k, int* p) { ++p[k]; }, omp_co::range(mine.size()),
                            omp_co::tofrom(mine)));
                });
            for (std::thread& t : threads) t.join();
            for (auto const& mine : data) BOOST_TEST(std::count(mine.begin(), mine.end(), n) == 100);
        }
    }
}

BOOST_AUTO_TEST_CASE(on_one_value_from_several_threads)
{
    omp_co::host::virtual_device device({.workers = 2});
    long sum = 0;
    omp_co::sync_wait(omp_co::target_enter_data(device, omp_co::to(sum)));
    int const n = rounds(500, 100);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < n; ++i)
                omp_co::sync_wait(omp_co::target(
                    device, [](long* s) { std::atomic_ref(*s).fetch_add(1); }, omp_co::tofrom(sum)));
        });
    for (std::thread& t : threads) t.join();
    omp_co::sync_wait(omp_co::target_exit_data(device, omp_co::from(sum)));
    BOOST_TEST(sum == 4 * n);
}

BOOST_AUTO_TEST_CASE(beside_a_loop_that_runs)
{
    omp_co::host::virtual_device device({.workers = 1});
    asio::io_context context;
    int done = 0;
    for (int i = 0; i < 500; ++i)
        omp_co::target(device, [] { compute_for(5us); })(
            asio::bind_executor(context.get_executor(), [&](error_code) { ++done; }));
    std::thread loop([&] { context.run(); });
    for (int i = 0; i < 200; ++i) omp_co::sync_wait(omp_co::target(device, [] {}));
    loop.join();
    BOOST_TEST(done == 500);
}

BOOST_AUTO_TEST_CASE(inside_a_kernel_for_another_device)
{
    omp_co::host::virtual_device outer({.workers = 1});
    omp_co::host::virtual_device inner({.workers = 1});
    omp_co::device const d = inner;
    std::atomic<int> runs{0};
    for (int i = 0; i < 100; ++i)
        omp_co::sync_wait(
            omp_co::target(outer, [d, &runs] { omp_co::sync_wait(omp_co::target(d, [&runs] { ++runs; })); }));
    BOOST_TEST(runs == 100);
}

BOOST_AUTO_TEST_CASE(inside_a_kernel_for_another_worker_of_the_same_device)
{
    omp_co::host::virtual_device device({.workers = 2});
    std::atomic<int> runs{0};
    for (int i = 0; i < 100; ++i) omp_co::sync_wait(omp_co::target(device, nested_kernel{device, 1, &runs}));
    BOOST_TEST(runs == 200);
}

BOOST_AUTO_TEST_CASE(inside_a_kernel_for_the_same_inline_device)
{
    omp_co::host::virtual_device device({.workers = 0});
    std::atomic<int> runs{0};
    omp_co::sync_wait(omp_co::target(device, nested_kernel{device, 20, &runs}));
    BOOST_TEST(runs == 21);
    runs = 0;
    omp_co::device const initial = omp_co::initial_device();
    omp_co::sync_wait(omp_co::target(initial, nested_kernel{initial, 20, &runs}));
    BOOST_TEST(runs == 21);
}

std::ptrdiff_t open_files()
{
    using entries = std::filesystem::directory_iterator;
    return std::distance(entries("/proc/self/fd"), entries());
}

// A thread keeps what a blocking call needs for its next one.
BOOST_AUTO_TEST_CASE(one_after_another_opens_no_files)
{
    omp_co::host::virtual_device device({.workers = 1});
    omp_co::sync_wait(omp_co::target(device, [] {}));
    std::ptrdiff_t const before = open_files();
    for (int i = 0; i < 200; ++i) {
        omp_co::sync_wait(omp_co::target(device, [] {}));
        omp_co::device_buffer<int> const made = omp_co::sync_wait(omp_co::allocate<int>(device, 10));
        BOOST_TEST(open_files() == before);
    }
    std::thread([&] { omp_co::sync_wait(omp_co::target(device, [] {})); }).join();
    BOOST_TEST(open_files() == before);
}

/// Is made before a thread's first blocking call and goes after what the thread keeps.
struct last_words {
    std::atomic<int>* runs = nullptr;
    omp_co::device device;

    ~last_words()
    {
        for (int i = 0; i < 2; ++i) omp_co::sync_wait(omp_co::target(device, [r = runs] { ++*r; }));
    }
};

BOOST_AUTO_TEST_CASE(at_the_end_of_a_thread)
{
    omp_co::host::virtual_device device({.workers = 1});
    std::atomic<int> runs{0};
    std::thread([&] {
        static thread_local last_words words;
        words.runs = &runs;
        words.device = device;
        omp_co::sync_wait(omp_co::target(device, [] {}));
    }).join();
    BOOST_TEST(runs == 2);
}

// A kernel's private memory is its own, also while another kernel runs below it on the same thread.
BOOST_AUTO_TEST_CASE(inside_a_kernel_leaves_its_private_memory_alone)
{
    omp_co::host::virtual_device outer({.workers = 1});
    omp_co::host::virtual_device inner({.workers = 0});
    omp_co::device const d = inner;
    for (std::size_t size : {std::size_t{16}, std::size_t{100'000}}) {
        BOOST_TEST_CONTEXT("inner elements: " << size)
        {
            std::size_t wrong = 1;
            auto const kernel = [d, size](int* mine, std::size_t* bad) {
                std::fill(mine, mine + 16, 7);
                auto const fill = [size](int* theirs) { std::fill(theirs, theirs + size, 8); };
                omp_co::sync_wait(omp_co::target(d, fill, omp_co::private_<int>(size)));
                *bad = static_cast<std::size_t>(std::count_if(mine, mine + 16, [](int v) { return v != 7; }));
            };
            omp_co::sync_wait(omp_co::target(outer, kernel, omp_co::private_<int>(16), omp_co::from(wrong)));
            BOOST_TEST(wrong == 0U);
        }
    }
}

BOOST_AUTO_TEST_CASE(of_awaitables_from_several_threads)
{
    omp_co::host::virtual_device device({.workers = 2});
    auto const twice = [](omp_co::device d, int value) -> asio::awaitable<int> {
        int result = 0;
        co_await omp_co::target(
            d, [](int v, int* r) { *r = 2 * v; }, omp_co::firstprivate(value), omp_co::from(result));
        co_return result;
    };
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 100; ++i)
                wrong += omp_co::sync_wait(twice(device, i + t)) == 2 * (i + t) ? 0 : 1;
        });
    for (std::thread& t : threads) t.join();
    BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sync_wait_test
