// SPDX-License-Identifier: BSL-1.0
// The driver's structures as declared by us have the layout of the toolkit's cuda.h: size, and each member's place and
// type.
#include <omp_co/cuda/driver_types.hpp>

#ifdef OMP_CO_TEST_CUDA_INCLUDE

#include "same_abi.hpp"

#include <cstddef>
#include <cuda.h>
#include <type_traits>

namespace {

namespace driver = omp_co::cuda::driver;

} // namespace

template <>
struct same_abi::ours<CUmemLocation> : std::type_identity<driver::memory_location> {
};

namespace {

template <class Theirs, class Ours>
constexpr bool same_member(std::size_t their_place, std::size_t our_place)
{
    return their_place == our_place && same_abi::same<Theirs, Ours>;
}

[[maybe_unused]] constexpr driver::uuid an_uuid{};
[[maybe_unused]] constexpr driver::memory_location a_location{};
[[maybe_unused]] constexpr driver::access_description an_access{};
[[maybe_unused]] constexpr driver::pool_properties a_pool{};
[[maybe_unused]] constexpr driver::copy_2d a_plane_copy{};
[[maybe_unused]] constexpr driver::copy_3d a_box_copy{};

static_assert(sizeof(CUuuid) == sizeof(driver::uuid) && alignof(CUuuid) == alignof(driver::uuid));
static_assert(same_member<decltype(CUuuid::bytes), decltype(an_uuid.bytes)>(offsetof(CUuuid, bytes),
                                                                            offsetof(driver::uuid, bytes)));

static_assert(sizeof(CUmemLocation) == sizeof(driver::memory_location) &&
              alignof(CUmemLocation) == alignof(driver::memory_location));
static_assert(same_member<decltype(CUmemLocation::type), decltype(a_location.type)>(
    offsetof(CUmemLocation, type), offsetof(driver::memory_location, type)));
static_assert(same_member<decltype(CUmemLocation::id), decltype(a_location.id)>(
    offsetof(CUmemLocation, id), offsetof(driver::memory_location, id)));

static_assert(sizeof(CUmemAccessDesc) == sizeof(driver::access_description) &&
              alignof(CUmemAccessDesc) == alignof(driver::access_description));
static_assert(same_member<decltype(CUmemAccessDesc::location), decltype(an_access.location)>(
    offsetof(CUmemAccessDesc, location), offsetof(driver::access_description, location)));
static_assert(same_member<decltype(CUmemAccessDesc::flags), decltype(an_access.flags)>(
    offsetof(CUmemAccessDesc, flags), offsetof(driver::access_description, flags)));

static_assert(sizeof(CUmemPoolProps) == sizeof(driver::pool_properties) &&
              alignof(CUmemPoolProps) == alignof(driver::pool_properties));
static_assert(same_member<decltype(CUmemPoolProps::allocType), decltype(a_pool.type)>(
    offsetof(CUmemPoolProps, allocType), offsetof(driver::pool_properties, type)));
static_assert(same_member<decltype(CUmemPoolProps::handleTypes), decltype(a_pool.handles)>(
    offsetof(CUmemPoolProps, handleTypes), offsetof(driver::pool_properties, handles)));
static_assert(same_member<decltype(CUmemPoolProps::location), decltype(a_pool.location)>(
    offsetof(CUmemPoolProps, location), offsetof(driver::pool_properties, location)));
static_assert(
    same_member<decltype(CUmemPoolProps::win32SecurityAttributes), decltype(a_pool.security_attributes)>(
        offsetof(CUmemPoolProps, win32SecurityAttributes),
        offsetof(driver::pool_properties, security_attributes)));
static_assert(same_member<decltype(CUmemPoolProps::maxSize), decltype(a_pool.max_size)>(
    offsetof(CUmemPoolProps, maxSize), offsetof(driver::pool_properties, max_size)));
static_assert(same_member<decltype(CUmemPoolProps::usage), decltype(a_pool.usage)>(
    offsetof(CUmemPoolProps, usage), offsetof(driver::pool_properties, usage)));
static_assert(same_member<decltype(CUmemPoolProps::reserved), decltype(a_pool.reserved)>(
    offsetof(CUmemPoolProps, reserved), offsetof(driver::pool_properties, reserved)));

static_assert(sizeof(CUDA_MEMCPY2D) == sizeof(driver::copy_2d) &&
              alignof(CUDA_MEMCPY2D) == alignof(driver::copy_2d));
static_assert(same_member<decltype(CUDA_MEMCPY2D::srcXInBytes), decltype(a_plane_copy.from.x_in_bytes)>(
    offsetof(CUDA_MEMCPY2D, srcXInBytes), offsetof(driver::copy_2d, from.x_in_bytes)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::srcY), decltype(a_plane_copy.from.y)>(
    offsetof(CUDA_MEMCPY2D, srcY), offsetof(driver::copy_2d, from.y)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::srcMemoryType), decltype(a_plane_copy.from.type)>(
    offsetof(CUDA_MEMCPY2D, srcMemoryType), offsetof(driver::copy_2d, from.type)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::srcHost), decltype(a_plane_copy.from.host)>(
    offsetof(CUDA_MEMCPY2D, srcHost), offsetof(driver::copy_2d, from.host)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::srcDevice), decltype(a_plane_copy.from.address)>(
    offsetof(CUDA_MEMCPY2D, srcDevice), offsetof(driver::copy_2d, from.address)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::srcArray), decltype(a_plane_copy.from.array)>(
    offsetof(CUDA_MEMCPY2D, srcArray), offsetof(driver::copy_2d, from.array)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::srcPitch), decltype(a_plane_copy.from.pitch)>(
    offsetof(CUDA_MEMCPY2D, srcPitch), offsetof(driver::copy_2d, from.pitch)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::dstXInBytes), decltype(a_plane_copy.to.x_in_bytes)>(
    offsetof(CUDA_MEMCPY2D, dstXInBytes), offsetof(driver::copy_2d, to.x_in_bytes)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::dstY), decltype(a_plane_copy.to.y)>(
    offsetof(CUDA_MEMCPY2D, dstY), offsetof(driver::copy_2d, to.y)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::dstMemoryType), decltype(a_plane_copy.to.type)>(
    offsetof(CUDA_MEMCPY2D, dstMemoryType), offsetof(driver::copy_2d, to.type)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::dstHost), decltype(a_plane_copy.to.host)>(
    offsetof(CUDA_MEMCPY2D, dstHost), offsetof(driver::copy_2d, to.host)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::dstDevice), decltype(a_plane_copy.to.address)>(
    offsetof(CUDA_MEMCPY2D, dstDevice), offsetof(driver::copy_2d, to.address)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::dstArray), decltype(a_plane_copy.to.array)>(
    offsetof(CUDA_MEMCPY2D, dstArray), offsetof(driver::copy_2d, to.array)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::dstPitch), decltype(a_plane_copy.to.pitch)>(
    offsetof(CUDA_MEMCPY2D, dstPitch), offsetof(driver::copy_2d, to.pitch)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::WidthInBytes), decltype(a_plane_copy.width_in_bytes)>(
    offsetof(CUDA_MEMCPY2D, WidthInBytes), offsetof(driver::copy_2d, width_in_bytes)));
static_assert(same_member<decltype(CUDA_MEMCPY2D::Height), decltype(a_plane_copy.height)>(
    offsetof(CUDA_MEMCPY2D, Height), offsetof(driver::copy_2d, height)));

static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(driver::copy_3d) &&
              alignof(CUDA_MEMCPY3D) == alignof(driver::copy_3d));
