// SPDX-License-Identifier: BSL-1.0
// Graphs of regions, motions and host tasks at random, on one to four devices: bitwise what a serial run gives. And four
// threads that start constructs on the same addresses.
#include "explorer/random.hpp"
#include "support/devices.hpp"
#include "support/findings.hpp"
#include "support/sanitizers.hpp"
#include "support/started.hpp"

#include <omp_co/omp_co.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace random_graphs_test {

namespace data = boost::unit_test::data;
using namespace omp_co_test;
using explorer::mix;
using explorer::random_source;
using omp_co::depend_all;
using omp_co::depend_in;
using omp_co::depend_inout;
using omp_co::depend_inoutset;
using omp_co::depend_out;
using omp_co::range;

using word = std::uint64_t;
constexpr std::size_t length = 6; // of each array

enum class what : unsigned { change, take, join, spread, halves, host, memory, stay, all, count };

/// One node: what it does to which arrays, and where.
struct node {
    what kind;
    word salt;
    std::size_t a, b, c; ///< three different arrays
    std::size_t device;
    std::size_t other;
};

// Each is used by the serial run too. They are classes, for regions are made of them in templates.
struct change_kernel {
    word salt;
    void operator()(std::size_t i, word* p) const noexcept { p[i] = mix(p[i], salt + i); }
};
struct take_kernel {
    word salt;
    void operator()(std::size_t i, word const* from, word* p) const noexcept
    {
        p[i] = mix(p[i], from[length - 1 - i] + salt);
    }
};
struct join_kernel {
    word salt;
    void operator()(std::size_t i, word const* l, word const* r, word* p) const noexcept
    {
        p[i] = mix(l[i] + salt, r[i]);
    }
};
struct spread_kernel {
    word salt;
    void operator()(std::size_t i, word const* from, word* p, word* q) const noexcept
    {
        p[i] = mix(from[i], salt);
        q[i] = mix(q[i], p[i]);
    }
};

using arrays = std::vector<std::vector<word>>;

template <class Kernel, class... P>
void over(std::size_t n, Kernel const& k, P... p)
{
    for (std::size_t i = 0; i < n; ++i) k(i, p...);
}

void run_serially(node const& n, arrays& x)
{
    word* const a = x[n.a].data();
    word* const b = x[n.b].data();
    word* const c = x[n.c].data();
    switch (n.kind) {
    case what::change:
    case what::stay:
        return over(length, change_kernel{n.salt}, a);
    case what::take:
    case what::host:
        return over(length, take_kernel{n.salt}, b, a);
    case what::join:
        return over(length, join_kernel{n.salt}, b, c, a);
    case what::spread:
        return over(length, spread_kernel{n.salt}, c, a, b);
    case what::halves:
        over(length / 2, change_kernel{n.salt}, a);
        return over(length / 2, change_kernel{n.salt + 1}, a + length / 2);
    case what::memory:
        over(length, change_kernel{n.salt}, a);
        return over(length, take_kernel{n.salt}, a, b);
    case what::all:
        for (auto& each : x) over(length, change_kernel{n.salt}, each.data());
        return;
    case what::count:
        return;
    }
}

/// The same by constructs that are not awaited.
class run_freely {
public:
    run_freely(std::vector<test_device> const& d, starter& s, arrays& x) : devices_(d), starter_(s), x_(x)
    {
        for (test_device const& each : d)
            buffers_.push_back(omp_co::sync_wait(omp_co::allocate<word>(each, length)));
    }

