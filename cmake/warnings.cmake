# omp_co_warnings: linked PRIVATE by every executable of ours, never by the library.

add_library(omp_co_warnings INTERFACE)
target_compile_options(omp_co_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