static_assert(same_member<decltype(CUDA_MEMCPY3D::srcXInBytes), decltype(a_box_copy.from.x_in_bytes)>(
    offsetof(CUDA_MEMCPY3D, srcXInBytes), offsetof(driver::copy_3d, from.x_in_bytes)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::srcY), decltype(a_box_copy.from.y)>(
    offsetof(CUDA_MEMCPY3D, srcY), offsetof(driver::copy_3d, from.y)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::srcZ), decltype(a_box_copy.from.z)>(
    offsetof(CUDA_MEMCPY3D, srcZ), offsetof(driver::copy_3d, from.z)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::srcLOD), decltype(a_box_copy.from.level)>(
    offsetof(CUDA_MEMCPY3D, srcLOD), offsetof(driver::copy_3d, from.level)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::srcMemoryType), decltype(a_box_copy.from.type)>(
    offsetof(CUDA_MEMCPY3D, srcMemoryType), offsetof(driver::copy_3d, from.type)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::srcHost), decltype(a_box_copy.from.host)>(
    offsetof(CUDA_MEMCPY3D, srcHost), offsetof(driver::copy_3d, from.host)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::srcDevice), decltype(a_box_copy.from.address)>(
    offsetof(CUDA_MEMCPY3D, srcDevice), offsetof(driver::copy_3d, from.address)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::srcArray), decltype(a_box_copy.from.array)>(
    offsetof(CUDA_MEMCPY3D, srcArray), offsetof(driver::copy_3d, from.array)));
