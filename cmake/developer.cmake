# What omp_co's own tests, examples and benchmarks are built with. A project that uses omp_co gets none of it.

include("${CMAKE_CURRENT_LIST_DIR}/warnings.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/sanitize.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/portable.cmake")

set(CMAKE_CXX_EXTENSIONS OFF)

# Coroutine tests without debug information or optimisation measure nothing: never build without a type.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

find_program(OMP_CO_CCACHE ccache)
mark_as_advanced(OMP_CO_CCACHE)
if(OMP_CO_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # ccache refuses translation units with a precompiled header unless told that their macros and times do
    # not matter (its manual, "Precompiled headers").
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                    "${OMP_CO_CCACHE}")
endif()
