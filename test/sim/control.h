/* SPDX-License-Identifier: BSL-1.0 */
/* What the simulator exports beside the driver's own functions, for tests in the same process.

   The environment, read when the library is loaded and again by omp_co_sim_reset; omp_co_sim_set takes the same names
   without OMP_CO_SIM_:

   OMP_CO_SIM_DEVICES=n               devices, 1 (0: cuInit answers CUDA_ERROR_NO_DEVICE)             from cuInit on
   OMP_CO_SIM_MEMORY=bytes            memory of each device, 4 GiB                                    from cuInit on
   OMP_CO_SIM_CC=90                   compute capability                                              at once
   OMP_CO_SIM_DRIVER_VERSION=13000    what cuDriverGetVersion answers; newer functions are not there   at once
   OMP_CO_SIM_KERNEL_US=20,name:5000  modelled time of each launch, and of launches of one kernel;
                                      0: as long as it takes                                          next launch
   OMP_CO_SIM_CALL_US=f:100000,...    a call of f, an exported or base name, keeps its caller that long  next call
   OMP_CO_SIM_CONCURRENT_KERNELS=16   kernels of modelled time that a device runs at once             from cuInit on
   OMP_CO_SIM_BANDWIDTH=12.5          GB/s of copies: one engine to and one from a device; 0: as long
                                      as it takes                                                     next copy
   OMP_CO_SIM_LATENCY_US=4            from a call to the earliest start of its command                next command
   OMP_CO_SIM_WRITE_VALUE=0           the device has no stream memory operations                      at once
   OMP_CO_SIM_POOLS=0                 the device has no stream-ordered allocator                      at once
   OMP_CO_SIM_FAULT=f:n:error,...     the n-th call of f from now on answers `error` (name or number);
                                      f is an exported or base name, or * for any function. A sticky
                                      error loses the current context's device.                       at once
   OMP_CO_SIM_TRAP=kernel:n,...       the n-th launch of the kernel (* for any) traps                 next launch
   OMP_CO_SIM_LOSE_HOST_FUNCTIONS=n   the next n host functions never run; their streams go on        at once
   OMP_CO_SIM_THREADS=4               threads; one fewer kernels without a modelled time run at once   from cuInit on
   OMP_CO_SIM_REPORT=file             appended at the end of the process: misuse, notes, leaks

   A value that is not understood is said on stderr and cuInit answers CUDA_ERROR_INVALID_VALUE. */
#ifndef OMP_CO_SIM_CONTROL_H
#define OMP_CO_SIM_CONTROL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0: done. 1: no such name or a bad value; the reason goes to stderr. */
int omp_co_sim_set(char const* name, char const* value);

/* Calls of a function (exported or base name, "*" for all) since the library was loaded or reset. */
unsigned long omp_co_sim_count(char const* function);

/* Writes the report so far and what would be leaks now, one line each, cut off at `size` with its final zero; answers
   the length of the whole text. "misuse: function: text", "note: text", "leak: kind address of device n, ...". */
size_t omp_co_sim_report(char* buffer, size_t size);

/* Everything as when the library was loaded, registered kernels excepted. No other call may be in progress. */
void omp_co_sim_reset(void);

/* One launch as a registered kernel sees it. */
struct omp_co_sim_launch {
    unsigned grid[3];
    unsigned block[3];
    size_t shared_bytes;
    void const* const* parameters; /* one address for each parameter, as in cuLaunchKernel */
    void* user;
    /* The host's bytes behind a device address; null when illegal, and then the launch faults when it returns. */
    void* (*at)(struct omp_co_sim_launch const* launch, unsigned long long address, size_t bytes);
    void* machine;
};

/* Called once for a launch, on a thread of the simulator. 0, or a CUresult that loses the device. */
typedef int (*omp_co_sim_kernel)(struct omp_co_sim_launch const* launch);

/* A kernel in C++ instead of PTX: cuModuleLoadData of OMP_CO_SIM_REGISTERED_IMAGE gives a module with all kernels that
   were registered before. */
void omp_co_sim_register_kernel(char const* name, size_t const* parameter_sizes, size_t parameters,
                                omp_co_sim_kernel function, void* user);

#define OMP_CO_SIM_REGISTERED_IMAGE "omp_co_sim registered kernels"

#ifdef __cplusplus
}
#endif

#endif