static_assert(offsetof(CUDA_MEMCPY3D, reserved0) == offsetof(driver::copy_3d, from.owner));
static_assert(same_member<decltype(CUDA_MEMCPY3D::srcPitch), decltype(a_box_copy.from.pitch)>(
    offsetof(CUDA_MEMCPY3D, srcPitch), offsetof(driver::copy_3d, from.pitch)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::srcHeight), decltype(a_box_copy.from.height)>(
    offsetof(CUDA_MEMCPY3D, srcHeight), offsetof(driver::copy_3d, from.height)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::dstXInBytes), decltype(a_box_copy.to.x_in_bytes)>(
    offsetof(CUDA_MEMCPY3D, dstXInBytes), offsetof(driver::copy_3d, to.x_in_bytes)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::dstY), decltype(a_box_copy.to.y)>(
    offsetof(CUDA_MEMCPY3D, dstY), offsetof(driver::copy_3d, to.y)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::dstZ), decltype(a_box_copy.to.z)>(
    offsetof(CUDA_MEMCPY3D, dstZ), offsetof(driver::copy_3d, to.z)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::dstLOD), decltype(a_box_copy.to.level)>(
    offsetof(CUDA_MEMCPY3D, dstLOD), offsetof(driver::copy_3d, to.level)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::dstMemoryType), decltype(a_box_copy.to.type)>(
    offsetof(CUDA_MEMCPY3D, dstMemoryType), offsetof(driver::copy_3d, to.type)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::dstHost), decltype(a_box_copy.to.host)>(
    offsetof(CUDA_MEMCPY3D, dstHost), offsetof(driver::copy_3d, to.host)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::dstDevice), decltype(a_box_copy.to.address)>(
    offsetof(CUDA_MEMCPY3D, dstDevice), offsetof(driver::copy_3d, to.address)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::dstArray), decltype(a_box_copy.to.array)>(
    offsetof(CUDA_MEMCPY3D, dstArray), offsetof(driver::copy_3d, to.array)));
static_assert(offsetof(CUDA_MEMCPY3D, reserved1) == offsetof(driver::copy_3d, to.owner));
static_assert(same_member<decltype(CUDA_MEMCPY3D::dstPitch), decltype(a_box_copy.to.pitch)>(
    offsetof(CUDA_MEMCPY3D, dstPitch), offsetof(driver::copy_3d, to.pitch)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::dstHeight), decltype(a_box_copy.to.height)>(
    offsetof(CUDA_MEMCPY3D, dstHeight), offsetof(driver::copy_3d, to.height)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::WidthInBytes), decltype(a_box_copy.width_in_bytes)>(
    offsetof(CUDA_MEMCPY3D, WidthInBytes), offsetof(driver::copy_3d, width_in_bytes)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::Height), decltype(a_box_copy.height)>(
    offsetof(CUDA_MEMCPY3D, Height), offsetof(driver::copy_3d, height)));
static_assert(same_member<decltype(CUDA_MEMCPY3D::Depth), decltype(a_box_copy.depth)>(
    offsetof(CUDA_MEMCPY3D, Depth), offsetof(driver::copy_3d, depth)));

