/* Runs exported controllers for a comparison, as run.py does in Python: run HIDDEN NUMBERS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller.h"

#ifdef FIXED
typedef struct fixed_controller state;
typedef int16_t value;
#define RESET fixed_controller_reset
#define STEP fixed_controller_step
#define IN(x) ((value)((x) * 4096.0 + ((x) < 0.0 ? -0.5 : 0.5)))
#define OUT(x) ((x) / 4096.0)
#else
typedef struct controller state;
typedef float value;
#define RESET controller_reset
#define STEP controller_step
#define IN(x) ((value)(x))
#define OUT(x) ((double)(x))
#endif

int main(int count, char **words)
{
  int robots = 0, k, j;
  const int hidden = count > 2 ? atoi(words[1]) : 0, width = CONTROLLER_INPUTS + hidden;
  state *all = malloc(sizeof(state) * strlen(words[2]));
  double *row = malloc(sizeof(double) * (size_t)width);
  char *word;
  for (word = strtok(words[2], ","); word; word = strtok(NULL, ","))
    RESET(&all[robots++], atoi(word));
  for (;;) {
    for (k = 0; k < robots; k++) {
      value inputs[CONTROLLER_INPUTS], wheels[2];
      double out[2];
      if (fread(row, sizeof(double), (size_t)width, stdin) < (size_t)width) return 0;
      for (j = 0; j < CONTROLLER_INPUTS; j++) inputs[j] = IN(row[j]);
      for (j = 0; j < hidden; j++) all[k].hidden[j] = IN(row[CONTROLLER_INPUTS + j]);
      STEP(&all[k], inputs, wheels);
      for (j = 0; j < 2; j++) out[j] = OUT(wheels[j]);
      fwrite(out, sizeof(double), 2, stdout);
    }
    fflush(stdout);
  }
}
