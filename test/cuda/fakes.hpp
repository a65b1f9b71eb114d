// SPDX-License-Identifier: BSL-1.0
// Where the libraries made from test/fakes/cuda_driver.cpp lie: as built, or where OMP_CO_TEST_FAKES says for programs that
// were carried to another machine.
#pragma once

#include <cstdlib>
#include <string>

inline std::string fakes_folder()
{
    char const* const moved = std::getenv("OMP_CO_TEST_FAKES");
    return moved != nullptr && *moved != '\0' ? moved : OMP_CO_TEST_FAKES;
}
