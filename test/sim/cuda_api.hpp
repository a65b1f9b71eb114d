// SPDX-License-Identifier: BSL-1.0
// The toolkit's cuda.h, plus the prototypes of older versions of functions that the simulator exports too.
#pragma once

#include <cuda.h>

// cuda.h maps these names to their newest version; the simulator exports the first version as well.
#undef cuGetProcAddress
#undef cuEventElapsedTime

extern "C" {
CUresult CUDAAPI cuGetProcAddress(char const* symbol, void** function, int version, cuuint64_t flags);
CUresult CUDAAPI cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end);
CUresult CUDAAPI cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device);
CUresult CUDAAPI cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* parameters, int count,
                                unsigned flags, CUdevice device);
CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                           CUgraph* graph, CUgraphNode const** dependencies, size_t* count);
}
