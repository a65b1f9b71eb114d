# omp_co_add_kernels(<target> <file.cu>… [ARCHITECTURES <75> <90>…] [OPTIONS <nvcc options>…])
#
# Compiles each file with nvcc to a fatbin, with code for each architecture and PTX for the newest, and embeds it: the
# target may include <stem>.cu.hpp, which declares `<stem>_cu`, an array for omp_co::cuda::image. Without nvcc
# the array is not declared and OMP_CO_HAS_CUDA_KERNELS is 0 in the target, else 1.
# SPDX-License-Identifier: BSL-1.0

set(omp_co_embed_script "${CMAKE_CURRENT_LIST_DIR}/omp_co_embed.cmake")
# Where kernel_language.hpp lies, in the source tree or as installed.
set(omp_co_kernel_includes "${CMAKE_CURRENT_LIST_DIR}/../include" "${CMAKE_CURRENT_LIST_DIR}/../../../include")

function(omp_co_add_kernels target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ARCHITECTURES;OPTIONS")
    if(NOT arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "omp_co_add_kernels(${target}): no .cu file was given")
    endif()
    find_program(OMP_CO_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(OMP_CO_NVCC)
    if(NOT OMP_CO_NVCC)
        message(STATUS "omp_co_add_kernels(${target}): no nvcc here, so no CUDA kernels")
        target_compile_definitions(${target} PRIVATE OMP_CO_HAS_CUDA_KERNELS=0)
        return()
    endif()
    if(NOT arg_ARCHITECTURES)
        set(arg_ARCHITECTURES 80 90)
    endif()

    set(flags -fatbin -std=c++17 ${arg_OPTIONS})
    foreach(include IN LISTS omp_co_kernel_includes)
        if(IS_DIRECTORY "${include}")
            list(APPEND flags "-I${include}")
        endif()
    endforeach()
    foreach(architecture IN LISTS arg_ARCHITECTURES)
        list(APPEND flags -gencode "arch=compute_${architecture},code=sm_${architecture}")
    endforeach()
    list(GET arg_ARCHITECTURES -1 newest)
    # PTX is left as text: nvcc would compress it, and other tools could not read it.
    list(APPEND flags -gencode "arch=compute_${newest},code=compute_${newest}" --no-compress)

    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels")
    file(MAKE_DIRECTORY "${folder}")
    foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
        cmake_path(GET source STEM stem)
        set(fatbin "${folder}/${stem}.fatbin")
        set(header "${folder}/${stem}.cu.hpp")
        add_custom_command(
            OUTPUT "${header}"
            COMMAND "${OMP_CO_NVCC}" ${flags} -MD -MF "${fatbin}.d" -MT "${header}" -o "${fatbin}" "${source}"
            COMMAND "${CMAKE_COMMAND}" "-DIN=${fatbin}" "-DOUT=${header}" "-DNAME=${stem}_cu" -P
                    "${omp_co_embed_script}"
            DEPENDS "${source}" "${omp_co_embed_script}"
            DEPFILE "${fatbin}.d"
            COMMENT "Compiling ${stem}.cu for ${target}"
            VERBATIM)
        target_sources(${target} PRIVATE "${header}")
    endforeach()
    target_include_directories(${target} PRIVATE "${folder}")
    target_compile_definitions(${target} PRIVATE OMP_CO_HAS_CUDA_KERNELS=1)
endfunction()
