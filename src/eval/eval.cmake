# The evaluator, a library of its own: an app does not link it.
pkg_check_modules(JANSSON IMPORTED_TARGET jansson)
if(JANSSON_FOUND)
  # Task definitions are data files; the library carries them as text.
  file(GLOB TASKS CONFIGURE_DEPENDS share/tasks/*.json)
  set(TASKS_C ${CMAKE_BINARY_DIR}/generated/tasks.c)
  add_custom_command(OUTPUT ${TASKS_C}
                     COMMAND ${CMAKE_COMMAND} "-DOUT=${TASKS_C}" "-DTASKS=${TASKS}"
                             -P ${CMAKE_CURRENT_SOURCE_DIR}/tools/embed_tasks.cmake
                     DEPENDS ${TASKS} tools/embed_tasks.cmake VERBATIM)
  file(GLOB EVAL_SOURCES CONFIGURE_DEPENDS src/eval/*.c)
  add_library(minnow_eval STATIC ${EVAL_SOURCES} ${TASKS_C})
  target_include_directories(minnow_eval PRIVATE src)
  target_compile_definitions(minnow_eval PRIVATE _GNU_SOURCE)
  target_link_libraries(minnow_eval PUBLIC minnow PRIVATE minnow_data PkgConfig::JANSSON m)
  set_target_properties(minnow_eval PROPERTIES C_VISIBILITY_PRESET hidden
                        POSITION_INDEPENDENT_CODE ON)
endif()
