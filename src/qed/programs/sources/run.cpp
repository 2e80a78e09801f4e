// Compiles programs with Aseba's own compiler and runs them in its virtual machine, as on a Thymio II:
//   run size PROGRAM ...               words of byte-code and variables of each program
//   run HIDDEN SPEED HEARD cones|messages NUMBERS PROGRAM ...   frames for a comparison, as run.py has them
#include <cstdint>
#include <cstdlib>
#include <cmath>
#include <fstream>
#include <iostream>
#include <locale>
#include <sstream>
#include <string>
#include <vector>

#include "common/consts.h"
#include "compiler/compiler.h"
#include "vm/natives.h"
#include "vm/vm.h"

namespace {

const unsigned WORDS = 1534, VARIABLES = 512, STACK = 32;
const int FULL_SCALE = 4500, ONE = 4096;

struct Named { const wchar_t* name; unsigned size; };
const Named VARIABLES_OF_A_THYMIO[] = {
  {L"_id", 1}, {L"event.source", 1}, {L"event.args", 32}, {L"_fwversion", 2}, {L"_productId", 1},
  {L"buttons._raw", 5}, {L"button.backward", 1}, {L"button.left", 1}, {L"button.center", 1},
  {L"button.forward", 1}, {L"button.right", 1}, {L"buttons._mean", 5}, {L"buttons._noise", 5},
  {L"prox.horizontal", 7}, {L"prox.comm.rx._payloads", 7}, {L"prox.comm.rx._intensities", 7},
  {L"prox.comm.rx", 1}, {L"prox.comm.tx", 1}, {L"prox.ground.ambiant", 2},
  {L"prox.ground.reflected", 2}, {L"prox.ground.delta", 2}, {L"motor.left.target", 1},
  {L"motor.right.target", 1}, {L"_vbat", 2}, {L"_imot", 2}, {L"motor.left.speed", 1},
  {L"motor.right.speed", 1}, {L"motor.left.pwm", 1}, {L"motor.right.pwm", 1},
  {L"_integrator", 2}, {L"acc", 3}, {L"leds.top", 3}, {L"leds.bottom.left", 3},
  {L"leds.bottom.right", 3}, {L"leds.circle", 8}, {L"temperature", 1}, {L"rc5.address", 1},
  {L"rc5.command", 1}, {L"mic.intensity", 1}, {L"mic.threshold", 1}, {L"mic._mean", 1},
  {L"timer.period", 2}, {L"acc._tap", 1}, {L"sd.present", 1}};
const wchar_t* const EVENTS[] = {
  L"button.backward", L"button.left", L"button.center", L"button.forward", L"button.right",
  L"buttons", L"prox", L"prox.comm", L"tap", L"acc", L"mic", L"sound.finished", L"temperature",
  L"rc5", L"motor", L"timer0", L"timer1"};

// Of a Thymio's own natives that which sends messages: here it has nothing to do.
const AsebaNativeFunctionDescription ENABLE = {"prox.comm.enable", "", {{1, "state"}, {0, nullptr}}};
void enable(AsebaVMState* vm) { AsebaNativePopArg(vm); }

struct Native { const AsebaNativeFunctionDescription* is; AsebaNativeFunctionPointer run; };
const Native NATIVES[] = {
  {&AsebaNativeDescription_veccopy, AsebaNative_veccopy},
  {&AsebaNativeDescription_vecfill, AsebaNative_vecfill},
  {&AsebaNativeDescription_vecclamp, AsebaNative_vecclamp},
  {&AsebaNativeDescription_vecdot, AsebaNative_vecdot},
  {&AsebaNativeDescription_vecmax, AsebaNative_vecmax},
  {&ENABLE, enable},
  {&AsebaNativeDescription_mathmuldiv, AsebaNative_mathmuldiv}};

std::wstring wide(const char* text) { return std::wstring(text, text + std::char_traits<char>::length(text)); }

Aseba::TargetDescription thymio()
{
  Aseba::TargetDescription target;
  target.name = L"thymio-II";
  target.bytecodeSize = WORDS;
  target.stackSize = STACK;
  target.variablesSize = VARIABLES;
  for (const Named& one : VARIABLES_OF_A_THYMIO) {
    target.namedVariables.emplace_back(one.name, one.size);
    target.variablesSize += one.size;
  }
  for (const wchar_t* name : EVENTS) target.localEvents.push_back({name, L""});
  for (const Native& one : NATIVES) {
    Aseba::TargetDescription::NativeFunction made;
    made.name = wide(one.is->name);
    for (const auto* argument = one.is->arguments; argument->size; argument++)
      made.parameters.emplace_back(wide(argument->name), argument->size);
    target.nativeFunctions.push_back(made);
  }
  return target;
}

struct Program {
  std::vector<uint16_t> code;
  Aseba::VariablesMap names;
  unsigned variables;
};

Program compiled(const std::string& path, const Aseba::TargetDescription& target)
{
  std::wifstream source(path);
  Aseba::CommonDefinitions common;
  common.events.push_back(Aseba::EventDescription(L"heard", 8));
  Aseba::Compiler compiler;
  compiler.setTargetDescription(&target);
  compiler.setCommonDefinitions(&common);
  Aseba::BytecodeVector code;
  Aseba::Error error;
  Program made;
  if (!compiler.compile(source, code, made.variables, error)) {
    std::wcerr << path.c_str() << L": " << error.toWString() << std::endl;
    std::exit(3);
  }
  for (const auto& word : code) made.code.push_back(word);
  made.names = *compiler.getVariablesMap();
  made.variables -= target.variablesSize - VARIABLES;
  return made;
}

struct Robot {
  AsebaVMState vm{};
  std::vector<uint16_t> code;
  std::vector<int16_t> variables, stack = std::vector<int16_t>(STACK);
  const Program* program;

