// SPDX-License-Identifier: BSL-1.0
// Every allocation that a device can see, by address.
//
// Device memory lies at addresses inside a reservation that the host cannot read or write; its bytes are elsewhere.
// Pinned, registered and managed memory has its own bytes at its own address.
#pragma once

#include "cuda_api.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

namespace omp_co_sim {

struct context;

/// What stream-ordered allocations come from.
struct memory_pool {
    CUmemoryPool handle = nullptr;
    int device = 0;
    bool is_default = false;
    std::size_t most = 0; ///< 0: as the device has
    std::size_t used = 0;
    std::size_t used_high = 0;
    std::size_t reserved = 0;
    std::size_t reserved_high = 0;
    std::uint64_t threshold = 0;
    int reuse[3] = {1, 1, 1};
    std::set<int> access; ///< devices that see it beside its own
};

enum class memory_kind : std::uint8_t { device, pool, module_global, managed, pinned, registered };

struct allocation {
    std::uint64_t base = 0;
    std::size_t size = 0;
    std::shared_ptr<std::byte> bytes;
    memory_kind kind = memory_kind::device;
    int device = 0;
    unsigned flags = 0;
    std::uint64_t id = 0;
    std::shared_ptr<context> owner;
    std::shared_ptr<memory_pool> pool;
    std::atomic<bool> ready = true; ///< false: its place in stream order has not been reached
    bool dying = false;             ///< freed in stream order, not executed yet

    bool on_host() const
    {
        return kind == memory_kind::managed || kind == memory_kind::pinned || kind == memory_kind::registered;
    }
    std::uint64_t end() const { return base + size; }
};

/// The addresses of one device.
class device_addresses {
public:
    device_addresses() = default;
    explicit device_addresses(std::size_t span);
    device_addresses(device_addresses&& other) noexcept;
    device_addresses& operator=(device_addresses&&) = delete;
    ~device_addresses();

    std::uint64_t take(std::size_t size);
    void give(std::uint64_t base, std::size_t size);
    bool contains(std::uint64_t address) const { return address >= begin_ && address < begin_ + span_; }

private:
    std::uint64_t begin_ = 0;
    std::size_t span_ = 0;
    std::uint64_t cursor_ = 0;
    std::map<std::uint64_t, std::uint64_t> free_; ///< begin to end
};

class address_space {
public:
    /// Memory with bytes of its own at addresses of `addresses`; null when there are none left.
    std::shared_ptr<allocation> create(device_addresses& addresses, std::size_t size);

    /// Memory of the host at its own address. Null when it overlaps one that is known.
    std::shared_ptr<allocation> adopt(void* memory, std::size_t size, std::shared_ptr<std::byte> bytes);

    void remove(std::uint64_t base);
    void clear();

    /// The allocation that holds `address`, or null.
    std::shared_ptr<allocation> find(std::uint64_t address) const;

    /// The same for words that are written again and again. With the driver's lock held, as all that changes what there is.
    std::shared_ptr<allocation> const& find_again(std::uint64_t address);

    /// The same, if `device`, which has the memory of `peers` mapped, may use it now.
    std::shared_ptr<allocation> find(std::uint64_t address, int device, std::set<int> const& peers) const;

    void set_access(memory_pool& pool, int device, bool visible);
    bool was_freed(std::uint64_t base) const;
    std::vector<std::shared_ptr<allocation>> all() const;

private:
    std::shared_ptr<allocation> insert(std::shared_ptr<allocation> a);
    std::shared_ptr<allocation> find_unlocked(std::uint64_t address) const;

    mutable std::shared_mutex mutex_;
    std::map<std::uint64_t, std::shared_ptr<allocation>> by_base_;
    std::set<std::uint64_t> freed_;
    std::uint64_t next_id_ = 0;
    std::shared_ptr<allocation> last_; ///< that find_again found
};

/// What a device takes for an allocation of `size` bytes.
std::size_t rounded(std::size_t size);

/// Memory as one command sees it; finds an allocation once.
class memory_view {
public:
    memory_view(address_space const& space, int device, std::set<int> const& peers);

    /// Null: illegal for this device.
    std::byte* at(std::uint64_t address, std::size_t bytes);

    /// The allocation around an address, null when illegal. It lives as long as the view.
    allocation const* around(std::uint64_t address);

    /// Lets go of what it found.
    void forget() { known_.clear(); }

private:
    address_space const& space_;
    int device_;
    std::set<int> peers_;
    std::vector<std::shared_ptr<allocation>> known_;
    std::size_t last_ = 0;
};

} // namespace omp_co_sim
