// SPDX-License-Identifier: BSL-1.0
// How a driver is found, and the reason given when there is none.
#include "fakes.hpp"
#include "scoped_environment.hpp"

#include <omp_co/cuda/driver.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace driver = omp_co::cuda::driver;
using omp_co::detail::open_vendor_library;

std::string const fakes = fakes_folder();
std::string const whole = fakes + "/cuda_proc_address_2.so";

/// What `table()` would be if OMP_CO_CUDA_LIBRARY were `value`.
struct loaded {
    explicit loaded(std::string const& value)
        : variable("OMP_CO_CUDA_LIBRARY", value), api(open_vendor_library("OMP_CO_CUDA_LIBRARY", names))
    {
    }

    static inline std::string const names[]{"libomp_co_no_such_library.so.1"};
    scoped_environment variable;
    driver::api api;
};

void check_reason(driver::api const& api, std::vector<std::string> const& words)
{
    BOOST_TEST(!api.available());
    BOOST_TEST(!api.reason().empty());
    for (std::string const& w : words)
        BOOST_TEST(api.reason().find(w) != std::string::npos, "\"" << api.reason() << "\" without " << w);
    for (auto const* e = api.all.first; e != nullptr; e = e->next()) BOOST_TEST(!*e, e->symbol());
}

BOOST_AUTO_TEST_SUITE(cuda_driver)

BOOST_AUTO_TEST_CASE(no_library_under_the_usual_name)
{
    check_reason(loaded("").api, {"libomp_co_no_such_library.so.1", "No such file"});
}

BOOST_AUTO_TEST_CASE(the_variable_must_name_a_file_by_an_absolute_path)
{
    check_reason(loaded("libcuda.so.1").api,
                 {"OMP_CO_CUDA_LIBRARY=libcuda.so.1", "an absolute path is expected"});
    check_reason(loaded("./libcuda.so.1").api, {"an absolute path is expected"});
    check_reason(loaded("/no/such/libcuda.so.1").api, {"OMP_CO_CUDA_LIBRARY=/no/such", "No such file"});
    check_reason(loaded(fakes).api, {"OMP_CO_CUDA_LIBRARY=" + fakes, "is a directory"});
    check_reason(loaded("/dev/null").api, {"is no regular file"});
}

BOOST_AUTO_TEST_CASE(a_text_file_is_no_library)
{
    std::string const path = fakes + "/words.txt";
    std::ofstream(path) << "This is no library.\n";
    check_reason(loaded(path).api, {"OMP_CO_CUDA_LIBRARY", path});
}

BOOST_AUTO_TEST_CASE(a_library_without_cuInit_is_no_driver)
{
    check_reason(loaded(fakes + "/cuda_no_init.so").api, {"cuda_no_init.so", "no CUDA driver", "cuInit"});
}

BOOST_AUTO_TEST_CASE(too_old_a_driver_is_refused_with_both_versions)
{
    scoped_environment const version("FAKE_CUDA_VERSION", "10020");
    check_reason(loaded(whole).api, {whole, "supports CUDA 10.2", "needs 11.4"});
}

BOOST_AUTO_TEST_CASE(the_oldest_supported_driver_is_taken_and_lacks_what_came_later)
{
    scoped_environment const version("FAKE_CUDA_VERSION", "11040");
    loaded const old(whole);
    BOOST_TEST(old.api.available(), old.api.reason());
    BOOST_TEST(old.api.version() == 11040);
    BOOST_TEST(!old.api.stream_write_value_64);
    BOOST_TEST(!old.api.func_get_param_info);
    BOOST_TEST(!!old.api.mem_alloc_async);
    BOOST_TEST((old.api.stream_write_value_64(nullptr, 0, 0, 0) == driver::result::not_supported));
}