    void start(node const& n)
    {
        std::vector<word>& a = x_[n.a];
        std::vector<word>& b = x_[n.b];
        std::vector<word>& c = x_[n.c];
        omp_co::device const d = devices_[n.device];
        switch (n.kind) {
        case what::change:
            starter_.start(
                omp_co::target(d, change_kernel{n.salt}, range(length), omp_co::tofrom(a), depend_inout(a)));
            return;
        case what::take:
            starter_.start(omp_co::target(d, take_kernel{n.salt}, range(length), omp_co::to(b),
                                          omp_co::tofrom(a), depend_in(b), depend_inout(a)));
            return;
        case what::join:
            starter_.start(omp_co::target(d, join_kernel{n.salt}, range(length), omp_co::to(b), omp_co::to(c),
                                          omp_co::from(a), depend_in(b, c), depend_out(a)));
            return;
        case what::spread:
            starter_.start(omp_co::target(d, spread_kernel{n.salt}, range(length), omp_co::to(c),
                                          omp_co::from(a), omp_co::tofrom(b), depend_in(c), depend_out(a),
                                          depend_inout(b)));
            return;
        case what::halves: {
            auto const half = [&](omp_co::device where, std::size_t at, word salt) {
                starter_.start(omp_co::target(where, change_kernel{salt}, range(length / 2),
                                              omp_co::tofrom(omp_co::section(a, at, length / 2)),
                                              depend_inoutset(a)));
            };
            starter_.start(omp_co::taskwait(depend_inout(a))); // else the halves of two nodes are one set
            half(d, 0, n.salt);
            half(devices_[n.other], length / 2, n.salt + 1);
            return;
        }
        case what::host: {
            void const* const both[]{b.data(), a.data()};
            auto const task = [p = a.data(), q = b.data(), salt = n.salt] {
                over(length, take_kernel{salt}, q, p);
            };
            starter_.start(omp_co::host_task(task, depend_in(omp_co::addresses(both, 1)),
                                             depend_inout(omp_co::addresses(both + 1, 1))));
            return;
        }
        case what::memory:
            return through_buffers(n, a, b);
        case what::stay:
            starter_.start(omp_co::target_enter_data(d, omp_co::to(a), depend_inout(a)));
            starter_.start(
                omp_co::target(d, change_kernel{n.salt}, range(length), omp_co::tofrom(a), depend_inout(a)));
            starter_.start(omp_co::target_exit_data(d, omp_co::from(a), depend_inout(a)));
            return;
        case what::all: {
            auto const task = [x = &x_, salt = n.salt] {
                for (auto& each : *x) over(length, change_kernel{salt}, each.data());
            };
            starter_.start(omp_co::host_task(task, depend_all()));
            return;
        }
        case what::count:
            return;
        }
    }

private:
    // In, on to another device, changed there, and out.
    void through_buffers(node const& n, std::vector<word>& a, std::vector<word>& b)
    {
        auto const& here = buffers_[n.device];
        auto const& there = buffers_[n.other];
        starter_.start(omp_co::target_memcpy(here, a, depend_in(a), depend_out(here)));
        if (n.other != n.device)
            starter_.start(omp_co::target_memcpy(there, here, depend_in(here), depend_out(there)));
        starter_.start(omp_co::target(devices_[n.other], change_kernel{n.salt}, range(length),
                                      omp_co::is_device_ptr(there.get()), depend_inout(there)));
        starter_.start(omp_co::target_memcpy(a, there, depend_in(there), depend_inout(a)));
        starter_.start(omp_co::target(devices_[n.other], take_kernel{n.salt}, range(length),
                                      omp_co::is_device_ptr(static_cast<word const*>(there.get())),
                                      omp_co::tofrom(b), depend_in(there), depend_inout(b)));
    }

    std::vector<test_device> const& devices_;
    starter& starter_;
    arrays& x_;
    std::vector<omp_co::device_buffer<word>> buffers_;
};

std::vector<node> generate(random_source& random, std::size_t devices, unsigned nodes)
{
    std::vector<node> all;
    unsigned const some = random.between(3, 8); // arrays
    for (unsigned i = 0; i < nodes; ++i) {
        node n{};
        n.kind = static_cast<what>(random.below(static_cast<unsigned>(what::count)));
        if (n.kind == what::all && !random.percent(20)) n.kind = what::take;
        n.salt = random.next();
        n.a = random.below(some);
        n.b = (n.a + 1 + random.below(some - 1)) % some;
        do n.c = random.below(some);
        while (n.c == n.a || n.c == n.b);
        n.device = random.below(static_cast<unsigned>(devices));
        n.other = random.below(static_cast<unsigned>(devices));
        all.push_back(n);
    }
    return all;
}

test_device random_device(random_source& random)
{
    unsigned const kind = random.below(10);
    if (kind == 0) return test_device(omp_co::initial_device());
    if (kind == 1) return test_device(unified(random.below(2)));
    return test_device(workers(random.below(4)));
}