static_assert(sizeof(CUDA_MEMCPY3D_PEER) == sizeof(driver::copy_3d) &&
              alignof(CUDA_MEMCPY3D_PEER) == alignof(driver::copy_3d));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::srcXInBytes), decltype(a_box_copy.from.x_in_bytes)>(
    offsetof(CUDA_MEMCPY3D_PEER, srcXInBytes), offsetof(driver::copy_3d, from.x_in_bytes)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::srcY), decltype(a_box_copy.from.y)>(
    offsetof(CUDA_MEMCPY3D_PEER, srcY), offsetof(driver::copy_3d, from.y)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::srcZ), decltype(a_box_copy.from.z)>(
    offsetof(CUDA_MEMCPY3D_PEER, srcZ), offsetof(driver::copy_3d, from.z)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::srcLOD), decltype(a_box_copy.from.level)>(
    offsetof(CUDA_MEMCPY3D_PEER, srcLOD), offsetof(driver::copy_3d, from.level)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::srcMemoryType), decltype(a_box_copy.from.type)>(
    offsetof(CUDA_MEMCPY3D_PEER, srcMemoryType), offsetof(driver::copy_3d, from.type)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::srcHost), decltype(a_box_copy.from.host)>(
    offsetof(CUDA_MEMCPY3D_PEER, srcHost), offsetof(driver::copy_3d, from.host)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::srcDevice), decltype(a_box_copy.from.address)>(
    offsetof(CUDA_MEMCPY3D_PEER, srcDevice), offsetof(driver::copy_3d, from.address)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::srcArray), decltype(a_box_copy.from.array)>(
    offsetof(CUDA_MEMCPY3D_PEER, srcArray), offsetof(driver::copy_3d, from.array)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::srcContext), decltype(a_box_copy.from.owner)>(
    offsetof(CUDA_MEMCPY3D_PEER, srcContext), offsetof(driver::copy_3d, from.owner)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::srcPitch), decltype(a_box_copy.from.pitch)>(
    offsetof(CUDA_MEMCPY3D_PEER, srcPitch), offsetof(driver::copy_3d, from.pitch)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::srcHeight), decltype(a_box_copy.from.height)>(
    offsetof(CUDA_MEMCPY3D_PEER, srcHeight), offsetof(driver::copy_3d, from.height)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::dstXInBytes), decltype(a_box_copy.to.x_in_bytes)>(
    offsetof(CUDA_MEMCPY3D_PEER, dstXInBytes), offsetof(driver::copy_3d, to.x_in_bytes)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::dstY), decltype(a_box_copy.to.y)>(
    offsetof(CUDA_MEMCPY3D_PEER, dstY), offsetof(driver::copy_3d, to.y)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::dstZ), decltype(a_box_copy.to.z)>(
    offsetof(CUDA_MEMCPY3D_PEER, dstZ), offsetof(driver::copy_3d, to.z)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::dstLOD), decltype(a_box_copy.to.level)>(
    offsetof(CUDA_MEMCPY3D_PEER, dstLOD), offsetof(driver::copy_3d, to.level)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::dstMemoryType), decltype(a_box_copy.to.type)>(
    offsetof(CUDA_MEMCPY3D_PEER, dstMemoryType), offsetof(driver::copy_3d, to.type)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::dstHost), decltype(a_box_copy.to.host)>(
    offsetof(CUDA_MEMCPY3D_PEER, dstHost), offsetof(driver::copy_3d, to.host)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::dstDevice), decltype(a_box_copy.to.address)>(
    offsetof(CUDA_MEMCPY3D_PEER, dstDevice), offsetof(driver::copy_3d, to.address)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::dstArray), decltype(a_box_copy.to.array)>(
    offsetof(CUDA_MEMCPY3D_PEER, dstArray), offsetof(driver::copy_3d, to.array)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::dstContext), decltype(a_box_copy.to.owner)>(
    offsetof(CUDA_MEMCPY3D_PEER, dstContext), offsetof(driver::copy_3d, to.owner)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::dstPitch), decltype(a_box_copy.to.pitch)>(
    offsetof(CUDA_MEMCPY3D_PEER, dstPitch), offsetof(driver::copy_3d, to.pitch)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::dstHeight), decltype(a_box_copy.to.height)>(
    offsetof(CUDA_MEMCPY3D_PEER, dstHeight), offsetof(driver::copy_3d, to.height)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::WidthInBytes), decltype(a_box_copy.width_in_bytes)>(
    offsetof(CUDA_MEMCPY3D_PEER, WidthInBytes), offsetof(driver::copy_3d, width_in_bytes)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::Height), decltype(a_box_copy.height)>(
    offsetof(CUDA_MEMCPY3D_PEER, Height), offsetof(driver::copy_3d, height)));
static_assert(same_member<decltype(CUDA_MEMCPY3D_PEER::Depth), decltype(a_box_copy.depth)>(
    offsetof(CUDA_MEMCPY3D_PEER, Depth), offsetof(driver::copy_3d, depth)));

} // namespace

#endif