BOOST_AUTO_TEST_CASE(the_answer_of_cuInit_is_the_reason)
{
    {
        scoped_environment const answer("FAKE_CUDA_INIT", "100");
        check_reason(loaded(whole).api, {"finds no device", "CUDA_ERROR_NO_DEVICE", "the fake's words"});
    }
    {
        scoped_environment const answer("FAKE_CUDA_INIT", "803");
        check_reason(loaded(whole).api, {"cuInit failed", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"});
    }
    {
        scoped_environment const answer("FAKE_CUDA_INIT", "4711");
        check_reason(loaded(whole).api, {"CUDA_ERROR_OF_THE_FUTURE"});
    }
    {
        scoped_environment const answer("FAKE_CUDA_INIT", "34");
        check_reason(loaded(whole).api, {"stub library"});
    }
}

BOOST_AUTO_TEST_CASE(a_driver_without_devices_or_version_is_none)
{
    {
        scoped_environment const devices("FAKE_CUDA_DEVICES", "0");
        check_reason(loaded(whole).api, {"finds no device"});
    }
    {
        scoped_environment const silent("FAKE_CUDA_VERSION_RESULT", "1");
        check_reason(loaded(whole).api, {"does not tell its version"});
    }
}

BOOST_AUTO_TEST_CASE(a_missing_required_function_is_named_with_its_version)
{
    scoped_environment const missing("FAKE_CUDA_MISSING", "cuMemAllocAsync ");
    check_reason(loaded(whole).api, {"CUDA 13.0", "lacks cuMemAllocAsync of CUDA 11.2"});
}

BOOST_AUTO_TEST_CASE(several_missing_functions_are_counted)
{
    scoped_environment const missing("FAKE_CUDA_MISSING", "cuLaunchKernel cuModuleUnload cuEventQuery ");
    check_reason(loaded(whole).api, {"lacks cuEventQuery of CUDA 2.0", "and 2 others"});
}

BOOST_AUTO_TEST_CASE(a_missing_optional_function_can_be_asked_for)
{
    scoped_environment const missing("FAKE_CUDA_MISSING", "cuFuncGetParamInfo ");
    loaded const l(whole);
    BOOST_TEST(l.api.available(), l.api.reason());
    BOOST_TEST(!l.api.func_get_param_info);
    BOOST_TEST((l.api.func_get_param_info(nullptr, 0, nullptr, nullptr) == driver::result::not_supported));
    BOOST_TEST(!!l.api.func_get_name);
    BOOST_TEST((l.api.launch_kernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) ==
                driver::result::success));
}

// Of test/fakes/cuda_driver.cpp.
struct request {
    char name[64];
    int version;
    unsigned long long flags;
};

void check_requests(std::string const& library)
{
    void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    BOOST_REQUIRE(handle != nullptr);
    auto* const requests = static_cast<request*>(::dlsym(handle, "fake_requests"));
    auto* const count = static_cast<int*>(::dlsym(handle, "fake_request_count"));
    *count = 0;
    loaded const l(library);
    BOOST_TEST(l.api.available(), l.api.reason());
    int at = 0;
    for (auto const* e = l.api.all.first; e != nullptr; e = e->next(), ++at) {
        BOOST_REQUIRE(at < *count);
        BOOST_TEST(std::string(requests[at].name) == e->base_name());
        BOOST_TEST(requests[at].version == e->version());
        BOOST_TEST(requests[at].flags == driver::proc_address_legacy_stream);
        BOOST_TEST(bool(*e), e->symbol());
    }
    BOOST_TEST(at == *count);
}

BOOST_AUTO_TEST_CASE(each_function_is_asked_for_at_the_version_of_its_prototype) { check_requests(whole); }

BOOST_AUTO_TEST_CASE(the_first_cuGetProcAddress_does_as_well)
{
    check_requests(fakes + "/cuda_proc_address_1.so");
}

BOOST_AUTO_TEST_CASE(names_for_cuGetProcAddress_have_no_version)
{
    driver::functions const f;
    BOOST_TEST(f.mem_alloc.symbol() == std::string("cuMemAlloc_v2"));
    BOOST_TEST(f.mem_alloc.base_name() == "cuMemAlloc");
    BOOST_TEST(f.stream_write_value_64.base_name() == "cuStreamWriteValue64");
    BOOST_TEST(f.memset_d8_async.base_name() == "cuMemsetD8Async");
    std::set<std::string> seen;
    for (auto const* e = f.all.first; e != nullptr; e = e->next())
        BOOST_TEST(seen.insert(e->base_name()).second, e->symbol());
}

BOOST_AUTO_TEST_CASE(one_table_serves_all_threads_and_brings_the_drivers_words)
{
    scoped_environment const variable("OMP_CO_CUDA_LIBRARY", whole);
    std::vector<driver::api const*> seen(8);
    {
        std::vector<std::jthread> threads;
        threads.reserve(seen.size());
        for (auto& s : seen) threads.emplace_back([&s] { s = &driver::table(); });
    }
    for (auto const* s : seen) BOOST_TEST(s == seen.front());
    BOOST_TEST(driver::table().available(), driver::table().reason());
    BOOST_TEST(driver::table().library() == whole);
    BOOST_TEST(omp_co::error_code(driver::result::out_of_memory).message() ==
               "CUDA_ERROR_OUT_OF_MEMORY: the fake's words");
    BOOST_TEST(omp_co::error_code(4711, omp_co::cuda::category()).message() ==
               "CUDA_ERROR_OF_THE_FUTURE: the fake's words");
}

#ifdef OMP_CO_TEST_CUDA_STUB

BOOST_AUTO_TEST_CASE(the_toolkits_stub_library_is_recognised)
{
    check_reason(loaded(OMP_CO_TEST_CUDA_STUB).api,
                 {OMP_CO_TEST_CUDA_STUB, "stub library", "CUDA_ERROR_STUB_LIBRARY"});
}

BOOST_AUTO_TEST_CASE(every_function_has_its_symbol_in_the_stub_library)
{
    void* const handle = ::dlopen(OMP_CO_TEST_CUDA_STUB, RTLD_NOW | RTLD_LOCAL);
    BOOST_REQUIRE(handle != nullptr);
    driver::functions const f;
    for (auto const* e = f.all.first; e != nullptr; e = e->next())
        BOOST_TEST(::dlsym(handle, e->symbol()) != nullptr, e->symbol());
}

BOOST_AUTO_TEST_CASE(without_cuGetProcAddress_every_function_is_found_by_its_symbol)
{
    loaded const l(fakes + "/cuda_symbols.so"); // in front of the stub library
    BOOST_TEST(l.api.available(), l.api.reason());
    void* const stub = ::dlopen(OMP_CO_TEST_CUDA_STUB, RTLD_NOW | RTLD_LOCAL);
    for (auto const* e = l.api.all.first; e != nullptr; e = e->next()) BOOST_TEST(bool(*e), e->symbol());
    BOOST_TEST(reinterpret_cast<void*>(l.api.mem_alloc.pointer()) == ::dlsym(stub, "cuMemAlloc_v2"));
    BOOST_TEST((l.api.mem_alloc(nullptr, 1) == driver::result::stub_library));
}

#endif

BOOST_AUTO_TEST_SUITE_END()

} // namespace
