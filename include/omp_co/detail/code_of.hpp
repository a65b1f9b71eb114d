// SPDX-License-Identifier: BSL-1.0
// Exceptions of host code as error codes.
#pragma once

#include <omp_co/diagnostics.hpp>
#include <omp_co/error.hpp>

#include <boost/system/system_error.hpp>
#include <exception>
#include <new>

namespace omp_co::detail {

/// A system_error's code; kernel_failed for what has none. What the exception says goes to `why`, unless that is null.
inline error_code code_of(std::exception_ptr const& e, diagnostics* why = nullptr) noexcept
{
    if (!e) return {};
    auto const say = [&](char const* text) noexcept {
        try {
            if (why != nullptr) why->assign(text);
        } catch (...) { // no memory for words
        }
    };
    try {
        std::rethrow_exception(e);
    } catch (boost::system::system_error const& error) {
        say(error.what());
        return error.code();
    } catch (std::bad_alloc const&) {
        return make_error_code(errc::out_of_memory);
    } catch (std::exception const& error) {
        say(error.what());
    } catch (...) {
    }
    return make_error_code(errc::kernel_failed);
}

} // namespace omp_co::detail
