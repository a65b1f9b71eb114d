// SPDX-License-Identifier: BSL-1.0
// Gives the precompiled header (pch.hpp) a target to belong to.
