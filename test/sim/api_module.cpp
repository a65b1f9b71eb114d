// SPDX-License-Identifier: BSL-1.0
// Modules and libraries.
#include "jit_options.hpp"
#include "module.hpp"

#include <fstream>
#include <iterator>

using namespace omp_co_sim;

namespace {

std::shared_ptr<code const> read(session& s, void const* image, jit_log log)
{
    require(image != nullptr);
    auto const capability = s.sim.config.compute_capability;
    auto const version = s.sim.config.driver_version;
    // Compiling takes long; other calls go on meanwhile.
    s.lock.unlock();
    try {
        auto loaded = load_image(image, capability, version);
        s.lock.lock();
        log.error("");
        log.information("");
        return loaded;
    } catch (image_error const& e) {
        log.information("");
        log.error(e.what());
        s.sim.log.note(std::string(s.name()) + ": " + e.what());
        throw failure{e.status()};
    }
}

CUresult load(session& s, CUmodule* handle, void const* image, jit_log log)
{
    require(handle != nullptr);
    s.current();
    s.unsafe_while_capturing();
    *handle = instantiate(s, read(s, image, log), false)->handle;
    return CUDA_SUCCESS;
}

void unload(session& s, module const& m)
{
    for (auto const& [index, f] : m.functions) s.sim.functions_of_modules.remove(f->handle);
    for (auto const& a : m.globals) s.sim.release(*a);
    s.sim.modules.remove(m.handle);
}

std::shared_ptr<library> find(session& s, CUlibrary handle)
{
    auto l = s.sim.libraries.find(handle);
    if (!l)
        s.misuse(describe("library", handle) +
                 (s.sim.libraries.was(handle) ? " used after it was unloaded" : " is no such handle"));
    require(l != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return l;
}

std::size_t kernel_named(code const& image, char const* name)
{
    require(name != nullptr);
    for (std::size_t i = 0; i < image.kernels().size(); ++i)
        if (image.kernels()[i].name == name) return i;
    throw failure{CUDA_ERROR_NOT_FOUND};
}

} // namespace

extern "C" {

CUresult cuModuleLoad(CUmodule* handle, char const* name)
{
    return call(id_cuModuleLoad, [&](session& s) {
        require(name != nullptr);
        std::ifstream file(name, std::ios::binary);
        require(file.is_open(), CUDA_ERROR_FILE_NOT_FOUND);
        std::string image{std::istreambuf_iterator<char>(file), {}};
        require(image.size() >= 16, CUDA_ERROR_INVALID_IMAGE);
        return load(s, handle, image.c_str(), jit_log(0, nullptr, nullptr));
    });
}

CUresult cuModuleLoadData(CUmodule* handle, void const* image)
{
    return call(id_cuModuleLoadData,
                [&](session& s) { return load(s, handle, image, jit_log(0, nullptr, nullptr)); });
}

CUresult cuModuleLoadDataEx(CUmodule* handle, void const* image, unsigned int count, CUjit_option* options,
                            void** values)
{
    return call(id_cuModuleLoadDataEx, [&](session& s) {
        require(count == 0 || (options && values));
        return load(s, handle, image, jit_log(count, options, values));
    });
}

CUresult cuModuleLoadFatBinary(CUmodule* handle, void const* image)
{
    return call(id_cuModuleLoadFatBinary,
                [&](session& s) { return load(s, handle, image, jit_log(0, nullptr, nullptr)); });
}

CUresult cuModuleUnload(CUmodule handle)
{
    return call(id_cuModuleUnload, [&](session& s) {
        auto& c = s.current();
        s.unsafe_while_capturing();
        auto const m = s.find(handle);
        require(!m->of_library, CUDA_ERROR_NOT_PERMITTED);
        if (m->owner.get() != &c) s.misuse("wrong context: the module was loaded into another one");
        s.synchronise(*m->owner);
        unload(s, *m);
        return CUDA_SUCCESS;
    });
}

CUresult cuModuleGetFunction(CUfunction* handle, CUmodule from, char const* name)
{
    return call(id_cuModuleGetFunction, [&](session& s) {
        require(handle != nullptr);
        s.current();
        auto const m = s.find(from);
        *handle = function_at(s, m, kernel_named(*m->image, name))->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule from, char const* name)
{
    return call(id_cuModuleGetGlobal_v2, [&](session& s) {
        require(name != nullptr && (address || bytes));
        s.current();
        auto const m = s.find(from);
        auto const& globals = m->image->globals();
        for (std::size_t i = 0; i < globals.size(); ++i) {
            if (globals[i].name != name) continue;
            if (address) *address = m->addresses[i];
            if (bytes) *bytes = globals[i].size;
            return CUDA_SUCCESS;
        }
        return CUDA_ERROR_NOT_FOUND;
    });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode)
{
    return call(id_cuModuleGetLoadingMode, [&](session&) {
        require(mode != nullptr);
        *mode = CU_MODULE_EAGER_LOADING;
        return CUDA_SUCCESS;
    });
}

CUresult cuLibraryLoadData(CUlibrary* handle, void const* image, CUjit_option* options, void** values,
                           unsigned int count, CUlibraryOption*, void**, unsigned int)
{
    return call(id_cuLibraryLoadData, [&](session& s) {
        require(handle && (count == 0 || (options && values)));
        auto l = std::make_shared<library>();
        l->image = read(s, image, jit_log(count, options, values));
        s.sim.libraries.add(l, std::string(s.name()));
        *handle = l->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuLibraryUnload(CUlibrary handle)
{
    return call(id_cuLibraryUnload, [&](session& s) {
        auto const l = find(s, handle);
        for (auto const& [context, m] : l->modules) {
            s.synchronise(*m->owner);
            unload(s, *m);
        }
        for (auto const& [index, k] : l->kernels) s.sim.kernels.remove(k->handle);
        s.sim.libraries.remove(handle);
        return CUDA_SUCCESS;
    });
}

CUresult cuLibraryGetKernel(CUkernel* handle, CUlibrary from, char const* name)
{
    return call(id_cuLibraryGetKernel, [&](session& s) {
        require(handle != nullptr);
        auto const l = find(s, from);
        auto const index = kernel_named(*l->image, name);
        auto& k = l->kernels[index];
        if (!k) {
            k = std::make_shared<kernel>();
            k->owner = l;
            k->index = index;
            s.sim.kernels.add(k, std::string(s.name()));
        }
        *handle = k->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuLibraryGetModule(CUmodule* handle, CUlibrary from)
{
    return call(id_cuLibraryGetModule, [&](session& s) {
        require(handle != nullptr);
        auto const l = find(s, from);
        auto& m = l->modules[s.current().handle];
        if (!m) m = instantiate(s, l->image, true);
        *handle = m->handle;
        return CUDA_SUCCESS;
    });
}

} // extern "C"
