// SPDX-License-Identifier: BSL-1.0
// An executable and two modules of hidden visibility, each with its own copy of the headers' variables, share one
// set of devices, one default device and one present table a device.
#include "child_process.hpp"
#include "plugins/plugin.hpp"

#include <omp_co/omp_co.hpp>

#include <dlfcn.h>

namespace {

using child_process::check;

struct module {
    explicit module(char const* name)
    {
        std::string const path = std::string(OMP_CO_PLUGIN_DIR "/") + name + ".so";
        handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) {
            std::fprintf(stderr, "failed: %s\n", dlerror());
            std::exit(EXIT_FAILURE);
        }
        calls = reinterpret_cast<plugin_calls const* (*)()>(dlsym(handle, plugin_entry))();
    }

    void close()
    {
        check(dlclose(handle) == 0, "dlclose");
        handle = nullptr;
    }

    void* handle = nullptr;
    plugin_calls const* calls = nullptr;
};

int regions_in(omp_co::device d) { return static_cast<int>(d.statistics().regions); }

/// All three see the same devices, whoever used omp_co first.
void one_registry(module const& a, module const& b)
{
    std::vector<omp_co::device> const mine = omp_co::devices();
    check(a.calls->device_count() == static_cast<int>(mine.size()), "the first module sees other devices");
    check(b.calls->device_count() == static_cast<int>(mine.size()), "the second module sees other devices");
    check(mine.size() == 3, "there are three devices: " + std::to_string(mine.size()));

    check(a.calls->default_device() == omp_co::default_device().number(), "another default device in the first module");
    (void)omp_co::set_default_device(mine[2]);
    check(a.calls->default_device() == 2, "the first module does not see the new default device");
    check(b.calls->default_device() == 2, "the second module does not see the new default device");
    b.calls->set_default_device(1);
    check(omp_co::default_device().number() == 1, "the executable does not see the second module's default device");
    check(a.calls->default_device() == 1, "the first module does not see the second one's default device");
}

/// What one maps is present in the others.
void one_present_table(module const& a, module const& b)
{
    std::vector<int> data(100, 1);
    omp_co::device const d = omp_co::default_device();
    check(a.calls->enter(data.data(), 100) == 0, "the first module maps");
    check(d.is_present(data.data()), "not present in the executable");
    check(b.calls->is_present(data.data()) == 1, "not present in the second module");
    std::vector<int> const before = data;
    check(b.calls->increment(data.data(), 100) == 0, "the second module's kernel");
    check(data == before, "mapped data was copied back by a region inside");
    omp_co::sync_wait(omp_co::target(
        [](std::size_t i, int* p) { p[i] += 10; }, omp_co::range(data.size()), omp_co::tofrom(data)));
    check(b.calls->exit(data.data(), 100) == 0, "the second module unmaps");
    check(data == std::vector<int>(100, 12), "the data came back: " + std::to_string(data[0]));
    check(!d.is_present(data.data()), "still present");
    check(a.calls->is_present(data.data()) == 0, "still present in the first module");
}

/// Objects of one module are used by another.
void shared_loops(module const& a, module const& b)
{
    omp_co::device const d = omp_co::default_device();
    boost::asio::io_context io;
    omp_co::offload_context own;
    int done = 0;
    int const before = regions_in(d);
    for (int i = 0; i < 50; ++i) {
        a.calls->start_in(&io, &done);
        b.calls->start_in(&own, &done);
        omp_co::target([] {})(boost::asio::bind_executor(io.get_executor(), [&](omp_co::error_code) { ++done; }));
    }
    io.run();
    own.run();
    check(done == 150, "handlers that ran: " + std::to_string(done));
    check(regions_in(d) == before + 150, "regions of the modules are not counted on the device");
    check(a.calls->kernel_that_throws() == 1, "errors are recognised in the first module");
    check(b.calls->codes_are_recognised() == 1, "conditions compare equal across modules");
    check(b.calls->future_without_context() == 0, "a future without a context");
}

int all_together(bool executable_first)
{
    if (executable_first) omp_co::sync_wait(omp_co::target([] {}));
    module a("mapper");
    module b("runner");
    if (!executable_first) check(b.calls->run() == 0, "the second module runs a region first of all");
    one_registry(a, b);
    one_present_table(a, b);
    shared_loops(a, b);

    // What was started by a module that is closed goes on, and its threads' code stays.
    boost::asio::io_context io;
    int done = 0;
    for (int i = 0; i < 20; ++i) a.calls->start_in(&io, &done);
    a.close();
    io.run();
    check(done == 20, "handlers of a closed module that ran: " + std::to_string(done));
    b.close();
    int x = 1;
    omp_co::sync_wait(omp_co::target([](int* p) { ++*p; }, omp_co::tofrom(x)));
    check(x == 2, "the executable goes on without the modules");
    module again("mapper");
    check(again.calls->device_count() == 3, "a module that is loaded again sees the devices");
    check(again.calls->run() == 0, "a module that is loaded again runs a region");
    again.close();
    omp_co::target([] {})([](omp_co::error_code) {}); // in flight at exit
    return child_process::result();
}

/// The executable itself never uses a device; the modules may close before the program ends.
int modules_alone()
{
    module a("mapper");
    check(a.calls->run() == 0, "a region of the first module");
    a.close();
    module b("runner");
    check(b.calls->device_count() == 3, "devices that a closed module found");
    check(b.calls->run() == 0, "a region of the second module");
    check(b.calls->future_without_context() == 0, "a future without a context");
    b.close();
    return child_process::result();
}

} // namespace

int main(int argc, char** argv)
{
    if (argc == 2) {
        std::string const mode = argv[1];
        if (mode == "executable_first") return all_together(true);
        if (mode == "module_first") return all_together(false);
        return modules_alone();
    }
    std::vector<std::string> const environment{"OMP_CO_HOST_DEVICES=3", "OMP_CO_HOST_WORKERS=1"};
    for (char const* mode : {"executable_first", "module_first", "modules_alone"}) {
        for (int i = 0; i < 3; ++i) {
            std::string const ending = child_process::rerun({mode}, environment);
            check(ending.empty(), std::string(mode) + ": " + ending);
        }
    }
    return child_process::result();
}
