// A variant: a name for a mix.
#include "examples/own_parts/parts.hpp"

using namespace aurora;

Variant fair() {
  return {"fair-n",
          "everything that this example brings",
          {"encoder.kind=random-projection", "descriptor.dimension=n",
           "container.kind=nearest-wins", "selection.kind=few-children"}};
}
