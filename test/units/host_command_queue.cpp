// SPDX-License-Identifier: BSL-1.0
// The queue that carries commands from the enqueueing thread to a worker.
#include <support/sanitizers.hpp>

#include <omp_co/host/command.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <thread>

namespace host_command_queue_test {

using namespace omp_co::host;

// A command that carries a number.
bool push_number(command_queue& q, std::uint64_t n)
{
    command* const c = q.push();
    if (c == nullptr) return false;
    c->kind = command_kind::copy;
    c->copy.bytes = n;
    c->signal = 0;
    return true;
}

std::uint64_t pop_number(command_queue& q)
{
    std::uint64_t const n = q.front().copy.bytes;
    q.pop();
    return n;
}

BOOST_AUTO_TEST_SUITE(the_command_queue)

BOOST_AUTO_TEST_CASE(what_is_not_published_is_not_seen)
{
    command_queue q;
    BOOST_TEST(q.empty());
    BOOST_TEST(q.last() == nullptr);
    push_number(q, 1);
    BOOST_TEST(q.empty());
    BOOST_TEST(q.last() != nullptr);
    q.publish();
    BOOST_TEST(!q.empty());
    BOOST_TEST(q.last() == nullptr);
    BOOST_TEST(pop_number(q) == 1U);
    BOOST_TEST(q.empty());
}

BOOST_AUTO_TEST_CASE(the_last_command_can_still_be_changed_before_it_is_published)
{
    command_queue q;
    push_number(q, 1);
    push_number(q, 2);
    q.last()->signal = 7;
    q.publish();
    BOOST_TEST(q.front().signal == 0U);
    q.pop();
    BOOST_TEST(q.front().signal == 7U);
    q.pop();
}

BOOST_AUTO_TEST_CASE(any_number_of_commands_comes_out_in_order)
{
    command_queue q;
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    for (int round = 0; round < 50; ++round) { // grows, shrinks, and crosses its chunks at every offset
        for (int i = 0; i < 17 * (round % 7) + 1; ++i) push_number(q, in++);
        q.publish();
        for (int i = 0; i < 40 && !q.empty(); ++i) BOOST_TEST(pop_number(q) == out++);
    }
    while (!q.empty()) BOOST_TEST(pop_number(q) == out++);
    BOOST_TEST(out == in);
}

BOOST_AUTO_TEST_CASE(a_queue_that_goes_away_full_takes_its_commands_along)
{
    command_queue q; // leak checkers do the rest
    for (std::uint64_t i = 0; i < 1000; ++i) push_number(q, i);
    q.publish();
    for (std::uint64_t i = 0; i < 100; ++i) BOOST_TEST(pop_number(q) == i);
}

BOOST_AUTO_TEST_CASE(one_thread_pushes_while_another_pops)
{
    auto const all = static_cast<std::uint64_t>(omp_co_test::rounds(400000));
    command_queue q;
    std::thread producer([&] {
        for (std::uint64_t i = 0; i < all; ++i) {
            push_number(q, i);
            if (i % 3 == 0) q.publish();
        }
        q.publish();
    });
    bool in_order = true;
    for (std::uint64_t i = 0; i < all; ++i) {
        while (q.empty()) std::this_thread::yield();
        in_order = in_order && pop_number(q) == i;
    }
    producer.join();
    BOOST_TEST(in_order);
    BOOST_TEST(q.empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace host_command_queue_test
