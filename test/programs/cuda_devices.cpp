// SPDX-License-Identifier: BSL-1.0
// CUDA devices as a program meets them: none, with a reason, where there is no driver; work in flight at exit where there
// is one (the simulator, if OMP_CO_TEST_SIMULATOR names it).
#include "child_process.hpp"

#include <omp_co/cuda.hpp>
#include <omp_co/omp_co.hpp>

#include <boost/asio/detached.hpp>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using child_process::check;

constexpr char no_text[] = "";
omp_co::kernel<void(int*)> const increment("increment", omp_co::host::variant([](int* p) { ++*p; }),
                                           omp_co::cuda::image(std::string_view(no_text)));

// none: the program works on the host, and can say why.
int no_device()
{
    check(omp_co::cuda::devices().empty(), "there are CUDA devices");
    check(!omp_co::cuda::why_none().empty(), "there is no reason");
    int x = 1;
    omp_co::sync_wait(omp_co::target(increment, omp_co::tofrom(x)));
    check(x == 2, "the host's variant did not run");
    std::vector<int> y(1000, 1);
    check(!omp_co::cuda::pin(y), "memory is pinned for no device");
    std::vector<int, omp_co::cuda::pinned_allocator<int>> const z(1000, 1);
    check(z.back() == 1, "memory of the pinned allocator");
    check(omp_co::cuda::where_is(z.data()).kind == omp_co::cuda::memory_kind::pageable,
          "memory is something else without a driver");
    return child_process::result();
}

int bad_completion()
{
    try {
        (void)omp_co::devices();
        check(false, "a bad value is accepted");
    } catch (boost::system::system_error const& e) {
        check(std::string(e.what()).find("OMP_CO_CUDA_COMPLETION=sometimes") != std::string::npos, e.what());
    }
    return child_process::result();
}

// simulated <n>: that many devices come before the host; the program ends with copies on their way.
int simulated(std::size_t expected)
{
    static std::vector<int> data(1 << 20, 1); // there before the devices, so destroyed after they are done
    auto const found = omp_co::cuda::devices();
    check(found.size() == expected, "CUDA devices: " + std::to_string(found.size()));
    check(omp_co::cuda::why_none().empty(), omp_co::cuda::why_none());
    check(omp_co::default_device().backend() == omp_co::backend_kind::cuda,
          "the default device is the first CUDA one");
    std::vector<int, omp_co::cuda::pinned_allocator<int>> const locked(1000, 1);
    if (!found.empty()) {
        auto const here = omp_co::cuda::where_is(&locked[10]);
        check(here.kind == omp_co::cuda::memory_kind::pinned && here.on_device != nullptr,
              "locked memory is not known as such");
        check(here.owner.slot() == nullptr, "locked memory has an owner");
        check(omp_co::cuda::where_is(data.data()).kind == omp_co::cuda::memory_kind::pageable,
              "ordinary memory is taken for something else");
    }
    for (omp_co::device const d : found) {
        omp_co::sync_wait(omp_co::target_enter_data(d, omp_co::to(data)));
        auto const there = omp_co::cuda::where_is(d.mapped_ptr(data.data()));
        check(there.kind == omp_co::cuda::memory_kind::device && there.owner == d,
              "an address on device " + d.name() + " is not known as such");
        check(there.on_device == d.mapped_ptr(data.data()), "it has another address on the device");
        omp_co::target_update(d, omp_co::to(data))(boost::asio::detached);
    }
    return child_process::result();
}

} // namespace

int main(int argc, char** argv)
{
    std::string const mode = argc > 1 ? argv[1] : "";
    if (mode == "none") return no_device();
    if (mode == "bad") return bad_completion();
    if (mode == "simulated") return simulated(std::stoul(argv[2]));

    for (char const* name : {"OMP_CO_CUDA_LIBRARY", "OMP_CO_CUDA_COMPLETION", "OMP_DEFAULT_DEVICE"})
        (void)unsetenv(name);
    std::string ending = child_process::rerun({"none"}, {"OMP_CO_CUDA_LIBRARY=/nowhere/libcuda.so.1"});
    check(ending.empty(), "no driver: " + ending);
    ending = child_process::rerun({"bad"}, {"OMP_CO_CUDA_COMPLETION=sometimes"});
    check(ending.empty(), "a bad value: " + ending);
    char const* simulator = std::getenv("OMP_CO_TEST_SIMULATOR");
#ifdef OMP_CO_TEST_SIMULATOR
    if (simulator == nullptr) simulator = OMP_CO_TEST_SIMULATOR;
#endif
    if (simulator != nullptr)
        for (char const* count : {"1", "3"}) {
            ending =
                child_process::rerun({"simulated", count}, {std::string("OMP_CO_CUDA_LIBRARY=") + simulator,
                                                            std::string("OMP_CO_SIM_DEVICES=") + count});
            check(ending.empty(), "simulated devices: " + ending);
        }
    return child_process::result();
}
