// SPDX-License-Identifier: BSL-1.0
// A loop that is shared among threads, and the threads of a host device.
#include <support/sanitizers.hpp>

#include <omp_co/host/crew.hpp>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

namespace host_team_test {

using namespace omp_co::host;
namespace backend = omp_co::backend;
using omp_co::errc;
using omp_co_test::rounds;

using counters = std::vector<std::atomic<int>>;

// Counts each index; throws at one of them if told.
struct count_kernel {
    counters* seen;
    std::size_t throws_at = ~std::size_t{0};
};

void run_count(backend::invocation const& call, std::size_t first, std::size_t last, void*)
{
    auto const& k = *static_cast<count_kernel const*>(call.closure);
    for (std::size_t i = first; i < last; ++i) {
        if (i == k.throws_at) throw std::runtime_error("at the index");
        (*k.seen)[i].fetch_add(1, std::memory_order_relaxed);
    }
}

constexpr omp_co::detail::host_kernel count_variant(&run_count);

backend::invocation call_of(count_kernel const& k, std::size_t n)
{
    backend::invocation call;
    call.what = &count_variant;
    call.closure = &k;
    call.range.count[0] = n;
    call.range.dimensions = 1;
    return call;
}

std::atomic<unsigned> open_teams{0};

bool each_once(counters const& seen, std::size_t first = 0)
{
    for (std::size_t i = first; i < seen.size(); ++i)
        if (seen[i].load() != 1) return false;
    return true;
}

BOOST_AUTO_TEST_SUITE(the_team)

BOOST_AUTO_TEST_CASE(the_owner_alone_does_every_piece)
{
    for (std::size_t pieces : {1U, 2U, 7U, 100U}) {
        counters seen(100);
        count_kernel const k{&seen};
        backend::invocation const call = call_of(k, 100);
        team t;
        BOOST_TEST(!t.open());
        t.start(call, 0, 100, pieces, open_teams);
        BOOST_TEST(t.open());
        backend::failure f;
        t.finish(f, std::chrono::microseconds(20));
        BOOST_TEST(!t.open());
        BOOST_TEST(open_teams == 0U);
        BOOST_TEST(!f.error);
        BOOST_TEST(each_once(seen));
    }
}

BOOST_AUTO_TEST_CASE(only_the_opened_part_is_done)
{
    counters seen(100);
    count_kernel const k{&seen};
    backend::invocation const call = call_of(k, 100);
    team t;
    t.start(call, 30, 100, 4, open_teams);
    backend::failure f;
    t.finish(f, std::chrono::microseconds(20));
    BOOST_TEST(each_once(seen, 30));
    for (std::size_t i = 0; i < 30; ++i) BOOST_TEST(seen[i].load() == 0);
}

BOOST_AUTO_TEST_CASE(help_for_a_closed_team_does_nothing)
{
    team t;
    t.help();
    BOOST_TEST(!t.open());
}

BOOST_AUTO_TEST_CASE(guests_take_pieces_and_none_is_done_twice)
{
    team t;
    std::atomic<bool> over{false};
    std::vector<std::thread> guests;
    for (int g = 0; g < 2; ++g)
        guests.emplace_back([&] {
            while (!over) {
                if (t.open())
                    t.help();
                else
                    std::this_thread::yield();
            }
        });
    bool good = true;
    for (int round = 0; round < rounds(2000);
         ++round) { // start after start: a late guest meets the next loop
        counters seen(64);
        count_kernel const k{&seen};
        backend::invocation const call = call_of(k, 64);
        t.start(call, 0, 64, 1 + std::size_t(round) % 16, open_teams);
        backend::failure f;
        t.finish(f, std::chrono::microseconds(20));
        good = good && !f.error && each_once(seen);
    }
    over = true;
    for (std::thread& g : guests) g.join();
    BOOST_TEST(good);
}

BOOST_AUTO_TEST_CASE(a_failure_is_told_once_and_not_remembered)
{
    counters seen(100);
    count_kernel const bad{&seen, 50};
    backend::invocation const failing = call_of(bad, 100);
    team t;
    t.start(failing, 0, 100, 10, open_teams);
    backend::failure f;
    t.finish(f, std::chrono::microseconds(20));
    BOOST_TEST((f.error == errc::kernel_failed));
    BOOST_TEST(f.what.find("at the index") != std::string::npos);
    counters again(100);
    count_kernel const good{&again};
    backend::invocation const call = call_of(good, 100);
    t.start(call, 0, 100, 10, open_teams);
    backend::failure none;
    t.finish(none, std::chrono::microseconds(20));
    BOOST_TEST(!none.error);
    BOOST_TEST(each_once(again));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(the_crew)

options with_workers(unsigned n)
{
    options o;
    o.workers = n;
    o.spin = std::chrono::microseconds(1);
    return o;
}

// Something for a worker to run, which counts how often it was.
struct counted final : runnable {
    void run(crew&, team&) noexcept override { runs.fetch_add(1); }
    void await(int n) const
    {
        while (runs.load() < n) std::this_thread::yield();
    }
    std::atomic<int> runs{0};
};

BOOST_AUTO_TEST_CASE(a_crew_without_work_stops)
{
    for (unsigned n : {1U, 3U}) {
        crew workers(with_workers(n));
        BOOST_TEST(workers.size() == n);
        BOOST_TEST(!workers.wanted());
    }
}

BOOST_AUTO_TEST_CASE(what_is_posted_runs_once_a_post)
{
    crew workers(with_workers(2));
    counted a;
    counted b;
    int const all = rounds(2000);
    for (int i = 1; i <= all; ++i) { // between rounds the workers may fall asleep: no post is lost
        workers.post(a);
        workers.post(b);
        a.await(i);
        b.await(i);
    }
    workers.stop();
    BOOST_TEST(a.runs.load() == all);
    BOOST_TEST(b.runs.load() == all);
}

BOOST_AUTO_TEST_CASE(a_post_wakes_a_crew_that_sleeps)
{
    crew workers(with_workers(1));
    counted a;
    for (int i = 1; i <= 20; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2)); // far longer than it spins
        workers.post(a);
        a.await(i);
    }
    BOOST_TEST(a.runs.load() == 20);
}

