// SPDX-License-Identifier: BSL-1.0
// Queues on a device that goes forward only when told: what is told when, to the command, and what becomes of failures of every
// kind, the loss of the device among them.
#include "support/outcome.hpp"
#include "support/pending.hpp"
#include "support/stepped_device.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace queues_by_hand_test {

namespace data = boost::unit_test::data;
using namespace omp_co_test;
using omp_co::errc;

struct quiet final : device_observer {
    void enqueued(stepped_stream&, std::shared_ptr<command_group> const&) override {}
    bool may_run(stepped_stream&, command const&) override { return true; }
    void reported(stepped_stream&, backend::sequence) override {}
    void freeing(stepped_device&, void*, std::size_t) override {}
    void destroyed(stepped_device&) override {}
    void broken(std::string const& rule) override { BOOST_ERROR(rule); }
};

// A device of the process, as the program sees it.
class by_hand {
public:
    explicit by_hand(stepped_options const& o = {})
    {
        auto made = std::make_unique<stepped_device>(o, watcher_);
        device_ = made.get();
        slot_ = &omp_co::detail::registry::instance().add(std::move(made), false);
        generation_ = slot_->generation;
    }
    by_hand(by_hand const&) = delete;
    by_hand& operator=(by_hand const&) = delete;
    ~by_hand()
    {
        device_->run_by_itself(true);
        omp_co::detail::registry::instance().remove(*slot_, generation_);
    }

    omp_co::device get() const noexcept { return {slot_, generation_}; }
    stepped_device* operator->() const noexcept { return device_; }

    // Runs one command of the stream that has one.
    bool step() const
    {
        auto const& all = device_->streams();
        return std::any_of(all.begin(), all.end(), [](stepped_stream* s) { return s->advance(); });
    }

private:
    quiet watcher_;
    stepped_device* device_;
    omp_co::detail::device_slot* slot_;
    std::uint32_t generation_;
};

omp_co::error_code const broken(5, boost::system::generic_category());

auto const add_one = [](int* p) { ++p[0]; };

BOOST_AUTO_TEST_SUITE(queues_by_hand)

