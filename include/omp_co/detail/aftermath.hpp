// SPDX-License-Identifier: BSL-1.0
// What is to be done once a lock is given up under which regions moved along.
#pragma once

#include <omp_co/detail/device_slot.hpp>
#include <omp_co/detail/region.hpp>

#include <algorithm>
#include <boost/container/small_vector.hpp>

namespace omp_co::detail {

struct aftermath {
    region_list done;                                       ///< go to their owners
    region_list released;                                   ///< were deferred, and are to be dispatched
    boost::container::small_vector<device_slot*, 16> kicks; ///< devices whose streams may go on

    void kick(device_slot& slot)
    {
        if (std::find(kicks.begin(), kicks.end(), &slot) == kicks.end()) kicks.push_back(&slot);
    }
};

} // namespace omp_co::detail
