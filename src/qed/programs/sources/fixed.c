/* In whole numbers, 4096 for 1.  No product, sum or shift overflows 32 bits for any inputs from
 * -4096 to 4096: qed export has proven it, neuron by neuron, before it wrote networks.h. */
#define CONTROLLER_DATA 2
#include "controller.h"

/* Return floor(x / 2^places), also where >> of a negative number does something else. */
static int32_t shifted(int32_t x, int places)
{
  return x >= 0 ? x >> places : -((-x - 1) >> places) - 1;
}

/* Return 4096 tanh(x / 4096), between points of a table. */
static int16_t squashed(int32_t x)
{
  const int32_t size = x < 0 ? -x : x, kept = size > 16383 ? 16383 : size;
  const int32_t k = kept >> 9, part = kept & 511;
  const int32_t y = TANH[k] + (TANH[k + 1] - TANH[k]) * part / 512;
  return (int16_t)(x < 0 ? -y : y);
}

void fixed_controller_reset(struct fixed_controller *c, int number)
{
  int k;
  c->number = number;
  for (k = 0; k < CONTROLLER_MOST_HIDDEN; k++) c->hidden[k] = 0;
}

void fixed_controller_step(
  struct fixed_controller *c, const int16_t inputs[CONTROLLER_INPUTS], int16_t wheels[2])
{
  int16_t hidden[CONTROLLER_MOST_HIDDEN] = {0};
  const int first = FIRST_NEURON[c->number], neurons = FIRST_NEURON[c->number + 1] - first;
  int u, e;
  for (u = 0; u < neurons; u++) {
    int32_t sum = (int32_t)FIXED_BIAS[first + u] * 4096;
    int16_t value;
    for (e = FIRST_LINK[first + u]; e < FIRST_LINK[first + u + 1]; e++) {
      const int source = SOURCE[e];
      sum += (int32_t)FIXED_WEIGHT[e]
        * (source < CONTROLLER_INPUTS ? inputs[source] : c->hidden[source - CONTROLLER_INPUTS]);
    }
    value = squashed(shifted(sum, SHIFT[first + u]));
    if (u < 2) wheels[u] = value;
    else hidden[u - 2] = value;
  }
  for (u = 2; u < neurons; u++) c->hidden[u - 2] = hidden[u - 2];
}
