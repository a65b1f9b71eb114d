// SPDX-License-Identifier: BSL-1.0
// Everything that needs no vendor's toolkit: the constructs and the host backend.
#pragma once

#include <omp_co/check.hpp>
#include <omp_co/clauses.hpp>
#include <omp_co/data.hpp>
#include <omp_co/data_clauses.hpp>
#include <omp_co/depend.hpp>
#include <omp_co/device.hpp>
#include <omp_co/device_allocator.hpp>
#include <omp_co/diagnostics.hpp>
#include <omp_co/error.hpp>
#include <omp_co/host.hpp>
#include <omp_co/host_task.hpp>
#include <omp_co/info.hpp>
#include <omp_co/kernel.hpp>
#include <omp_co/mapped_array.hpp>
#include <omp_co/mapper.hpp>
#include <omp_co/memory.hpp>
#include <omp_co/name.hpp>
#include <omp_co/offload_context.hpp>
#include <omp_co/queue.hpp>
#include <omp_co/reduction.hpp>
#include <omp_co/section.hpp>
#include <omp_co/sync_wait.hpp>
#include <omp_co/target.hpp>
#include <omp_co/task_group.hpp>
#include <omp_co/when_all.hpp>
