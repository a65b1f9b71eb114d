# OMP_CO_SANITIZE: "address,undefined" or "thread". It holds for the whole tree, because a program of which
# only a part is instrumented reports errors that are none.

set(OMP_CO_SANITIZE "" CACHE STRING "Sanitizers: empty, \"address,undefined\" or \"thread\"")
set_property(CACHE OMP_CO_SANITIZE PROPERTY STRINGS "" "address,undefined" "thread")

# Without a symbolizer clang's reports have no names, and test/tsan.supp, which goes by names, matches nothing.
set(omp_co_symbolizer "")
if(OMP_CO_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    find_program(OMP_CO_SYMBOLIZER NAMES llvm-symbolizer-19 llvm-symbolizer)
    mark_as_advanced(OMP_CO_SYMBOLIZER)
    if(OMP_CO_SYMBOLIZER)
        set(omp_co_symbolizer ":external_symbolizer_path=${OMP_CO_SYMBOLIZER}")
    endif()
endif()

# Run-time options of the tests, for their ENVIRONMENT property.
set(omp_co_tsan_supp "${PROJECT_SOURCE_DIR}/test/tsan.supp")
set(omp_co_sanitizer_environment
    "ASAN_OPTIONS=detect_leaks=1:halt_on_error=1${omp_co_symbolizer}"
    "UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1${omp_co_symbolizer}"
    "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=${omp_co_tsan_supp}${omp_co_symbolizer}")

if(OMP_CO_SANITIZE)
    add_compile_options(-fsanitize=${OMP_CO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${OMP_CO_SANITIZE})

    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # At -O1, g++ 12 may take Asio's coroutine frames for mismatched:
        # https://gcc.gnu.org/PR109224. Its other warning is that ThreadSanitizer does not model Asio's fences.
        add_compile_options(-Wno-mismatched-new-delete -Wno-maybe-uninitialized -Wno-tsan)
    endif()
endif()
