// SPDX-License-Identifier: BSL-1.0
// One of two modules with the same functions, compiled apart.
#include "calls.hpp"