arrays initial_arrays()
{
    arrays x(8, std::vector<word>(length));
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t k = 0; k < length; ++k) x[i][k] = mix(i, k);
    return x;
}

bool try_graph(random_source& random, std::vector<test_device> const& devices)
{
    std::vector<node> const nodes = generate(random, devices.size(), random.between(5, 40));
    arrays expected = initial_arrays();
    for (node const& n : nodes) run_serially(n, expected);
    arrays x = initial_arrays();
    starter s;
    run_freely free(devices, s, x);
    unsigned const at_once = random.percent(50) ? 100 : random.between(0, 30);
    for (node const& n : nodes) {
        free.start(n);
        if (random.percent(at_once)) continue;
        s.io.restart();
        s.io.poll();
    }
    return s.run() && x == expected;
}

BOOST_AUTO_TEST_SUITE(random_graphs)

// OMP_CO_TEST_SEED tries another seed.
BOOST_DATA_TEST_CASE(as_if_run_serially, data::make({1U, 2U, 3U, 4U}), how_many)
{
    char const* const given = std::getenv("OMP_CO_TEST_SEED");
    std::uint64_t const seed = given != nullptr ? std::strtoull(given, nullptr, 0) : 20261130;
    int const graphs = rounds(256);
    for (int i = 0; i < graphs; i += 16) {
        random_source random(mix(seed, mix(how_many, static_cast<std::uint64_t>(i))));
        std::vector<test_device> devices;
        for (unsigned k = 0; k < how_many; ++k) devices.push_back(random_device(random));
        for (int k = i; k < i + 16; ++k)
            BOOST_REQUIRE_MESSAGE(try_graph(random, devices),
                                  "seed " << seed << ", " << how_many << " devices, graph " << k);
        for (test_device const& d : devices) BOOST_TEST(d.get().statistics().mapped_ranges == 0U);
    }
}

/// What all threads use; nothing but the order keeps them apart.
struct shared_cells {
    word value[3] = {};
};

struct raise_kernel {
    word* at;
    void operator()() const noexcept { ++*at; }
};
struct look_kernel {
    word const* at;
    word* seen;
    void operator()() const noexcept { *seen = *at; }
};

// ThreadSanitizer sees whether each is really behind the other.
BOOST_AUTO_TEST_CASE(four_threads_on_the_same_addresses)
{
    std::vector<test_device> devices;
    for (unsigned const n : {2U, 1U, 0U}) devices.emplace_back(workers(n));
    shared_cells cells;
    findings found;
    std::vector<word> raised(3, 0);
    std::mutex counting;
    auto const work = [&](unsigned me) {
        random_source random(me);
        starter s;
        word mine[3] = {};
        word own = 0; // what this thread's kernels alone write, in the order of an address of its own
        for (int i = 0; i < rounds(800); ++i) {
            unsigned const at = random.below(3);
            word* const cell = &cells.value[at];
            omp_co::device const d = devices[random.below(3)];
            switch (random.below(6)) {
            case 0:
            case 1:
                s.start(omp_co::target(d, raise_kernel{cell}, depend_inout(*cell)));
                ++mine[at];
                break;
            case 2:
                s.start(omp_co::host_task(raise_kernel{cell}, depend_inout(*cell)));
                ++mine[at];
                break;
            case 3:
                s.start(omp_co::target(d, look_kernel{cell, &own}, depend_in(*cell), depend_out(own)));
                break;
            case 4:
                s.start(omp_co::host_task(look_kernel{cell, &own}, depend_in(*cell), depend_out(own)));
                break;
            case 5:
                if (random.percent(10)) s.start(omp_co::taskwait(depend_all()));
                break;
            }
            if (!random.percent(20)) continue;
            s.io.restart();
            s.io.poll();
        }
        found.check(s.run(), "all end well");
        std::lock_guard guard(counting);
        for (unsigned k = 0; k < 3; ++k) raised[k] += mine[k];
    };
    std::vector<std::thread> threads;
    for (unsigned me = 0; me < 4; ++me) threads.emplace_back(work, me);
    for (std::thread& t : threads) t.join();
    for (unsigned k = 0; k < 3; ++k) BOOST_TEST(cells.value[k] == raised[k]);
    BOOST_TEST(found.made() == 4U);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace random_graphs_test
