// SPDX-License-Identifier: BSL-1.0
// The main() of every test_<group> executable.
#define BOOST_TEST_MODULE omp_co
#include <boost/test/unit_test.hpp>
