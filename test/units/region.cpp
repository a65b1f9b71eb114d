// SPDX-License-Identifier: BSL-1.0
// A region's error and words, and queues of regions.
#include <omp_co/detail/region.hpp>

#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>

namespace region_test {

using omp_co::diagnostics;
using omp_co::errc;
using omp_co::detail::ending;
using omp_co::detail::region;
using omp_co::detail::region_list;

void end_nothing(region&, ending) {}

struct plain : region {
    plain() : region(&end_nothing, nullptr) {}
};

BOOST_AUTO_TEST_SUITE(regions)

BOOST_AUTO_TEST_CASE(the_first_error_stays_and_is_explained_with_the_regions_name)
{
    diagnostics d;
    plain r;
    r.why = &d;
    r.call_it("blur");
    r.fail(make_error_code(errc::kernel_failed), "the kernel threw: no");
    BOOST_TEST(d.message() == "blur: kernel failed: the kernel threw: no");
    r.fail(make_error_code(errc::device_lost), "too late");
    BOOST_TEST((r.error == errc::kernel_failed));
    BOOST_TEST(d.message().find("too late") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(without_a_name_or_a_text_the_code_speaks)
{
    diagnostics d;
    plain r;
    r.why = &d;
    r.fail(make_error_code(errc::out_of_memory), {});
    BOOST_TEST(d.message() == "out of device memory");
    plain silent; // nobody asked for words
    silent.fail(make_error_code(errc::out_of_memory), "text");
    BOOST_TEST((silent.error == errc::out_of_memory));
}

BOOST_AUTO_TEST_CASE(a_list_is_first_in_first_out)
{
    plain a, b, c;
    region_list list;
    BOOST_TEST(list.empty());
    list.push(a);
    list.push(b);
    BOOST_TEST(list.front() == &a);
    BOOST_TEST(list.pop() == &a);
    list.push(c);
    BOOST_TEST(list.pop() == &b);
    BOOST_TEST(list.pop() == &c);
    BOOST_TEST(list.empty());
    list.push(a);
    BOOST_TEST(list.front() == &a);
}

BOOST_AUTO_TEST_CASE(lists_are_joined_in_order_and_the_other_is_empty_then)
{
    plain a, b, c, d;
    region_list first;
    region_list second;
    second.push(a);
    second.push(b);
    first.append(std::move(second));
    BOOST_TEST(second.empty());
    second.push(c);
    first.append(std::move(second));
    first.append(std::move(second)); // nothing
    first.push(d);
    for (region* expected : {static_cast<region*>(&a), static_cast<region*>(&b), static_cast<region*>(&c),
                             static_cast<region*>(&d)})
        BOOST_TEST(first.pop() == expected);
    BOOST_TEST(first.empty());
}

BOOST_AUTO_TEST_CASE(a_moved_list_is_empty)
{
    plain a;
    region_list list;
    list.push(a);
    region_list other(std::move(list));
    BOOST_TEST(list.empty());
    BOOST_TEST(other.pop() == &a);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace region_test
