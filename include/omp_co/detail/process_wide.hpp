// SPDX-License-Identifier: BSL-1.0
// One object for the whole process, also where shared objects with hidden visibility each bring their own copy of
// this header's variables: symbols do not meet there (an executable does not even export them), so the objects
// meet at a named memory mapping that each can find in the process's own map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

namespace omp_co::detail {

/// What is found at the meeting place.
struct rendezvous {
    std::uint64_t magic;
    void* object;
};

inline constexpr std::uint64_t rendezvous_magic = 0x6f6d705f636f2e31ULL;

inline rendezvous* find_rendezvous(char const* name) noexcept
{
    std::FILE* const maps = std::fopen("/proc/self/maps", "re");
    if (maps == nullptr) return nullptr;
    rendezvous* found = nullptr;
    char line[512];
    while (found == nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
        if (std::strstr(line, name) == nullptr) continue;
        unsigned long begin = 0;
        if (std::sscanf(line, "%lx-", &begin) != 1) continue;
        auto* const candidate = reinterpret_cast<rendezvous*>(begin);
        if (candidate->magic == rendezvous_magic) found = candidate;
    }
    std::fclose(maps);
    return found;
}

/// Keeps the shared object that holds this code in memory for good: threads and tables point into it.
inline void stay_loaded(void const* code) noexcept
{
    Dl_info where{};
    if (dladdr(code, &where) == 0 || where.dli_fname == nullptr) return;
    (void)dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/// The process's object of this name; made by `create` if this is the first call in the process. Where there is no
/// /proc or no memfd, each shared object gets its own.
template <class Create>
void* process_wide(char const* name, Create create)
{
    int const lock = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC); // two shared objects may come at once
    if (lock >= 0) (void)::flock(lock, LOCK_EX);
    rendezvous* place = find_rendezvous(name);
    void* object = nullptr;
    if (place != nullptr) {
        object = place->object;
    } else {
        object = create();
        int const file = ::memfd_create(name, MFD_CLOEXEC);
        if (file >= 0 && ::ftruncate(file, sizeof(rendezvous)) == 0) {
            void* const page =
                ::mmap(nullptr, sizeof(rendezvous), PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
            if (page != MAP_FAILED) {
                place = static_cast<rendezvous*>(page);
                place->object = object;
                place->magic = rendezvous_magic;
            }
        }
        if (file >= 0) ::close(file);
    }
    if (lock >= 0) ::close(lock);
    return object;
}

} // namespace omp_co::detail
