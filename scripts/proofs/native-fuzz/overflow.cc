// An addon with a fault: writes one byte behind a block, which the address sanitiser must report.
#include <node_api.h>

#include <cstdlib>

NAPI_MODULE_INIT() {
  (void)env;
  // Not known to the compiler, which would report it itself.
  volatile size_t size = 8;
  volatile char* block = static_cast<char*>(malloc(size));
  if (block != nullptr) block[size] = 1;
  free(const_cast<char*>(block));
  return exports;
}
