# Each tests/fuzz/fuzz_X.c is a test that replays tests/fuzz/corpus/X; with -DMINNOW_FUZZ=ON and
# clang also a libFuzzer program, tests/fuzz_X, over a copy of the library built for it.
file(GLOB FUZZ_SOURCES CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)

if(MINNOW_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "MINNOW_FUZZ needs clang: cmake -DCMAKE_C_COMPILER=clang")
  endif()
  set(FUZZ_FLAGS -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  add_library(minnow_fuzz STATIC EXCLUDE_FROM_ALL ${MINNOW_SOURCES})
  target_include_directories(minnow_fuzz PUBLIC include src)
  target_compile_definitions(minnow_fuzz PRIVATE _GNU_SOURCE)
  target_compile_options(minnow_fuzz PRIVATE ${FUZZ_FLAGS}
                         -fsanitize=fuzzer-no-link,address,undefined)
  target_link_libraries(minnow_fuzz PRIVATE PkgConfig::UTF8PROC Threads::Threads m)
endif()

if(NOT TARGET minnow_eval)
  list(REMOVE_ITEM FUZZ_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/tests/fuzz/fuzz_records.c)
elseif(MINNOW_FUZZ)
  target_sources(minnow_fuzz PRIVATE src/eval/record.c)
  target_link_libraries(minnow_fuzz PUBLIC PkgConfig::JANSSON)
endif()

foreach(source ${FUZZ_SOURCES})
  get_filename_component(fuzzer ${source} NAME_WE)
  string(REPLACE fuzz_ "" name ${fuzzer})

  add_executable(replay_${name} ${source} tests/fuzz/replay.c)
  target_include_directories(replay_${name} PRIVATE src)
  target_compile_definitions(replay_${name} PRIVATE _GNU_SOURCE)
  target_link_libraries(replay_${name} PRIVATE minnow)
  set_target_properties(replay_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME fuzz_${name}
           COMMAND replay_${name} ${CMAKE_CURRENT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  set_tests_properties(fuzz_${name} PROPERTIES TIMEOUT 60 LABELS fuzz)

  if(MINNOW_FUZZ)
    add_executable(${fuzzer} ${source})
    target_compile_definitions(${fuzzer} PRIVATE _GNU_SOURCE)
    target_compile_options(${fuzzer} PRIVATE ${FUZZ_FLAGS} -fsanitize=fuzzer,address,undefined)
    target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer,address,undefined)
    target_link_libraries(${fuzzer} PRIVATE minnow_fuzz)
    set_target_properties(${fuzzer} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  endif()
endforeach()

if(TARGET replay_records)
  target_link_libraries(replay_records PRIVATE minnow_eval PkgConfig::JANSSON)
endif()
