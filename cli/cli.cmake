# The program.  It uses libminnow through its public headers, like any other application.
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(EDIT REQUIRED IMPORTED_TARGET libedit)

add_executable(minnow-cli ${CLI_SOURCES})
set_target_properties(minnow-cli PROPERTIES OUTPUT_NAME minnow)
target_include_directories(minnow-cli PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(minnow-cli PRIVATE _GNU_SOURCE)
target_link_libraries(minnow-cli PRIVATE minnow minnow_eval PkgConfig::JANSSON PkgConfig::CURL PkgConfig::EDIT
                      Threads::Threads m)
install(TARGETS minnow-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# Measures the library as an application would see it; bench/*.py compare with others.
add_executable(minnow-bench ${CMAKE_CURRENT_SOURCE_DIR}/bench/bench.c)
target_compile_definitions(minnow-bench PRIVATE _GNU_SOURCE)
target_link_libraries(minnow-bench PRIVATE minnow)
add_executable(minnow-bench-tokenizer ${CMAKE_CURRENT_SOURCE_DIR}/bench/bench_tokenizer.c)
target_compile_definitions(minnow-bench-tokenizer PRIVATE _GNU_SOURCE)
target_link_libraries(minnow-bench-tokenizer PRIVATE minnow)
