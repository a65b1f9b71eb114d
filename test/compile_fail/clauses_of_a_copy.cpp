// SPDX-License-Identifier: BSL-1.0
// Copies between given addresses take depend clauses, name() and explain(); an event that nobody can fulfil is no event.
#include <omp_co/omp_co.hpp>

#include <vector>

void motion_clause(omp_co::device_buffer<int>& a, std::vector<int>& x)
{
    (void)omp_co::target_memcpy(a, x, omp_co::to(x));
}

void condition(omp_co::device_buffer<int>& a) { (void)omp_co::target_memset(a, 0, omp_co::if_(false)); }

void data_clause_of_a_task(std::vector<int>& x)
{
    (void)omp_co::host_task([] {}, omp_co::to(x));
}

auto temporary_event() { return omp_co::taskwait(omp_co::detach(omp_co::external_event())); }

// expect: error: static assertion failed.*omp_co: the clauses of target_memcpy, target_memcpy_rect and target_memset are depend_in\(\) and its kin, name\(\) and explain\(\)
// expect: clauses_of_a_copy\.cpp:9:
// expect: clauses_of_a_copy\.cpp:12:
// expect: error: static assertion failed.*omp_co: host_task takes a function, and the clauses
// expect: clauses_of_a_copy\.cpp:16:
// expect: error: .* deleted function
// expect: clauses_of_a_copy\.cpp:19:
