// The peer of ../range_triad.cpp: a[i] = b[i] + s * c[i] over 64 MiB arrays with OpenMP's `parallel for`.
// SPDX-License-Identifier: BSL-1.0
//
// Build: g++ -O2 -fopenmp openmp_triad.cpp -o openmp_triad
// Use:   openmp_triad [threads] [repetitions]       prints JSON lines; exits 1 when a result is wrong
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <vector>

int main(int argc, char** argv)
{
    constexpr std::size_t n = (std::size_t(64) << 20) / sizeof(double);
    int threads = argc > 1 ? std::atoi(argv[1]) : omp_get_max_threads();
    int repetitions = argc > 2 ? std::atoi(argv[2]) : 20;
    if (threads < 1 || repetitions < 1) {
        std::fputs("use: openmp_triad [threads] [repetitions]\n", stderr);
        return 2;
    }
    std::vector<double> a(n, 0.0), b(n, 1.0), c(n, 2.0);
    double *pa = a.data(), *pb = b.data(), *pc = c.data();
    std::vector<double> ms;
    for (int r = 0; r <= repetitions; ++r) {
        double s = r;
        auto begin = std::chrono::steady_clock::now();
#pragma omp parallel for num_threads(threads) schedule(static)
        for (std::size_t i = 0; i < n; ++i) pa[i] = pb[i] + s * pc[i];
        auto end = std::chrono::steady_clock::now();
        if (r > 0) // the first one starts the threads
            ms.push_back(std::chrono::duration<double, std::milli>(end - begin).count());
    }
    for (double v : a)
        if (v != 1.0 + 2.0 * repetitions) {
            std::fputs("openmp_triad: wrong result\n", stderr);
            return 1;
        }
    std::sort(ms.begin(), ms.end());
    std::printf("{\"name\":\"triad_openmp\",\"value\":%.4f,\"unit\":\"ms\"}\n", ms[ms.size() / 2]);
    std::printf("{\"name\":\"triad_openmp.best\",\"value\":%.4f,\"unit\":\"ms\"}\n", ms.front());
}
