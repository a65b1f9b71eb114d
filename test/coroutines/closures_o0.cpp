// SPDX-License-Identifier: BSL-1.0
// Closures inside co_await expressions, compiled at -O0 whatever the rest is compiled with.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O0")
#endif
#define closures_test closures_o0_test // functions of their own, not whichever copy the linker keeps
#include "closures.hpp"

BOOST_AUTO_TEST_SUITE(closures_o0)

BOOST_DATA_TEST_CASE(kernels_in_full_expressions_are_destroyed_once, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    BOOST_TEST(omp_co::sync_wait(closures_test::in_full_expressions(dev)) == 1);
}

BOOST_DATA_TEST_CASE(bodies_in_full_expressions_are_destroyed_once, data::make(device_kinds), kind)
{
    test_device const dev = kind.make();
    BOOST_TEST(omp_co::sync_wait(closures_test::in_bodies(dev)) == 1);
}

BOOST_AUTO_TEST_SUITE_END()
