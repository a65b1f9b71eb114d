// SPDX-License-Identifier: BSL-1.0
// Threads that give way to loops: the slice that the kernel says they have.
#include <omp_co/detail/long_slices.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace long_slices_test {

struct attributes { // sched_getattr(2)
    std::uint32_t size = 0;
    std::uint32_t policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0;
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;

    static attributes of_this_thread()
    {
        attributes a;
        BOOST_TEST(::syscall(SYS_sched_getattr, 0, &a, sizeof a, 0U) == 0);
        return a;
    }
};

BOOST_AUTO_TEST_SUITE(long_slices)

BOOST_AUTO_TEST_CASE(a_thread_of_ours_has_a_longer_slice_than_the_one_that_started_it)
{
    attributes const here = attributes::of_this_thread();
    if (here.policy != SCHED_OTHER || here.runtime == 0) {
        BOOST_TEST_MESSAGE("skipped: the kernel has no slices of a thread's own");
        return;
    }
    attributes there;
    std::thread([&] {
        omp_co::detail::take_long_slices();
        there = attributes::of_this_thread();
    }).join();
    BOOST_TEST(there.runtime > here.runtime);
    BOOST_TEST(there.policy == here.policy);
    BOOST_TEST(there.nice == here.nice);
    BOOST_TEST(attributes::of_this_thread().runtime == here.runtime);
}

BOOST_AUTO_TEST_CASE(niceness_stays_as_it_was)
{
    attributes there;
    std::thread([&] {
        (void)::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + 1); // of this thread alone
        attributes const before = attributes::of_this_thread();
        omp_co::detail::take_long_slices();
        there = attributes::of_this_thread();
        BOOST_TEST(there.nice == before.nice);
    }).join();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace long_slices_test
