// SPDX-License-Identifier: BSL-1.0
// Schedules that the explorer has found once, shortened and named.
#include "explorer.hpp"

#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <string>
#include <vector>

namespace omp_co_test::explorer {
namespace {

constexpr unsigned x = 0; // arrays of eight cells
constexpr unsigned y = 8;
constexpr unsigned z = 16;
constexpr unsigned u = 24;

clause to(unsigned first, unsigned count = array_cells) { return {map_type::to, first, count, touch::read}; }
clause from(unsigned first, unsigned count = array_cells)
{
    return {map_type::from, first, count, touch::overwrite};
}
clause tofrom(unsigned first, unsigned count = array_cells)
{
    return {map_type::tofrom, first, count, touch::hash};
}
clause alloc(unsigned first, unsigned count = array_cells) { return {map_type::alloc, first, count}; }
clause release(unsigned first) { return {map_type::release, first, array_cells}; }

step submit(unsigned device, construct what, std::vector<clause> clauses)
{
    return {step_kind::submit, {{device, what, std::move(clauses)}}};
}
step target(unsigned device, std::vector<clause> clauses)
{
    return submit(device, construct::target, std::move(clauses));
}
step enter(unsigned device, std::vector<clause> clauses)
{
    return submit(device, construct::enter_data, std::move(clauses));
}
step exit(unsigned device, std::vector<clause> clauses)
{
    return submit(device, construct::exit_data, std::move(clauses));
}
step update(unsigned device, std::vector<clause> clauses)
{
    return submit(device, construct::update, std::move(clauses));
}
step advance(unsigned device, unsigned stream, unsigned commands)
{
    return {step_kind::advance, {}, device, stream, commands};
}
step inject(unsigned device, fault f, unsigned time = 1)
{
    return {step_kind::inject, {}, device, 0, time, f};
}
step poll() { return {step_kind::poll, {}}; }
step settle() { return {step_kind::settle, {}}; }
step write_host(unsigned first) { return {step_kind::write_host, {}, 0, first, array_cells}; }

stepped_options streams(unsigned n)
{
    stepped_options o;
    o.streams = o.concurrency = n;
    return o;
}
stepped_options memory(unsigned cells, unsigned n = 1)
{
    stepped_options o = streams(n);
    o.memory = cells * sizeof(std::uint64_t);
    return o;
}

void holds(std::vector<stepped_options> devices, std::vector<step> steps)
{
    schedule const s{std::move(devices), 0, std::move(steps)};
    std::string const verdict = explorer(s).run();
    BOOST_TEST(verdict == "", verdict << "\n" << to_text(s));
}

BOOST_AUTO_TEST_SUITE(known_faults)

BOOST_AUTO_TEST_CASE(revived_data_is_copied_in_again_after_another_device_wrote_the_host)
{
    holds({streams(1), streams(1)}, {target(0, {tofrom(x)}), target(1, {tofrom(x)}), target(0, {to(x)})});
}

BOOST_AUTO_TEST_CASE(revived_data_is_copied_in_again_after_the_program_wrote_the_host)
{
    holds({streams(1)},
          {enter(0, {to(x)}), settle(), write_host(x), exit(0, {release(x)}), target(0, {to(x)})});
}

BOOST_AUTO_TEST_CASE(a_region_that_relied_on_a_failure_fails_though_its_stream_is_noticed_first)
{
    holds({streams(3)}, {exit(0, {}), target(0, {tofrom(x)}), target(0, {}), target(0, {to(x)}),
                         inject(0, fault::run_launch), advance(0, 1, 2)});
    holds({streams(2)},
          {exit(0, {}), target(0, {tofrom(x)}), inject(0, fault::run_copy_in), target(0, {to(x)}), settle()});
}

BOOST_AUTO_TEST_CASE(a_region_accepted_after_a_refused_copy_in_fails_as_well)
{
    holds({streams(2)}, {update(0, {}), enter(0, {alloc(x, 16)}), inject(0, fault::refuse_copy_in, 3),
                         update(0, {to(x)}), update(0, {to(x)}), update(0, {to(x)}), target(0, {to(x)})});
}

BOOST_AUTO_TEST_CASE(who_brings_data_of_its_own_does_not_fail_with_the_earlier_mapping)
{
    holds({streams(1)}, {target(0, {alloc(x)}), inject(0, fault::run_launch, 1), target(0, {tofrom(x)})});
    holds({streams(1)}, {inject(0, fault::run_copy_in), target(0, {to(y)}), advance(0, 0, 3),
                         enter(0, {alloc(y)}), poll()});
}

BOOST_AUTO_TEST_CASE(a_writer_waits_for_the_readers_of_the_mapping_that_its_own_was_revived_from)
{
    holds({streams(2)},
          {target(0, {tofrom(y)}), target(0, {to(y)}), enter(0, {to(y)}), target(0, {tofrom(y + 4, 4)})});
    holds({streams(2)},
          {target(0, {tofrom(y)}), target(0, {to(y)}), enter(0, {alloc(y)}), target(0, {tofrom(y + 4, 4)})});
}

BOOST_AUTO_TEST_CASE(a_region_short_of_memory_lets_go_only_of_what_it_took)
{
    holds({memory(16)}, {exit(0, {}), target(0, {tofrom(x)}), target(0, {to(x), tofrom(z, 16)})});
    holds({memory(16)},
          {target(0, {alloc(x + 5, 3)}), target(0, {tofrom(x), to(y)}), target(0, {to(x), tofrom(y, 16)})});
}

BOOST_AUTO_TEST_CASE(a_kernel_waits_for_the_memory_of_the_region_that_mapped_its_data)
{
    holds({memory(8, 2)}, {enter(0, {to(x)}), enter(0, {alloc(y)}), target(0, {alloc(y)})});
}

BOOST_AUTO_TEST_CASE(out_of_memory_only_when_nothing_accepted_before_can_give_memory_back)
{
    holds({memory(16), streams(1)}, {target(1, {tofrom(x + 4, 4)}), target(0, {tofrom(x)}),
                                     target(0, {to(x + 4, 4)}), enter(0, {alloc(x)})});
    holds({memory(16), streams(1)}, {target(1, {from(x)}), target(0, {to(x)}), target(0, {tofrom(x, 16)})});
}

BOOST_AUTO_TEST_CASE(short_of_memory_and_waited_for_through_another_device_is_no_deadlock)
{
    holds({memory(8, 2), streams(1)},
          {update(0, {}), target(0, {to(x, 16), tofrom(x)}), target(1, {tofrom(y)}), update(0, {to(y)})});
}

BOOST_AUTO_TEST_CASE(a_second_failure_does_not_reach_back_to_who_came_between_them)
{
    holds({streams(1)}, {inject(0, fault::refuse_copy_out), enter(0, {alloc(x)}), advance(0, 0, 1),
                         update(0, {to(x), from(x)}), inject(0, fault::refuse_copy_in), advance(0, 0, 2),
                         target(0, {tofrom(x)}), poll(), enter(0, {to(x + 4, 4)}), update(0, {to(x)})});
}

BOOST_AUTO_TEST_CASE(a_failed_creator_fails_who_entered_its_mapping)
{
    holds({streams(2)}, {target(0, {}), enter(0, {alloc(x), to(y)}), enter(0, {to(x)}),
                         inject(0, fault::run_copy_in), settle()});
}

BOOST_AUTO_TEST_CASE(waits_count_as_commands)
{
    stepped_options o = streams(4);
    o.concurrency = 1;
    o.command_limit = 12;
    holds({o},
          {target(0, {tofrom(x)}), target(0, {tofrom(x)}), update(0, {from(x)}), target(0, {to(x)}),
           update(0, {to(x), to(x), from(x)}), target(0, {tofrom(x)}), target(0, {to(x)}), target(0, {to(x)}),
           target(0, {tofrom(x + 4, 4)}), target(0, {to(x), alloc(x)}), target(0, {tofrom(x)})});
}

BOOST_AUTO_TEST_CASE(kernels_on_resident_data_run_side_by_side)
{
    constexpr unsigned kernels = 4;
    std::vector<step> steps{enter(0, {to(x), to(u)}), settle()};
    for (unsigned i = 0; i < kernels; ++i) steps.push_back(target(0, {i % 2 == 0 ? to(x) : tofrom(x)}));
    schedule const s{{streams(kernels)}, 0, steps};
    explorer one(s);
    unsigned busy = 0;
    std::string const verdict = one.run([&](world& w) {
        busy = 0;
        for (stepped_stream* const stream : w.devices()[0].device->streams())
            busy += !stream->idle() && stream->advance();
    });
    BOOST_TEST(verdict == "");
    BOOST_TEST(busy == kernels);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace omp_co_test::explorer
