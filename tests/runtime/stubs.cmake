# Drivers without a GPU under their real file names, each in a folder of its own: build/<preset>/stubs/<folder>.
if(NOT TARGET tests_runtime)
  return()
endif()

function(hone_stub folder file source)
  add_library(stub_${folder} MODULE ${CMAKE_CURRENT_LIST_DIR}/stubs/${source})
  target_compile_definitions(stub_${folder} PRIVATE ${ARGN})
  target_compile_options(stub_${folder} PRIVATE -Wall -Wextra -Wpedantic -Wshadow)
  target_link_libraries(stub_${folder} PRIVATE Threads::Threads)
  if(HONE_SANITIZE)
    target_compile_options(stub_${folder} PRIVATE -fsanitize=${HONE_SANITIZE})
    target_link_options(stub_${folder} PRIVATE -fsanitize=${HONE_SANITIZE})
  endif()
  set_target_properties(stub_${folder} PROPERTIES C_STANDARD 11 C_EXTENSIONS ON PREFIX "" SUFFIX "" OUTPUT_NAME ${file}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/stubs/${folder})
  add_dependencies(tests_runtime stub_${folder})
endfunction()

hone_stub(cuda libcuda.so.1 stub_gpu.c)
hone_stub(rocm5 libamdhip64.so.5 stub_gpu.c STUB_ROCM=5)
hone_stub(rocm6 libamdhip64.so.6 stub_gpu.c STUB_ROCM=6)
hone_stub(rocm7 libamdhip64.so.7 stub_gpu.c STUB_ROCM=7)
hone_stub(rocm_smi librocm_smi64.so.6 stub_rocm_smi.c)
