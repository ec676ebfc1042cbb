# mncheck: every kernel of every tier of this processor against the scalar specification.
file(GLOB CHECK_SOURCES CONFIGURE_DEPENDS tests/check/*.c)
add_executable(mncheck ${CHECK_SOURCES})
target_include_directories(mncheck PRIVATE src tests/check)
target_compile_definitions(mncheck PRIVATE _GNU_SOURCE)
target_link_libraries(mncheck PRIVATE minnow m)
set_target_properties(mncheck PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME mncheck COMMAND mncheck)
set_tests_properties(mncheck PROPERTIES TIMEOUT 300 LABELS check)