// Runs a call as a stream does.
struct caller final : runnable {
    explicit caller(backend::invocation const& c) : call(c) {}
    void run(crew& workers, team& own) noexcept override
    {
        workers.run_call(call, own, failure);
        done = true;
    }
    void await() const
    {
        while (!done.load()) std::this_thread::yield();
    }
    backend::invocation const& call;
    backend::failure failure;
    std::atomic<bool> done{false};
};

BOOST_AUTO_TEST_CASE(a_call_covers_each_index_once_with_any_number_of_workers)
{
    for (unsigned n : {1U, 2U, 3U}) {
        crew workers(with_workers(n));
        for (std::size_t size : {0U, 1U, 2U, 3U, 1000U, 200000U}) {
            counters seen(size);
            count_kernel const k{&seen};
            backend::invocation const call = call_of(k, size);
            caller c(call);
            workers.post(c);
            c.await();
            BOOST_TEST(!c.failure.error);
            BOOST_TEST(each_once(seen));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_call_without_a_range_runs_once)
{
    crew workers(with_workers(2));
    counters seen(1);
    count_kernel const k{&seen};
    backend::invocation call = call_of(k, 1);
    call.range = {};
    caller c(call);
    workers.post(c);
    c.await();
    BOOST_TEST(seen[0].load() == 1);
}

BOOST_AUTO_TEST_CASE(a_call_that_throws_fails_wherever_it_throws)
{
    crew workers(with_workers(3));
    for (std::size_t at : {0U, 1U, 5000U, 199999U}) {
        counters seen(200000);
        count_kernel const k{&seen, at};
        backend::invocation const call = call_of(k, 200000);
        caller c(call);
        workers.post(c);
        c.await();
        BOOST_TEST((c.failure.error == errc::kernel_failed));
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace host_team_test
