// SPDX-License-Identifier: BSL-1.0
// The address space: reservations, allocations, look-up.
#include "memory.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <utility>

namespace omp_co_sim {
namespace {

constexpr std::size_t granule = 512;
// Nothing is ever mapped behind an allocation, so that running over its end is seen.
constexpr std::size_t guard = 512;
constexpr std::align_val_t bytes_alignment{256};
// Memory is not cleared: what was not written must not look like zeros.
constexpr std::size_t poisoned = 4096;

std::shared_ptr<std::byte> make_bytes(std::size_t size)
{
    auto* const p = static_cast<std::byte*>(::operator new(size, bytes_alignment, std::nothrow));
    if (!p) return nullptr;
    std::memset(p, 0xCD, std::min(size, poisoned));
    return {p, [](std::byte* q) { ::operator delete(q, bytes_alignment); }};
}

} // namespace

std::size_t rounded(std::size_t size) { return (size + granule - 1) / granule * granule; }

device_addresses::device_addresses(std::size_t span) : span_(span)
{
    void* const p = ::mmap(nullptr, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    begin_ = reinterpret_cast<std::uint64_t>(p);
    cursor_ = begin_;
    free_.emplace(begin_, begin_ + span_);
}

device_addresses::device_addresses(device_addresses&& other) noexcept
    : begin_(std::exchange(other.begin_, 0)),
      span_(std::exchange(other.span_, 0)),
      cursor_(other.cursor_),
      free_(std::move(other.free_))
{
}

device_addresses::~device_addresses()
{
    if (span_ > 0) ::munmap(reinterpret_cast<void*>(begin_), span_);
}

// Goes round the whole span before an address comes back, so that a use after free is seen.
std::uint64_t device_addresses::take(std::size_t size)
{
    auto const need = rounded(size) + guard;
    auto const fits = [&](auto const& hole) { return hole.second - hole.first >= need; };
    auto hole = std::find_if(free_.lower_bound(cursor_), free_.end(), fits);
    if (hole == free_.end()) hole = std::find_if(free_.begin(), free_.end(), fits);
    if (hole == free_.end()) return 0;
    auto const [begin, end] = *hole;
    free_.erase(hole);
    if (begin + need < end) free_.emplace(begin + need, end);
    cursor_ = begin + need;
    return begin;
}

void device_addresses::give(std::uint64_t base, std::size_t size)
{
    auto const end = base + rounded(size) + guard;
    auto at = free_.emplace(base, end).first;
    if (auto const next = std::next(at); next != free_.end() && next->first == end) {
        at->second = next->second;
        free_.erase(next);
    }
    if (at == free_.begin()) return;
    auto const before = std::prev(at);
    if (before->second != base) return;
    before->second = at->second;
    free_.erase(at);
}

std::shared_ptr<allocation> address_space::insert(std::shared_ptr<allocation> a)
{
    std::unique_lock const lock(mutex_);
    auto const next = by_base_.lower_bound(a->base);
    if (next != by_base_.end() && next->first < a->end()) return nullptr;
    if (next != by_base_.begin() && std::prev(next)->second->end() > a->base) return nullptr;
    a->id = ++next_id_;
    freed_.erase(a->base);
    by_base_.emplace(a->base, a);
    return a;
}

std::shared_ptr<allocation> address_space::create(device_addresses& addresses, std::size_t size)
{
    auto a = std::make_shared<allocation>();
    a->bytes = make_bytes(size);
    if (!a->bytes) return nullptr;
    a->base = addresses.take(size);
    a->size = size;
    if (a->base == 0) return nullptr;
    return insert(std::move(a));
}

std::shared_ptr<allocation> address_space::adopt(void* memory, std::size_t size,
                                                 std::shared_ptr<std::byte> bytes)
{
    auto a = std::make_shared<allocation>();
    a->base = reinterpret_cast<std::uint64_t>(memory);
    a->size = size;
    a->bytes =
        bytes ? std::move(bytes) : std::shared_ptr<std::byte>(static_cast<std::byte*>(memory), [](auto*) {});
    return insert(std::move(a));
}

void address_space::remove(std::uint64_t base)
{
    std::unique_lock const lock(mutex_);
    if (by_base_.erase(base) > 0) freed_.insert(base);
    last_.reset();
}

void address_space::clear()
{
    std::unique_lock const lock(mutex_);
    by_base_.clear();
    freed_.clear();
    last_.reset();
}

std::shared_ptr<allocation> address_space::find_unlocked(std::uint64_t address) const
{
    auto next = by_base_.upper_bound(address);
    if (next == by_base_.begin()) return nullptr;
    auto const& a = std::prev(next)->second;
    return address < a->end() ? a : nullptr;
}

std::shared_ptr<allocation> address_space::find(std::uint64_t address) const
{
    std::shared_lock const lock(mutex_);
    return find_unlocked(address);
}

std::shared_ptr<allocation> const& address_space::find_again(std::uint64_t address)
{
    if (!last_ || address < last_->base || address >= last_->end()) last_ = find(address);
    return last_;
}

std::shared_ptr<allocation> address_space::find(std::uint64_t address, int device,
                                                std::set<int> const& peers) const
{
    std::shared_lock const lock(mutex_);
    auto a = find_unlocked(address);
    if (!a || !a->ready) return nullptr;
    if (a->on_host() || a->device == device) return a;
    bool const visible = a->pool ? a->pool->access.contains(device) : peers.contains(a->device);
    return visible ? a : nullptr;
}

void address_space::set_access(memory_pool& pool, int device, bool visible)
{
    std::unique_lock const lock(mutex_);
    if (visible) pool.access.insert(device);
    if (!visible) pool.access.erase(device);
}

bool address_space::was_freed(std::uint64_t base) const
{
    std::shared_lock const lock(mutex_);
    return freed_.contains(base);
}

std::vector<std::shared_ptr<allocation>> address_space::all() const
{
    std::shared_lock const lock(mutex_);
    std::vector<std::shared_ptr<allocation>> list;
    list.reserve(by_base_.size());
    for (auto const& [base, a] : by_base_) list.push_back(a);
    return list;
}

memory_view::memory_view(address_space const& space, int device, std::set<int> const& peers)
    : space_(space), device_(device)
{
    if (!peers.empty()) peers_ = peers;
}

allocation const* memory_view::around(std::uint64_t address)
{
    for (auto const& a : known_)
        if (address >= a->base && address < a->end()) return a.get();
    auto a = space_.find(address, device_, peers_);
    if (!a) return nullptr;
    known_.push_back(std::move(a));
    return known_.back().get();
}

std::byte* memory_view::at(std::uint64_t address, std::size_t bytes)
{
    if (last_ < known_.size()) {
        auto const& a = *known_[last_];
        if (address >= a.base && bytes <= a.size && address - a.base <= a.size - bytes)
            return a.bytes.get() + (address - a.base);
    }
    auto const* const a = around(address);
    if (!a || address - a->base > a->size || bytes > a->size - (address - a->base)) return nullptr;
    for (last_ = 0; known_[last_].get() != a;) ++last_;
    return a->bytes.get() + (address - a->base);
}

} // namespace omp_co_sim
