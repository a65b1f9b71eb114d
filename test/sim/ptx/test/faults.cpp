// SPDX-License-Identifier: BSL-1.0
// Kernels that go wrong: what is reported, and that what can be refused is refused when the module is parsed.
#include "support.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <thread>

namespace {

using namespace omp_co_sim::ptx;
using namespace omp_co_sim::ptx::test;
auto const architectures = boost::unit_test::data::make({75, 80, 90});

bool mentions(std::string const& text, std::string const& what)
{
    return text.find(what) != std::string::npos;
}

std::string kernel_with(std::string const& body)
{
    return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
           ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<4>;\n" +
           body + "\nret;\n}\n";
}

std::string refusal(std::string const& text)
{
    try {
        parse(text);
    } catch (parse_error const& e) {
        return e.what();
    }
    return "accepted";
}

BOOST_AUTO_TEST_SUITE(faults)

BOOST_DATA_TEST_CASE(a_store_to_null, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    auto const f = code.run("store_null", {{2, 1, 1}, {32, 1, 1}}, std::uint64_t{0});
    BOOST_TEST(f.kind == fault_kind::illegal_address);
    BOOST_TEST(f.address == 0u);
    BOOST_TEST(mentions(f.text, "store_null"), f.text);
    BOOST_TEST(mentions(f.text, "st.global"), f.text);
    BOOST_TEST(mentions(f.text, "thread (0,0,0)"), f.text);
}

BOOST_DATA_TEST_CASE(a_misaligned_store, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    array<int> a{m, std::vector<int>(4)};
    auto const f = code.run("store_misaligned", {}, a);
    BOOST_TEST(f.kind == fault_kind::misaligned_address);
    BOOST_TEST(f.address == a.address() + 1);
}

BOOST_DATA_TEST_CASE(a_load_beyond_the_end, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    array<int> a{m, std::vector<int>(4)};
    array<int> out{m, std::vector<int>(1)};
    BOOST_TEST(!code.run("load_beyond", {}, a, 3, out));
    auto const f = code.run("load_beyond", {}, a, 4, out);
    BOOST_TEST(f.kind == fault_kind::illegal_address);
    BOOST_TEST(f.address == a.address() + 16);
}

BOOST_AUTO_TEST_CASE(a_store_to_read_only_memory)
{
    device_memory m;
    loaded code{m, compiled("threads", 80)};
    for (bool const cached : {true, false}) {
        m.cached = cached;
        BOOST_TEST(code.run("store_null", {}, m.allocate(16, false)).kind == fault_kind::illegal_address);
    }
}

BOOST_DATA_TEST_CASE(a_trap, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    auto const f = code.run("traps", {{1, 1, 1}, {64, 1, 1}}, 37);
    BOOST_TEST(f.kind == fault_kind::trap);
    BOOST_TEST(mentions(f.text, "thread (37,0,0)"), f.text);
    BOOST_TEST(!code.run("traps", {{1, 1, 1}, {64, 1, 1}}, 64));
}

BOOST_DATA_TEST_CASE(shared_memory_beyond_its_end, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    array<int> out{m, std::vector<int>(1)};
    BOOST_TEST(!code.run("shared_beyond", {{1, 1, 1}, {8, 1, 1}}, 7, out));
    BOOST_TEST(code.run("shared_beyond", {{1, 1, 1}, {8, 1, 1}}, 8, out).kind == fault_kind::illegal_address);
    BOOST_TEST(code.run("shared_beyond", {{1, 1, 1}, {8, 1, 1}}, -1, out).kind ==
               fault_kind::illegal_address);
}

BOOST_DATA_TEST_CASE(barriers_that_wait_for_each_other, architectures)
{
    device_memory m;
    loaded code{m, compiled("threads", sample)};
    auto const f = code.run("stuck", {{1, 1, 1}, {64, 1, 1}});
    BOOST_TEST(f.kind == fault_kind::deadlock);
    BOOST_TEST(mentions(f.text, "64 threads wait at barriers"), f.text);
}

BOOST_AUTO_TEST_CASE(an_endless_loop)
{
    device_memory m;
    loaded code{m, compiled("threads", 80)};
    array<int> flag{m, std::vector<int>{0}};
    auto const f = code.run("spins", {{1, 1, 1}, {1, 1, 1}, 0, 100'000}, flag);
    BOOST_TEST(f.kind == fault_kind::instruction_limit);
    std::atomic<bool> stop = false;
    std::thread later{[&stop] {
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
        stop = true;
    }};
    auto const g = code.run("spins", {{1, 1, 1}, {1, 1, 1}, 0, 0, &stop}, flag);
    later.join();
    BOOST_TEST(g.kind == fault_kind::stopped);
}

BOOST_AUTO_TEST_CASE(a_launch_that_does_not_fit)
{
    device_memory m;
    loaded code{m, compiled("threads", 80)};
    auto const k = code.code().find_kernel("store_null");
    launch l;
    BOOST_TEST(run(*k, l, m, {}).kind == fault_kind::invalid_launch);
    std::byte parameters[8] = {};
    l.parameters = parameters;
    l.block = {1025, 1, 1};
    BOOST_TEST(run(*k, l, m, {}).kind == fault_kind::invalid_launch);
    l.block = {1, 0, 1};
    BOOST_TEST(run(*k, l, m, {}).kind == fault_kind::invalid_launch);
}

BOOST_AUTO_TEST_CASE(what_is_not_supported_is_refused_with_its_line)
{
    BOOST_TEST(refusal("hello") == "line 1: this is not PTX: before 'hello'");
    BOOST_TEST(mentions(refusal(""), "no .version"));
    BOOST_TEST(refusal(kernel_with("frobnicate.b32 %r1, %r2;")) ==
               "line 10: frobnicate.b32: this instruction is not supported");
    BOOST_TEST(
        mentions(refusal(kernel_with("add.wild.s32 %r1, %r2, %r3;")), "modifier .wild is not supported"));
    BOOST_TEST(mentions(refusal(kernel_with("add.s32 %r1, %r2, %r9;")), "'%r9' is not supported"));
    BOOST_TEST(mentions(refusal(kernel_with("add.s32 %r1, %r2;")), "operands"));
    BOOST_TEST(mentions(refusal(kernel_with("bra nowhere;")), "not defined"));
    BOOST_TEST(mentions(refusal(kernel_with("ld.global.u32 %r1, [unknown];")), "not known"));
    BOOST_TEST(mentions(refusal(kernel_with("mov.u32 %r1, %clusterid.x;")), "special register"));
    BOOST_TEST(
        mentions(refusal(kernel_with("tex.2d.v4.f32.s32 {%f1,%f1,%f2,%f3}, [t, {%r1,%r2}];")), "line 10"));
    BOOST_TEST(mentions(refusal(kernel_with("call (%r1), %rd1, (%r2), proto;")), "pointers"));
    BOOST_TEST(mentions(refusal(kernel_with("add.s32 %r1, %r2, 1")), "expected"));
    BOOST_TEST(mentions(refusal(".version 8.0\n.target sm_80\n.address_size 32\n"), "64"));
    BOOST_TEST(refusal(kernel_with("add.s32 %r1, %r2, 1;")) == "accepted");
}

BOOST_AUTO_TEST_CASE(an_atomic_on_local_memory)
{
    device_memory m;
    loaded code{m, kernel_with(".local .b32 x;\nmov.u64 %rd1, x;\ncvta.local.u64 %rd2, %rd1;\n"
                               "atom.add.u32 %r1, [%rd2], 1;")};
    BOOST_TEST(code.run("k", {}, std::uint64_t{0}).kind == fault_kind::invalid_address_space);
}

BOOST_AUTO_TEST_CASE(recursion_is_refused)
{
    std::string const head = ".version 8.0\n.target sm_80\n.address_size 64\n";
    std::string const text =
        head + ".func g();\n.func f()\n{\ncall.uni g;\nret;\n}\n.func g()\n{\ncall.uni f;\nret;\n}\n"
               ".visible .entry k()\n{\ncall.uni f;\nret;\n}\n";
    BOOST_TEST(mentions(refusal(text), "recursion"), refusal(text));
    std::string const printing =
        head +
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n.visible .entry k()\n{\n"
        ".param .b64 x;\n.param .b64 y;\n.param .b32 z;\ncall.uni (z), vprintf, (x, y);\nret;\n}\n";
    BOOST_TEST(mentions(refusal(printing), "printf in a kernel is not supported"), refusal(printing));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
