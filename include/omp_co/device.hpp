// SPDX-License-Identifier: BSL-1.0
// Devices: handles, and which there are.
#pragma once

#include <omp_co/detail/discovery.hpp>
#include <omp_co/detail/registry.hpp>
#include <omp_co/device_statistics.hpp>
#include <omp_co/error.hpp>

#include <atomic>
#include <boost/system/system_error.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

namespace omp_co {

/// A handle to a device: trivially copyable, comparable, and safe to keep when the device is gone, after which
/// every construct that names it ends with errc::device_lost. Any thread may use it.
class device {
public:
    /// No device: constructs that name it end with errc::device_lost.
    constexpr device() noexcept = default;

    /// OpenMP's device number; -1 for a host::virtual_device and for a device that is gone.
    /// The initial device's is the number of devices.
    int number() const
    {
        if (slot_ == nullptr) return -1;
        if (slot_->initial) {
            detail::registry& all = detail::registry::instance();
            return all.offload_disabled.load() ? 0 : static_cast<int>(all.numbered().size());
        }
        if (detail::registry::instance().forked()) return -1;
        detail::device_lock lock(slot_->mutex);
        return slot_->core != nullptr && slot_->generation == generation_ ? slot_->number : -1;
    }

    backend_kind backend() const noexcept
    {
        backend_kind kind = backend_kind::other;
        with([&](detail::device_core& core) { kind = core.device().kind(); });
        return kind;
    }

    std::string name() const
    {
        std::string text = "no device";
        with([&](detail::device_core& core) { text = core.device().name(); });
        return text;
    }

    /// Whether the host may read and write memory that allocate() gives, between regions that use it.
    bool host_accessible() const noexcept
    {
        bool yes = false;
        with([&](detail::device_core& core) { yes = core.device().traits().host_accessible; });
        return yes;
    }

    /// Whether the byte at `p` is mapped (omp_target_is_present). Always true on the initial device.
    bool is_present(void const* p) const noexcept
    {
        bool found = false;
        with([&](detail::device_core& core) { found = slot_->initial || mapping(core, p) != nullptr; });
        return found && p != nullptr;
    }

    /// The device address of the mapped byte at `p`, null if it is not mapped (omp_get_mapped_ptr; serves as
    /// use_device_ptr) or still waits for memory. Valid while the mapping lasts.
    void* mapped_ptr(void const* p) const noexcept
    {
        char* const host = static_cast<char*>(const_cast<void*>(p));
        void* address = nullptr;
        with([&](detail::device_core& core) {
            if (slot_->initial)
                address = host;
            else if (detail::present_entry* e = mapping(core, p); e != nullptr && e->block != nullptr)
                address = e->block + (host - e->range.begin);
        });
        return address;
    }

    template <class T>
    T* mapped_ptr(T* p) const noexcept
    {
        return static_cast<T*>(mapped_ptr(static_cast<void const*>(p)));
    }

    /// `bytes` bytes of memory on the device (omp_target_alloc), aligned for every type; null if there are none, or no such
    /// device. Any stream may use it at once. May take as long as the driver takes, and other constructs of the device wait meanwhile;
    /// allocate<T>() keeps nobody. Lasts until deallocate() or until the device goes.
    void* allocate(std::size_t bytes) const noexcept
    {
        void* block = nullptr;
        with([&](detail::device_core& core) {
            try {
                block = core.allocate(bytes);
            } catch (std::bad_alloc const&) { // no host memory to remember it: none, then
            }
        });
        return block;
    }

    /// Gives memory of allocate() back (omp_target_free). Regions in flight that name it by is_device_ptr, or use what is
    /// associated with it, keep it until they have ended. Null is ignored; an address that allocate() has not given is
    /// errc::invalid_argument.
    error_code deallocate(void* p) const noexcept
    {
        if (p == nullptr) return {};
        bool known = false;
        bool wanted = false;
        auto const give_back = [&](detail::device_core& core) {
            known = core.deallocate(p);
            wanted = core.somebody_waits_for_memory();
        };
        if (!with(give_back)) return make_error_code(errc::device_lost);
        if (wanted) detail::registry::instance().wake_all();
        return known ? error_code() : make_error_code(errc::invalid_argument);
    }

