# What a stranger needs to build with libminnow: headers, archive, CMake package, pkg-config file.
include(CMakePackageConfigHelpers)

install(TARGETS minnow EXPORT minnow ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The evaluator stays here: it serves the program, and has dependencies of its own.
install(DIRECTORY include/minnow DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} PATTERN eval.h EXCLUDE)
install(EXPORT minnow NAMESPACE minnow:: FILE minnow-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/minnow)

file(WRITE ${CMAKE_BINARY_DIR}/minnow-config.cmake [[
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(PkgConfig)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
include(${CMAKE_CURRENT_LIST_DIR}/minnow-targets.cmake)
]])
write_basic_package_version_file(${CMAKE_BINARY_DIR}/minnow-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/minnow-config.cmake ${CMAKE_BINARY_DIR}/minnow-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/minnow)

configure_file(packaging/minnow.pc.in ${CMAKE_BINARY_DIR}/minnow.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/minnow.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