  Robot(const Program& from, unsigned size) : code(from.code), variables(size), program(&from) {}

  void begin()
  {
    vm.bytecode = code.data();
    vm.bytecodeSize = code.size();
    vm.variables = variables.data();
    vm.variablesSize = variables.size();
    vm.stack = stack.data();
    vm.stackSize = STACK;
    AsebaVMInit(&vm);
    code = program->code;  // of which that forgot the events
    vm.flags = 0;  // run, not step by step
    handle(ASEBA_EVENT_INIT);
    *at(L"button.forward") = 1;
    local(L"button.forward");
  }
  int16_t* at(const wchar_t* name)
  {
    const auto found = program->names.find(name);
    return found == program->names.end() ? nullptr : &variables[found->second.first];
  }
  void handle(uint16_t event)
  {
    if (AsebaVMSetupEvent(&vm, event)) AsebaVMRun(&vm, 0);
  }
  void local(const std::wstring& name)
  {
    for (unsigned k = 0; k < sizeof EVENTS / sizeof *EVENTS; k++)
      if (name == EVENTS[k]) handle(ASEBA_EVENT_LOCAL_EVENTS_START - k);
  }
};

std::vector<int> numbers(const char* words)
{
  std::vector<int> found;
  std::stringstream list(words);
  for (std::string word; std::getline(list, word, ',');) found.push_back(std::atoi(word.c_str()));
  return found;
}

}  // namespace

extern "C" {
void AsebaSendMessage(AsebaVMState*, uint16_t, const void*, uint16_t) {}
void AsebaSendVariables(AsebaVMState*, uint16_t, uint16_t) {}
void AsebaSendDescription(AsebaVMState*) {}
void AsebaNativeFunction(AsebaVMState* vm, uint16_t id) { NATIVES[id].run(vm); }
void AsebaWriteBytecode(AsebaVMState*) {}
void AsebaResetIntoBootloader(AsebaVMState*) {}
void AsebaPutVmToSleep(AsebaVMState*) {}
void AsebaAssert(AsebaVMState*, int reason)
{
  std::cerr << "the virtual machine stopped: assertion " << reason << std::endl;
  std::exit(5);
}
void AsebaVMErrorCB(AsebaVMState*, const char* message)
{
  std::cerr << "the virtual machine stopped: " << (message ? message : "no message") << std::endl;
  std::exit(4);
}
}

int main(int count, char** words)
{
  const Aseba::TargetDescription target = thymio();
  const bool sizes = std::string(words[1]) == "size";
  std::vector<Program> programs;
  for (int k = sizes ? 2 : 6; k < count; k++) programs.push_back(compiled(words[k], target));
  if (sizes) {
    for (const Program& one : programs)
      std::cout << one.code.size() << " " << one.variables << std::endl;
    return 0;
  }
  const int hidden = std::atoi(words[1]), proximity = 7, heard = std::atoi(words[3]), inputs = proximity + heard;
  const double speed = std::atof(words[2]);
  const bool messages = std::string(words[4]) == "messages";
  std::vector<Robot> robots;
  for (int number : numbers(words[5])) robots.emplace_back(programs[number], target.variablesSize);
  for (Robot& one : robots) one.begin();
  std::vector<double> row(inputs + hidden);
  for (;;) {
    for (Robot& one : robots) {
      if (!std::cin.read(reinterpret_cast<char*>(row.data()), 8 * row.size())) return 0;
      for (int k = 0; k < proximity; k++)
        one.at(L"prox.horizontal")[k] = std::lround(FULL_SCALE * (1.0 - row[k]) / 2.0);
      for (int k = 0; k < heard; k++) {
        const double value = row[proximity + k];
        if (messages) one.at(L"prox.comm.rx._intensities")[k] = std::lround(FULL_SCALE * value);
        else one.at(L"event.args")[k] = std::lround(ONE * (1.0 + value) / 2.0);
      }
      if (messages) one.local(L"prox.comm");
      else one.handle(0);
      for (int k = 0; k < hidden && one.at(L"h"); k++)
        if (k < int(one.program->names.at(L"h").second))
          one.at(L"h")[k] = std::lround(ONE * row[inputs + k]);
      one.local(L"timer0");
      const double wheels[] = {*one.at(L"motor.left.target") / speed, *one.at(L"motor.right.target") / speed};
      std::cout.write(reinterpret_cast<const char*>(wheels), sizeof wheels);
    }
    std::cout.flush();
  }
}
