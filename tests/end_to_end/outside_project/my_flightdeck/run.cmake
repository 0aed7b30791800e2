# SPDX-License-Identifier: MIT
# Holds my_flightdeck to what a user expects of entries of their own: every command knows them.
#   cmake -DTOOL=<my_flightdeck> -DWORK=<scratch> -P run.cmake
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

# expect(text word...): runs my_flightdeck with the words; `text` has to match what it prints.
function(expect text)
  execute_process(
    COMMAND ${TOOL} ${ARGN}
    WORKING_DIRECTORY ${WORK}
    OUTPUT_VARIABLE printed
    ERROR_VARIABLE printed
    RESULT_VARIABLE result)
  if(NOT result EQUAL 0 OR NOT printed MATCHES "${text}")
    message(FATAL_ERROR "my_flightdeck ${ARGN}: exit status ${result}, expected '${text}' in\n${printed}")
  endif()
  set(printed "${printed}" PARENT_SCOPE)
endfunction()

# The commands of the page that shows these entries.
find_program(python python3 HINTS /usr/bin)
if(python)
  execute_process(
    COMMAND ${python} -B ${CMAKE_CURRENT_LIST_DIR}/run_page.py ${TOOL}
    WORKING_DIRECTORY ${WORK}
    COMMAND_ERROR_IS_FATAL ANY)
endif()

expect("my_problem" list problems)
expect("my_quantity" list quantities)
expect("my_optimizer" list optimizers)
expect("my_rule" list rules)
expect("my_data" list data_sets)
expect("my_lamp" list lamps)
expect("first +exact-fast.*second +exact-fast" coverage my_problem)
expect("" run my_problem --optimizer my_optimizer --quantity "my_quantity:least=0.05@every 1"
  --steps 20 --threads 1 --out run)
expect("my_quantity" show run)
expect("Some entries of the gradient are small" show run)

# The report is part of the tool where the page was built.
execute_process(
  COMMAND ${TOOL} report run --out run.html
  WORKING_DIRECTORY ${WORK}
  ERROR_VARIABLE errors
  OUTPUT_QUIET
  RESULT_VARIABLE result)
if(result EQUAL 0 AND python)
  execute_process(
    COMMAND ${python} -B ${CMAKE_CURRENT_LIST_DIR}/report_has.py run.html my_quantity "Some entries"
    WORKING_DIRECTORY ${WORK}
    COMMAND_ERROR_IS_FATAL ANY)
elseif(NOT result EQUAL 0 AND NOT errors MATCHES "without its page")
  message(FATAL_ERROR "my_flightdeck report: ${errors}")
endif()

expect("" tune my_problem --optimizer my_optimizer --grid learning_rate=0.01 --epochs 1 --threads 1
  --out study)
file(GLOB_RECURSE outcomes ${WORK}/study/*/outcome.json)
if(NOT outcomes)
  message(FATAL_ERROR "the study left no outcome in ${WORK}/study")
endif()
