// SPDX-License-Identifier: BSL-1.0
// Whether this program is built with AddressSanitizer.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define OMP_CO_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OMP_CO_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef OMP_CO_ADDRESS_SANITIZER
#define OMP_CO_ADDRESS_SANITIZER 0
#endif
