// SPDX-License-Identifier: BSL-1.0
// Memory of commands, used again and again: a driver does not ask the heap for each of its commands either.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace omp_co_sim {

/// Guarded by the driver's lock: commands are made, and let go of, under it. Never given back.
template <class T>
class command_memory {
public:
    using value_type = T;

    command_memory() = default;
    template <class U>
    command_memory(command_memory<U> const&) noexcept
    {
    }

    T* allocate(std::size_t n)
    {
        if (n != 1 || free_ == nullptr) return static_cast<T*>(::operator new(n* size, alignment));
        block* const b = std::exchange(free_, free_->next);
        b->~block();
        return reinterpret_cast<T*>(b);
    }

    void deallocate(T* p, std::size_t n) noexcept
    {
        if (n != 1) return ::operator delete(p, alignment);
        free_ = ::new (static_cast<void*>(p)) block{free_};
    }

    friend bool operator==(command_memory, command_memory) noexcept { return true; }

private:
    struct block {
        block* next;
    };
    static constexpr std::size_t size = sizeof(T) > sizeof(block) ? sizeof(T) : sizeof(block);
    static constexpr std::align_val_t alignment{alignof(T) > alignof(block) ? alignof(T) : alignof(block)};

    static inline block* free_ = nullptr;
};

template <class Command, class... Arguments>
std::shared_ptr<Command> make_command(Arguments&&... arguments)
{
    return std::allocate_shared<Command>(command_memory<Command>(), std::forward<Arguments>(arguments)...);
}

} // namespace omp_co_sim
