// SPDX-License-Identifier: BSL-1.0
// Standard containers in a device's memory.
#include "support/devices.hpp"
#include "support/outcome.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace device_allocator_test {

namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::device_allocator;

template <class T>
using device_vector = std::vector<T, device_allocator<T>>;

void add_one(omp_co::device dev, device_vector<int>& v)
{
    auto const add = [](std::size_t i, int* p) { ++p[i]; };
    BOOST_TEST(!outcome(omp_co::target(dev, add, omp_co::range(v.size()), omp_co::is_device_ptr(v.data()))));
}

BOOST_AUTO_TEST_SUITE(the_device_allocator)

BOOST_DATA_TEST_CASE(a_vector_lives_on_the_device, data::make(device_kinds), kind)
{
    test_device const owner = kind.make();
    omp_co::device const dev = owner;
    std::size_t const before = dev.statistics().device_bytes;
    auto const copies = dev.statistics().copies_in;
    {
        device_vector<int> v(1'000, 41, device_allocator<int>(dev));
        BOOST_TEST((dev.statistics().device_bytes >= before + 4'000));
        add_one(dev, v);
        BOOST_TEST((v == device_vector<int>(1'000, 42, v.get_allocator())));
        v.push_back(0); // moves its elements
        add_one(dev, v);
        BOOST_TEST(v[999] == 43);
        BOOST_TEST(v[1'000] == 1);
    }
    BOOST_TEST(dev.statistics().device_bytes == before);
    BOOST_TEST(dev.statistics().copies_in == copies); // the initial device has served other tests
}

BOOST_AUTO_TEST_CASE(assigned_vectors_are_on_the_device_of_their_source)
{
    test_device const here(workers(0));
    test_device const there(workers(1));
    device_vector<int> a(10, 1, device_allocator<int>(here));
    device_vector<int> b(20, 2, device_allocator<int>(there));
    BOOST_TEST((a.get_allocator() != b.get_allocator()));
    b = a;
    BOOST_TEST((b.get_allocator().where() == here.get()));
    BOOST_TEST(there.get().statistics().device_bytes == 0U);
    add_one(here, b);
    BOOST_TEST(b[9] == 2);
    device_vector<double> const other(3, 0.5, b.get_allocator()); // another element type
    BOOST_TEST((other.get_allocator() == b.get_allocator()));
}

BOOST_AUTO_TEST_CASE(a_device_that_is_gone_has_no_memory)
{
    omp_co::device gone;
    {
        test_device const owner(workers(1));
        gone = owner;
    }
    for (omp_co::device const dev : {omp_co::device(), gone}) {
        BOOST_TEST(!dev.host_accessible());
        BOOST_CHECK_EXCEPTION(
            (void)device_allocator<int>(dev).allocate(1), boost::system::system_error,
            [](boost::system::system_error const& e) { return e.code() == omp_co::errc::device_lost; });
    }
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_bad_alloc)
{
    test_device const owner(limited(0, 4'096));
    device_allocator<int> a(owner);
    BOOST_CHECK_THROW((void)a.allocate(2'000), std::bad_alloc);
    BOOST_CHECK_THROW((void)a.allocate(std::numeric_limits<std::size_t>::max() / 2),
                      std::bad_array_new_length);
    int* const p = a.allocate(0);
    BOOST_TEST(p != nullptr);
    a.deallocate(p, 0);
    BOOST_TEST(owner.get().statistics().device_bytes == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace device_allocator_test