BOOST_AUTO_TEST_CASE(what_the_device_reads_is_told_when_it_is_read)
{
    by_hand const dev;
    std::vector<int> large(100'000, 1);
    std::vector<int> more(100'000, 2);
    int sum = 0;
    omp_co::queue q(dev.get());
    pending first(omp_co::target_enter_data(q, omp_co::to(sum)));
    BOOST_TEST(first.ends());
    dev->run_all();
    auto const k = [](int const* a, int const* b, int* s) { *s = a[99'999] + b[0]; };
    pending p(omp_co::target(q, k, omp_co::to(large), omp_co::to(more), omp_co::tofrom(sum)));
    BOOST_TEST(!p.poll());
    BOOST_TEST(dev.step());
    BOOST_TEST(!p.poll()); // one of two
    BOOST_TEST(dev.step());
    dev.step(); // maybe its signal is a command of its own
    BOOST_TEST(p.ends());
    std::fill(large.begin(), large.end(), 100);
    std::fill(more.begin(), more.end(), 100);
    BOOST_TEST(dev.get().statistics().in_flight == 1U);
    pending back(omp_co::target_exit_data(q, omp_co::from(sum)));
    BOOST_TEST(!back.poll());
    BOOST_TEST(sum == 0);
    dev->run_all();
    BOOST_TEST(back.ends());
    BOOST_TEST(!back.code());
    BOOST_TEST(sum == 3);
}

// It cannot take more commands, so it has not read anything yet, and what is staged is staged when it is enqueued.
BOOST_AUTO_TEST_CASE(what_a_full_stream_holds_up_is_told_in_its_order)
{
    by_hand const dev({.command_limit = 12});
    std::vector<int> v(8, 0);
    std::vector<std::vector<int>> x(20, std::vector<int>(8, 1));
    std::vector<std::unique_ptr<pending>> all;
    omp_co::queue q(dev.get());
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    auto const plus = [](int* p, int const* a) { p[0] += a[0]; };
    std::size_t told = 0;
    for (auto& each : x) {
        all.push_back(
            std::make_unique<pending>(omp_co::target(q, plus, omp_co::tofrom(v), omp_co::to(each))));
        if (all.back()->poll()) ++told;
        if (all.back()->poll()) each[0] = 1000;
    }
    BOOST_TEST(told > 0U);
    BOOST_TEST(told < 20U);
    bool in_order = true;
    BOOST_TEST(eventually([&] {
        dev.step();
        bool before = true;
        for (std::size_t i = 0; i < 20; ++i) {
            bool const now = all[i]->poll();
            in_order = in_order && (before || !now);
            before = now;
            if (now) x[i][0] = 1000;
        }
        return before;
    }));
    BOOST_TEST(in_order);
    pending back(omp_co::target_exit_data(q, omp_co::from(v)));
    BOOST_TEST(eventually([&] {
        dev->run_all();
        return back.poll();
    }));
    BOOST_TEST(v[0] == 20);
}

constexpr fault failing[]{fault::refuse_copy_in, fault::refuse_launch, fault::run_copy_in, fault::run_launch};

// Whatever goes wrong, and whether the copies in are the core's, or the device's with a signal of their own.
BOOST_DATA_TEST_CASE(every_failure_is_told_once, data::make({0, 1, 2, 3}) * data::make({8, 100'000}), which,
                     count)
{
    by_hand const dev;
    std::vector<int> v(8, 1);
    std::vector<int> x(static_cast<std::size_t>(count), 1);
    omp_co::queue q(dev.get());
    BOOST_TEST(early(omp_co::target_enter_data(q, omp_co::to(v))));
    dev->run_all();
    dev->inject(failing[which], 1, broken);
    pending bad(omp_co::target(
        q, [](int const*) {}, omp_co::to(x)));
    dev->run_all();
    BOOST_TEST(bad.ends());
    BOOST_TEST(!bad.code());
    pending skipped(omp_co::target(q, add_one, omp_co::tofrom(v)));
    pending told(omp_co::target_update(q, omp_co::from(v)));
    dev->run_all();
    BOOST_TEST(skipped.ends());
    BOOST_TEST(told.ends());
    BOOST_TEST((told.code() == broken), told.code().message());
    BOOST_TEST(v[0] == 1);
    pending runs(omp_co::target(q, add_one, omp_co::tofrom(v)));
    pending back(omp_co::target_exit_data(q, omp_co::from(v)));
    dev->run_all();
    BOOST_TEST(runs.ends());
    BOOST_TEST(back.ends());
    BOOST_TEST(!back.code(), back.code().message());
    BOOST_TEST(v[0] == 2);
    dev->forget_faults();
    BOOST_TEST(dev.get().statistics().in_flight == 0U);
    BOOST_TEST(dev.get().statistics().mapped_ranges == 0U);
    BOOST_TEST(dev.get().statistics().device_bytes == 0U);
}

BOOST_AUTO_TEST_CASE(a_device_that_is_lost_with_work_in_flight_fails_whoever_waits)
{
    by_hand const dev;
    std::vector<int> v(8, 1);
    std::vector<int> large(100'000, 1);
    std::optional<omp_co::error_code> unheard;
    std::optional<omp_co::queue> other(std::in_place, dev.get(),
                                       [&](omp_co::error_code ec) { unheard = ec; });
    omp_co::queue q(dev.get());
    pending a(omp_co::target_enter_data(q, omp_co::to(v)));
    BOOST_TEST(a.ends());
    dev->run_all();
    pending early_one(omp_co::target(q, add_one, omp_co::tofrom(v)));
    pending unread(omp_co::target(
        q, [](int const*) {}, omp_co::to(large)));
    pending first(omp_co::target_update(q, omp_co::from(v)));
    pending second(q.synchronize());
    pending elsewhere(omp_co::target(*other, [] {}));
    BOOST_TEST(early_one.ends());
    BOOST_TEST(elsewhere.ends());
    BOOST_TEST(!unread.poll());
    BOOST_TEST(!first.poll());
    dev->lose(broken);
    BOOST_TEST(unread.ends()); // its memory is its program's again
    BOOST_TEST(first.ends());
    BOOST_TEST(second.ends());
    BOOST_TEST((first.code() == broken), first.code().message());
    BOOST_TEST(!!second.code());
    BOOST_TEST(v[0] == 1);
    BOOST_TEST(dev.get().statistics().in_flight == 0U);
    for (omp_co::queue const* each : {&q, &*other}) {
        omp_co::diagnostics why;
        BOOST_TEST((outcome(omp_co::target(
                        *each, [] {}, omp_co::explain(why))) == errc::device_lost));
        BOOST_TEST(!why.empty());
        BOOST_TEST((outcome(each->synchronize()) == errc::device_lost));
    }
    other.reset();
    BOOST_TEST((unheard && *unheard == broken));
    omp_co::queue late(dev.get());
    BOOST_TEST((outcome(omp_co::target(late, [] {})) == errc::device_lost));
}

BOOST_AUTO_TEST_CASE(a_queue_without_a_stream_says_why)
{
    by_hand const dev;
    dev->inject(fault::create_stream, 1, broken);
    omp_co::queue q(dev.get());
    omp_co::diagnostics why;
    BOOST_TEST((outcome(omp_co::target(
                    q, [] {}, omp_co::name("none"), omp_co::explain(why))) == broken));
    BOOST_TEST(why.message().find("none: ") == 0U);
    BOOST_TEST((outcome(q.synchronize()) == broken));
    q = omp_co::queue(dev.get());
    pending p(omp_co::target(q, [] {}));
    BOOST_TEST(p.ends());
    BOOST_TEST(!p.code());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace queues_by_hand_test
