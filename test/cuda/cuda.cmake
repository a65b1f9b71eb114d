# What test_cuda needs beside its sources: libraries that pass for a driver, and the toolkit's header and stub library
# if they are here. Included by test/CMakeLists.txt once test_cuda exists.

find_package(CUDAToolkit QUIET)

set(omp_co_fakes "${CMAKE_CURRENT_BINARY_DIR}/fakes")
function(omp_co_add_fake_driver name definition)
    add_library(fake_${name} MODULE "${CMAKE_CURRENT_SOURCE_DIR}/fakes/cuda_driver.cpp")
    target_link_libraries(fake_${name} PRIVATE omp_co_warnings)
    target_compile_definitions(fake_${name} PRIVATE ${definition})
    set_target_properties(fake_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY "${omp_co_fakes}")
    if(OMP_CO_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        # A driver's functions carry no types to check calls against.
        target_compile_options(fake_${name} PRIVATE -fno-sanitize=function)
    endif()
    add_dependencies(test_cuda fake_${name})
endfunction()

omp_co_add_fake_driver(cuda_proc_address_2 FAKE_PROC_ADDRESS=2)
omp_co_add_fake_driver(cuda_proc_address_1 FAKE_PROC_ADDRESS=1)
omp_co_add_fake_driver(cuda_no_init FAKE_NO_INIT)
target_compile_definitions(test_cuda PRIVATE OMP_CO_TEST_FAKES="${omp_co_fakes}")

if(CUDAToolkit_FOUND)
    list(GET CUDAToolkit_INCLUDE_DIRS 0 omp_co_cuda_include)
    target_include_directories(test_cuda SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    if(NOT OMP_CO_PORTABLE)
        target_compile_definitions(test_cuda PRIVATE OMP_CO_TEST_CUDA_INCLUDE="${omp_co_cuda_include}")
    endif()
    find_library(OMP_CO_CUDA_STUB cuda NO_DEFAULT_PATH PATHS "${CUDAToolkit_LIBRARY_DIR}/stubs"
                                                             "${CUDAToolkit_LIBRARY_ROOT}/lib/stubs"
                                                             "${CUDAToolkit_LIBRARY_ROOT}/lib64/stubs")
    mark_as_advanced(OMP_CO_CUDA_STUB)
endif()
if(OMP_CO_PORTABLE)
    message(STATUS "Portable: test_cuda does not read the toolkit's files")
elseif(OMP_CO_CUDA_STUB)
    omp_co_add_fake_driver(cuda_symbols FAKE_PROC_ADDRESS=0)
    # By its path: the stub's name is the driver's.
    target_link_options(fake_cuda_symbols PRIVATE -Wl,--no-as-needed "${OMP_CO_CUDA_STUB}" "-Wl,-rpath,${omp_co_fakes}")
    file(MAKE_DIRECTORY "${omp_co_fakes}")
    file(CREATE_LINK "${OMP_CO_CUDA_STUB}" "${omp_co_fakes}/libcuda.so.1" SYMBOLIC)
    target_compile_definitions(test_cuda PRIVATE OMP_CO_TEST_CUDA_STUB="${OMP_CO_CUDA_STUB}")
else()
    message(STATUS "No CUDA toolkit: test_cuda does not compare its declarations with cuda.h and the stub library")
endif()

# test_cuda_backend runs on the driver simulator: on the one that is built here, or on a library built elsewhere.
set(OMP_CO_SIMULATOR "" CACHE FILEPATH "The driver simulator for test_cuda_backend; empty: the one of this tree")
function(omp_co_use_simulator target)
    if(OMP_CO_SIMULATOR)
        target_compile_definitions(${target} PRIVATE OMP_CO_TEST_SIMULATOR="${OMP_CO_SIMULATOR}")
    elseif(TARGET omp_co_sim_cuda)
        target_compile_definitions(${target} PRIVATE OMP_CO_TEST_SIMULATOR="$<TARGET_FILE:omp_co_sim_cuda>")
        add_dependencies(${target} omp_co_sim_cuda)
    endif()
endfunction()
omp_co_use_simulator(test_cuda_backend)
omp_co_add_kernels(test_cuda_backend cuda_backend/kernels.cu)

# As scripts/gpu_check.sh runs them on a device, with the simulator in its place.
if(TARGET omp_co_sim_cuda)
    omp_co_add_run_test(cuda_backend.as_on_a_device test_cuda_backend unit)
    set_tests_properties(
        cuda_backend.as_on_a_device
        PROPERTIES ENVIRONMENT
                   "${omp_co_test_environment};OMP_CO_TEST_DRIVER=device;OMP_CO_CUDA_LIBRARY=$<TARGET_FILE:omp_co_sim_cuda>")
endif()

# NVRTC finds the simulator under the driver's name, as any program may.
if(TARGET omp_co_sim_cuda)
    omp_co_add_run_test(cuda.nvrtc_beside_the_simulator "test_cuda;--run_test=cuda_nvrtc" unit)
    set_tests_properties(cuda.nvrtc_beside_the_simulator
                         PROPERTIES ENVIRONMENT "${omp_co_test_environment};LD_LIBRARY_PATH=${CMAKE_CURRENT_BINARY_DIR}/sim/named")
endif()

# What scripts/gpu_check.sh runs, and the simulator to try it on.
add_custom_target(omp_co_gpu_check DEPENDS test_cuda test_cuda_backend)
foreach(target driver_facts driver_costs omp_co_bench_cuda_regions omp_co_sim_cuda)
    if(TARGET ${target})
        add_dependencies(omp_co_gpu_check ${target})
    endif()
endforeach()
