// SPDX-License-Identifier: BSL-1.0
// cuInit, versions, error texts, cuGetProcAddress, cuGetExportTable.
#include "driver.hpp"

#include <cstring>

using namespace omp_co_sim;

namespace {

// In the order of function_id.
void* address_of(std::size_t index)
{
    static void* const addresses[] = {
#define OMP_CO_SIM_FUNCTION(base, symbol, since) reinterpret_cast<void*>(&symbol),
#include "functions.inc"
#undef OMP_CO_SIM_FUNCTION
    };
    return addresses[index];
}

// The newest version of a function that the caller's prototype, of CUDA `version`, can be.
CUresult look_up(session& s, char const* symbol, void** function, int version, cuuint64_t flags,
                 CUdriverProcAddressQueryResult* status)
{
    require(symbol && function);
    *function = nullptr;
    if (status) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    require(flags <= CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    if (flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
        s.sim.log.note("per-thread default stream versions are not simulated");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    require(version <= s.sim.config.driver_version);
    int best = -1;
    bool too_new = false;
    for (std::size_t i = 0; i < functions().size(); ++i) {
        auto const& entry = functions()[i];
        if (std::strcmp(entry.base, symbol) != 0 || entry.since > s.sim.config.driver_version) continue;
        too_new = too_new || entry.since > version;
        if (entry.since > version || entry.since < best) continue;
        best = entry.since;
        *function = address_of(i);
    }
    if (*function) {
        if (status) *status = CU_GET_PROC_ADDRESS_SUCCESS;
        return CUDA_SUCCESS;
    }
    if (too_new && status) *status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    if (!too_new) s.sim.log.note(std::string("function not simulated, or newer than the driver: ") + symbol);
    return CUDA_SUCCESS;
}

} // namespace

extern "C" {

CUresult cuInit(unsigned int flags)
{
    return call_anywhere(id_cuInit, [&](session& s) {
        require(flags == 0);
        s.sim.initialise();
        return CUDA_SUCCESS;
    });
}

CUresult cuDriverGetVersion(int* version)
{
    return call_anywhere(id_cuDriverGetVersion, [&](session& s) {
        require(version != nullptr);
        *version = s.sim.config.driver_version;
        return CUDA_SUCCESS;
    });
}

CUresult cuGetErrorName(CUresult error, char const** text)
{
    return call_anywhere(id_cuGetErrorName, [&](session&) {
        require(text != nullptr);
        *text = error_name(error);
        return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
}

CUresult cuGetErrorString(CUresult error, char const** text)
{
    return call_anywhere(id_cuGetErrorString, [&](session&) {
        require(text != nullptr);
        *text = error_text(error);
        return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
}

CUresult cuGetProcAddress(char const* symbol, void** function, int version, cuuint64_t flags)
{
    return call_anywhere(id_cuGetProcAddress, [&](session& s) {
        auto const result = look_up(s, symbol, function, version, flags, nullptr);
        // The first version has no status to tell with.
        return result == CUDA_SUCCESS && !*function ? CUDA_ERROR_NOT_FOUND : result;
    });
}

CUresult cuGetProcAddress_v2(char const* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status)
{
    return call_anywhere(id_cuGetProcAddress_v2,
                         [&](session& s) { return look_up(s, symbol, function, version, flags, status); });
}

// The vendor's own libraries ask for tables that are documented nowhere. NVRTC takes an answer that there is none, but not
// that there is no such function.
CUresult cuGetExportTable(void const** table, CUuuid const* id)
{
    return call_anywhere(id_cuGetExportTable, [&](session&) {
        require(table != nullptr && id != nullptr);
        *table = nullptr;
        return CUDA_ERROR_NOT_FOUND;
    });
}

} // extern "C"
