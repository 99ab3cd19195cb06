// Element types, which the public interface declares.
#pragma once

#include "hone/element_type.hpp"
