# OMP_CO_PORTABLE: programs for another machine, which has neither Boost nor this compiler's C++ library nor the CUDA toolkit:
# they need the C library alone. scripts/gpu_check.sh --prepare builds with it.
# SPDX-License-Identifier: BSL-1.0

option(OMP_CO_PORTABLE "Link Boost.Test and the C++ runtime into the programs" OFF)

if(OMP_CO_PORTABLE)
    set(Boost_USE_STATIC_LIBS ON)
    add_link_options(-static-libstdc++ -static-libgcc)
endif()
