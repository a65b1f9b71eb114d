// SPDX-License-Identifier: BSL-1.0
// Opens a vendor's shared library at run time, and says why when it cannot.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <span>
#include <string>
#include <sys/stat.h>

namespace omp_co::detail {

/// A vendor's library, opened for the rest of the process, or the reason why there is none. Never closed: a driver
/// starts threads and registers what runs at exit.
struct vendor_library {
    using code = void (*)();

    void* handle = nullptr;
    std::string name;   ///< as it was opened
    std::string reason; ///< empty if it was opened

    /// Null if the library, with what it depends on, has no such symbol.
    code find(char const* symbol) const noexcept { return reinterpret_cast<code>(::dlsym(handle, symbol)); }
};

/// Opens one library by its file name (searched for as dlopen does) or path.
inline vendor_library open_library(std::string name)
{
    vendor_library result{::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL), std::move(name), {}};
    if (result.handle != nullptr) return result;
    char const* const words = ::dlerror();
    result.reason = words != nullptr ? words : result.name + ": cannot be opened";
    return result;
}

/// Opens the file that an environment variable names: by an absolute path, so that neither the working directory
/// nor the search path decides which code runs.
inline vendor_library open_library_from(char const* variable, char const* path)
{
    auto const refuse = [&](char const* why) {
        return vendor_library{nullptr, path, std::string(variable) + "=" + path + ": " + why};
    };
    if (path[0] != '/') return refuse("an absolute path is expected");
    if (::secure_getenv(variable) == nullptr)
        return refuse("not honoured in a program that runs with raised privileges");
    struct stat status {};
    if (::stat(path, &status) != 0) return refuse(std::strerror(errno));
    if (S_ISDIR(status.st_mode)) return refuse("is a directory, a shared library is expected");
    if (!S_ISREG(status.st_mode)) return refuse("is no regular file, a shared library is expected");
    vendor_library result = open_library(path);
    if (result.handle == nullptr) result.reason.insert(0, std::string(variable) + ": ");
    return result;
}

/// Opens the library that the environment variable names, if it is set and not empty, else the first of `names` that
/// can be opened.
inline vendor_library open_vendor_library(char const* variable, std::span<std::string const> names)
{
    char const* const path = std::getenv(variable);
    if (path != nullptr && *path != '\0') return open_library_from(variable, path);
    vendor_library none;
    for (std::string const& name : names) {
        vendor_library found = open_library(name);
        if (found.handle != nullptr) return found;
        none.name = name;
        none.reason += (none.reason.empty() ? "" : "; ") + found.reason;
    }
    return none;
}

} // namespace omp_co::detail
