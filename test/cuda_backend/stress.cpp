// SPDX-License-Identifier: BSL-1.0
// Small and large copies, good and bad kernels, from two loops on two threads at once.
#include "cuda_backend/bed.hpp"
#include "support/outcome.hpp"

#include <boost/asio.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <cstddef>
#include <random>
#include <thread>
#include <vector>

namespace stress_test {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace cuda_test;
using omp_co::errc;

using int_kernel = omp_co::kernel<void(int*)>;
int_kernel const increment("increment", image);
int_kernel const missing("no_such_kernel", image);

struct job {
    std::vector<int> data;
    bool bad = false;
    int rounds = 0; ///< expected
};

struct tally {
    std::size_t well = 0;
    std::size_t refused = 0;
    std::size_t other = 0;
};

// Each job's regions follow one another, since all write the same data.
void drive(omp_co::device dev, unsigned seed, std::vector<job>& jobs, tally& count)
{
    std::mt19937 random(seed);
    asio::io_context io;
    auto const handler = [&](omp_co::error_code ec) {
        if (!ec)
            ++count.well;
        else if (ec == errc::kernel_unavailable || ec == errc::predecessor_failed)
            ++count.refused;
        else
            ++count.other;
    };
    for (int i = 0; i < 300; ++i) {
        job& j = jobs[random() % jobs.size()];
        if (j.bad) {
            omp_co::target(dev, missing, omp_co::tofrom(j.data))(asio::bind_executor(io, handler));
        } else {
            omp_co::target(dev, increment, omp_co::tofrom(j.data))(asio::bind_executor(io, handler));
            ++j.rounds;
        }
        if (random() % 8 == 0) io.poll();
    }
    io.restart(); // poll() may have found nothing in flight
    io.run();
}

BOOST_AUTO_TEST_SUITE(stress)

BOOST_DATA_TEST_CASE(two_loops_share_a_device, data::make(cuda_varieties), v)
{
    bed dev(v, {{"MEMORY", std::to_string(64 << 20)}});
    std::size_t const sizes[]{1, 100, 16384, 16385, 300000, 1 << 20};
    std::vector<job> jobs[2];
    for (auto& mine : jobs)
        for (std::size_t i = 0; i < 18; ++i)
            mine.push_back({std::vector<int>(sizes[i % 6], static_cast<int>(i)), i % 9 == 8, 0});
    tally counts[2];
    std::thread other([&] { drive(dev, 1, jobs[1], counts[1]); });
    drive(dev, 2, jobs[0], counts[0]);
    other.join();
    for (unsigned t = 0; t < 2; ++t) {
        BOOST_TEST(counts[t].other == 0U);
        BOOST_TEST(counts[t].well + counts[t].refused == 300U);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < jobs[t].size(); ++i) {
            job const& j = jobs[t][i];
            wrong += j.data.front() != static_cast<int>(i) + j.rounds;
            wrong += j.data.size() > 1 && j.data.back() != static_cast<int>(i);
        }
        BOOST_TEST(wrong == 0U);
    }
    BOOST_TEST(dev.now().mapped_ranges == 0U);
    BOOST_TEST(dev.now().device_bytes == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace stress_test
