include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(Boost 1.81)

include("${CMAKE_CURRENT_LIST_DIR}/omp_co-targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/omp_co_add_kernels.cmake")
