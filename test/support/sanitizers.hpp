// SPDX-License-Identifier: BSL-1.0
// How much of a loop a build can afford.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OMP_CO_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OMP_CO_TEST_SANITIZED 1
#endif
#endif
#ifndef OMP_CO_TEST_SANITIZED
#define OMP_CO_TEST_SANITIZED 0
#endif

namespace omp_co_test {

/// `n` rounds in an ordinary build, an eighth under a sanitizer.
constexpr int rounds(int n) noexcept { return OMP_CO_TEST_SANITIZED && n >= 8 ? n / 8 : n; }

} // namespace omp_co_test