    /// Makes `bytes` bytes of host memory count as mapped to memory on the device that is there already, until
    /// disassociate(): its reference count is infinite, so that nothing is copied but by `always` and target_update
    /// (omp_target_associate_ptr). errc::invalid_argument if some of it is mapped, or associated otherwise. Meanwhile it is its
    /// host range by which constructs that use the memory are ordered. Memory of allocate() is kept for regions in flight that use
    /// it so; any other must outlast them.
    error_code associate(void const* host, void* on_device, std::size_t bytes) const noexcept
    {
        errc what = errc::device_lost;
        detail::map_item memory;
        memory.host = const_cast<void*>(host);
        memory.bytes = bytes;
        with([&](detail::device_core& core) {
            try {
                what = core.environment().memory().associate({memory.begin(), memory.end()},
                                                             static_cast<char*>(on_device));
            } catch (std::bad_alloc const&) {
                what = errc::out_of_memory;
            }
        });
        return what == errc{} ? error_code() : make_error_code(what);
    }

    /// Ends that (omp_target_disassociate_ptr). errc::invalid_argument if `host` is not where associated memory
    /// begins, or it is held.
    error_code disassociate(void const* host) const noexcept
    {
        bool known = false;
        if (!with([&](detail::device_core& core) { known = core.environment().memory().disassociate(host); }))
            return make_error_code(errc::device_lost);
        return known ? error_code() : make_error_code(errc::invalid_argument);
    }

    device_statistics statistics() const noexcept
    {
        device_statistics copy;
        with([&](detail::device_core& core) { copy = core.statistics(); });
        return copy;
    }

    friend bool operator==(device a, device b) noexcept = default;

    // What the rest of omp_co works with.
    constexpr device(detail::device_slot* slot, std::uint32_t generation) noexcept
        : slot_(slot), generation_(generation)
    {
    }
    constexpr detail::device_slot* slot() const noexcept { return slot_; }
    constexpr std::uint32_t generation() const noexcept { return generation_; }

private:
    template <class F>
    bool with(F f) const
    {
        return slot_ != nullptr && detail::registry::instance().with(*slot_, generation_, f);
    }

    static detail::present_entry* mapping(detail::device_core& core, void const* p) noexcept
    {
        detail::present_entry* const e = core.environment().table().holding(p);
        return e != nullptr && e->live() ? e : nullptr;
    }

    detail::device_slot* slot_ = nullptr;
    std::uint32_t generation_ = 0;
};

namespace detail {

// Numbered devices live until the program exits, so the generation of their slot does not change.
inline device numbered_device(device_slot* slot) noexcept
{
    return {slot, slot == nullptr ? 0U : slot->generation};
}

/// The default device without an exception; no device if the environment makes no sense.
inline device find_default_device()
{
    registry& all = registry::instance();
    device_place const* place = all.default_device.load(std::memory_order_acquire);
    if (place == nullptr && !all.forked()) {
        discover(all);
        place = all.default_device.load(std::memory_order_acquire);
    }
    return place == nullptr ? device() : device(place->slot, place->generation);
}

inline void require_environment()
{
    std::string const fault = environment_fault(registry::instance());
    if (!fault.empty()) throw boost::system::system_error(make_error_code(errc::invalid_argument), fault);
}

} // namespace detail

/// All devices, accelerators first; the position is the number. Not among them: the initial device, whose number
/// is their count, and host::virtual_device. None with OMP_TARGET_OFFLOAD=DISABLED. Throws boost::system::system_error if an environment variable of
/// omp_co has a value that makes no sense.
inline std::vector<device> devices()
{
    detail::registry& all = detail::registry::instance();
    if (!all.forked()) detail::discover(all);
    detail::require_environment();
    std::vector<device> list;
    if (all.offload_disabled.load()) return list;
    for (detail::device_slot* slot : all.numbered()) list.push_back(detail::numbered_device(slot));
    return list;
}

/// What constructs without a device use: set_default_device's, else OMP_DEFAULT_DEVICE's, else the first
/// accelerator, else the host device. With OMP_TARGET_OFFLOAD=DISABLED every construct, whatever it names, runs on the initial
/// device; with MANDATORY there must be another one. Throws like devices().
inline device default_device()
{
    device const d = detail::find_default_device();
    detail::require_environment();
    return d;
}

/// Makes `d` what constructs without a device use. A device that is gone, or none, is errc::no_device.
inline error_code set_default_device(device d)
{
    if (d.slot() == nullptr) return make_error_code(errc::no_device);
    detail::registry& all = detail::registry::instance();
    if (!all.with(*d.slot(), d.generation(), [](detail::device_core&) {}))
        return make_error_code(errc::no_device);
    all.set_default({d.slot(), d.generation()});
    return {};
}

/// The host itself (omp_get_initial_device): kernels run in the call that starts them, nothing is mapped or moved.
inline device initial_device()
{
    detail::registry& all = detail::registry::instance();
    if (all.initial_device.load() == nullptr && !all.forked()) detail::discover(all);
    return detail::numbered_device(all.initial_device.load());
}

} // namespace omp_co
