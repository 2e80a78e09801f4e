/* In single precision: value = tanh(5 * weighted sum + bias), all neurons at once. */
#include <math.h>

#define CONTROLLER_DATA 1
#include "controller.h"

void controller_reset(struct controller *c, int number)
{
  int k;
  c->number = number;
  for (k = 0; k < CONTROLLER_MOST_HIDDEN; k++) c->hidden[k] = 0.0f;
}

void controller_step(struct controller *c, const float inputs[CONTROLLER_INPUTS], float wheels[2])
{
  float hidden[CONTROLLER_MOST_HIDDEN] = {0.0f};
  const int first = FIRST_NEURON[c->number], neurons = FIRST_NEURON[c->number + 1] - first;
  int u, e;
  for (u = 0; u < neurons; u++) {
    float sum = 0.0f, value;
    for (e = FIRST_LINK[first + u]; e < FIRST_LINK[first + u + 1]; e++) {
      const int source = SOURCE[e];
      sum += WEIGHT[e]
        * (source < CONTROLLER_INPUTS ? inputs[source] : c->hidden[source - CONTROLLER_INPUTS]);
    }
    value = tanhf(5.0f * sum + BIAS[first + u]);
    if (u < 2) wheels[u] = value;
    else hidden[u - 2] = value;
  }
  for (u = 2; u < neurons; u++) c->hidden[u - 2] = hidden[u - 2];
}
