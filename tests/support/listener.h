#pragma once
#define CATCH_CONFIG_EXTERNAL_INTERFACES  // before Catch2 2, which has listeners only with it
#include "tests/support/catch.h"

namespace mlopt::test {

/// What hears of a run of the tests, to be given to CATCH_REGISTER_LISTENER.
#if CATCH_VERSION_MAJOR == 2
using Listener = Catch::TestEventListenerBase;
#else
using Listener = Catch::EventListenerBase;
#endif

}  // namespace mlopt::test
