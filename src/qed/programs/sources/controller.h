/* Controllers of a robot, in C99; contract.json tells what goes in and out.
 * They allocate nothing; in single precision they need tanhf, in whole numbers no library at all. */
#ifndef CONTROLLER_H
#define CONTROLLER_H

#include <stdint.h>

#include "networks.h"

/* In single precision: inputs and wheels -1 to 1. */
struct controller {
  int number;
  float hidden[CONTROLLER_MOST_HIDDEN];
};
/* Begin anew with one of the controllers (0 if there is one). */
void controller_reset(struct controller *c, int number);
/* Set wheels[0] (left) and wheels[1] (right) for what is sensed in this cycle. */
void controller_step(struct controller *c, const float inputs[CONTROLLER_INPUTS], float wheels[2]);

/* The same in whole numbers: inputs and wheels -4096 to 4096. */
struct fixed_controller {
  int number;
  int16_t hidden[CONTROLLER_MOST_HIDDEN];
};
void fixed_controller_reset(struct fixed_controller *c, int number);
void fixed_controller_step(
  struct fixed_controller *c, const int16_t inputs[CONTROLLER_INPUTS], int16_t wheels[2]);

#endif
