// SPDX-License-Identifier: BSL-1.0
// The page that GET / answers: page.html, built into the program.
#pragma once
#include <string_view>

std::string_view page();
