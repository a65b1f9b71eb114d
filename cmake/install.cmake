# Install rules and the package for find_package(omp_co).

if(CMAKE_SKIP_INSTALL_RULES)
    return()
endif()

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(omp_co_package_dir "${CMAKE_INSTALL_DATADIR}/cmake/omp_co")

install(
    TARGETS omp_co
    EXPORT omp_co-targets
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILE_SET details DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    INCLUDES
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT omp_co-targets NAMESPACE omp_co:: DESTINATION "${omp_co_package_dir}")

write_basic_package_version_file("${PROJECT_BINARY_DIR}/omp_co-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/omp_co-config.cmake" "${PROJECT_SOURCE_DIR}/cmake/omp_co_add_kernels.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/omp_co_embed.cmake"
              "${PROJECT_BINARY_DIR}/omp_co-config-version.cmake" DESTINATION "${omp_co_package_dir}")
