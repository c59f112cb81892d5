#include <cstdio>

#include "mlopt_build.h"

int main() { std::puts("mlopt " MLOPT_VERSION); }
