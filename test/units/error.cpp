// SPDX-License-Identifier: BSL-1.0
// Error conditions, codes, categories and words.
#include <omp_co/diagnostics.hpp>
#include <omp_co/error.hpp>

#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

namespace error_test {

using namespace omp_co;

constexpr errc all[]{errc::invalid_argument,
                     errc::out_of_memory,
                     errc::device_lost,
                     errc::not_present,
                     errc::partially_present,
                     errc::kernel_failed,
                     errc::kernel_unavailable,
                     errc::predecessor_failed,
                     errc::no_device,
                     errc::not_supported,
                     errc::forked,
                     errc::shutting_down};

// A driver's codes: 2 is its word for "no memory", 700 means that the device is gone.
class driver_category final : public boost::system::error_category {
public:
    char const* name() const noexcept override { return "driver"; }
    std::string message(int value) const override { return "driver error " + std::to_string(value); }
    error_condition default_error_condition(int value) const noexcept override
    {
        if (value == 2) return make_error_condition(errc::out_of_memory);
        if (value == 700) return make_error_condition(errc::device_lost);
        return {value, *this};
    }
};

BOOST_AUTO_TEST_SUITE(errors)

BOOST_AUTO_TEST_CASE(a_code_of_omp_co_equals_its_own_condition_and_no_other)
{
    for (errc a : all)
        for (errc b : all) BOOST_TEST((make_error_code(a) == b) == (a == b));
    for (errc e : all) BOOST_TEST((error_code() != e));
}

BOOST_AUTO_TEST_CASE(every_condition_has_words_of_its_own)
{
    std::set<std::string> seen;
    for (errc e : all) {
        std::string const text = make_error_code(e).message();
        BOOST_TEST(text.find("unknown") == std::string::npos);
        BOOST_TEST(seen.insert(text).second, text);
        BOOST_TEST(make_error_condition(e).message() == text);
    }
    BOOST_TEST(error_code(9999, category()).message() == "unknown omp_co error");
    BOOST_TEST(category().name() == std::string("omp_co"));
}

BOOST_AUTO_TEST_CASE(every_code_is_an_error)
{
    for (errc e : all) BOOST_TEST(bool(make_error_code(e)));
    BOOST_TEST(!error_code());
}

BOOST_AUTO_TEST_CASE(a_drivers_code_that_means_the_same_equals_the_condition)
{
    static driver_category const driver;
    BOOST_TEST((error_code(2, driver) == errc::out_of_memory));
    BOOST_TEST((error_code(700, driver) == errc::device_lost));
    BOOST_TEST((error_code(700, driver) != errc::out_of_memory));
    BOOST_TEST((error_code(3, driver) != errc::out_of_memory));
    BOOST_TEST((error_code(2, driver) != make_error_code(errc::out_of_memory))); // the code keeps its origin
}

// Two shared objects have a category object each.
BOOST_AUTO_TEST_CASE(the_category_is_compared_by_its_identifier)
{
    detail::core_category const other;
    BOOST_TEST((other == category()));
    BOOST_TEST((error_code(static_cast<int>(errc::forked), other) == errc::forked));
}

BOOST_AUTO_TEST_CASE(errc_is_a_condition_and_not_a_code)
{
    static_assert(boost::system::is_error_condition_enum<errc>::value);
    static_assert(!std::is_convertible_v<errc, error_code>);
    static_assert(std::is_convertible_v<errc, error_condition>);
    boost::system::system_error const thrown(make_error_code(errc::kernel_failed), "blur");
    BOOST_TEST((thrown.code() == errc::kernel_failed));
    BOOST_TEST(std::string(thrown.what()).find("kernel failed") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(words)

BOOST_AUTO_TEST_CASE(diagnostics_hold_the_latest_words)
{
    diagnostics d;
    BOOST_TEST(d.empty());
    BOOST_TEST(d.message().empty());
    d.assign("first");
    d.assign("second");
    BOOST_TEST(d.message() == "second");
    BOOST_TEST(!d.empty());
    diagnostics const kept = d;
    d.clear();
    BOOST_TEST(d.empty());
    BOOST_TEST(kept.message() == "second");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace error_test
