// Runs an exported program in MicroPython for a comparison, as run.py does in Python:
//   node run.mjs MICROPYTHON.MJS CONTROLLER.PY HIDDEN NUMBERS
import { readFileSync, readSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [library, program, hidden, numbers] = process.argv.slice(2);
const { loadMicroPython } = await import(pathToFileURL(library));
const micropython = await loadMicroPython({ heapsize: 64 * 1024 * 1024 });
micropython.runPython(readFileSync(program, "utf8"));
// Frames pass as hexadecimal texts: one value for each frame instead of a proxy for each number.
micropython.runPython(`
from array import array
from binascii import hexlify, unhexlify
_robots = [Controller(number) for number in (${numbers},)]
_width = INPUTS + ${hidden}
def _answer(frame):
    values, wheels = array("d", unhexlify(frame)), array("d")
    for k, robot in enumerate(_robots):
        begin = k * _width
        inputs = list(values[begin:begin + INPUTS])
        if ${hidden}:
            robot.hidden = list(values[begin + INPUTS:begin + INPUTS + len(robot.hidden)])
        wheels.extend(array("d", robot.step(inputs)))
    return hexlify(bytes(wheels)).decode()
`);
const answer = micropython.globals.get("_answer");
const size = 8 * micropython.globals.get("_width") * numbers.split(",").length;
const frame = Buffer.alloc(size);

function read() {
  let filled = 0;
  while (filled < size) {
    const count = readSync(0, frame, filled, size - filled, null);
    if (count === 0) return false;
    filled += count;
  }
  return true;
}

while (read()) writeSync(1, Buffer.from(answer(frame.toString("hex")), "hex"));
