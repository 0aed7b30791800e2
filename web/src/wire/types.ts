// SPDX-License-Identifier: MIT
// What the server and the report tell. Made by cmake/wire_types.cmake of src/serve/wire.json.
import {array, choice, column, fieldsOf, integer, map, number, text, truth} from './read';

export const API = 1;

/** Who answers. */
export interface ServerInfo {
  /** version of this format */
  api: number;
  /** of Flightdeck */
  version: string;
  /** differs after a restart of the server */
  epoch: string;
  /** whose runs are served */
  folder: string;
  /** how often the folder is looked at */
  refresh_ms: number;
  /** runs can be labelled through it */
  edit: boolean;
}

export function readServerInfo(json: unknown, path = 'ServerInfo'): ServerInfo {
  const fields = fieldsOf(json, path);
  return {
    api: integer(fields['api'], `${path}.api`),
    version: text(fields['version'], `${path}.version`),
    epoch: text(fields['epoch'], `${path}.epoch`),
    folder: text(fields['folder'], `${path}.folder`),
    refresh_ms: integer(fields['refresh_ms'], `${path}.refresh_ms`),
    edit: truth(fields['edit'], `${path}.edit`),
  };
}

/** A run as lists show it. */
export interface RunSummary {
  /** its folder, relative to the served one, with slashes; . is the served folder itself */
  id: string;
  /** how it stands */
  status: 'running' | 'finished' | 'interrupted' | 'diverged' | 'failed' | 'killed' | 'unreadable';
  /** why it cannot be read; empty if it can */
  error: string;
  /** grows whenever anything of the run changes */
  change: number;
  /** seconds since 1970 */
  start_time: number;
  /** of the last values; 0 before the first */
  last_time: number;
  /** -1 before the first */
  last_step: number;
  /** what the user added: problem, optimizer, seed */
  config: Record<string, string>;
  /** last numbers of the whole model by quantity[/field] */
  values: Record<string, number>;
  /** words that people gave it */
  tags: string[];
  /** what people say of it; may have several lines */
  note: string;
  /** left out of lists unless they are asked for it */
  archived: boolean;
}

export function readRunSummary(json: unknown, path = 'RunSummary'): RunSummary {
  const fields = fieldsOf(json, path);
  return {
    id: text(fields['id'], `${path}.id`),
    status: choice('running', 'finished', 'interrupted', 'diverged', 'failed', 'killed', 'unreadable')(fields['status'], `${path}.status`),
    error: text(fields['error'], `${path}.error`),
    change: integer(fields['change'], `${path}.change`),
    start_time: number(fields['start_time'], `${path}.start_time`),
    last_time: number(fields['last_time'], `${path}.last_time`),
    last_step: integer(fields['last_step'], `${path}.last_step`),
    config: map(text)(fields['config'], `${path}.config`),
    values: map(number)(fields['values'], `${path}.values`),
    tags: array(text)(fields['tags'], `${path}.tags`),
    note: text(fields['note'], `${path}.note`),
    archived: truth(fields['archived'], `${path}.archived`),
  };
}

/** All runs of the folder, the newest first. */
export interface RunList {
  /** of the server */
  epoch: string;
  /** the largest change so far */
  change: number;
  runs: RunSummary[];
}

export function readRunList(json: unknown, path = 'RunList'): RunList {
  const fields = fieldsOf(json, path);
  return {
    epoch: text(fields['epoch'], `${path}.epoch`),
    change: integer(fields['change'], `${path}.change`),
    runs: array(readRunSummary)(fields['runs'], `${path}.runs`),
  };
}

/** A parameter of the model. */
export interface Parameter {
  name: string;
  shape: Float64Array;
  /** float32 */
  type: string;
}

export function readParameter(json: unknown, path = 'Parameter'): Parameter {
  const fields = fieldsOf(json, path);
  return {
    name: text(fields['name'], `${path}.name`),
    shape: column(fields['shape'], `${path}.shape`),
    type: text(fields['type'], `${path}.type`),
  };
}

/** A quantity as this run tracked it. */
export interface Quantity {
  name: string;
  /** one line */
  summary: string;
  due: string;
  settings: string;
  /** free, first-order, curvature or spectrum */
  cost: string;
}

export function readQuantity(json: unknown, path = 'Quantity'): Quantity {
  const fields = fieldsOf(json, path);
  return {
    name: text(fields['name'], `${path}.name`),
    summary: text(fields['summary'], `${path}.summary`),
    due: text(fields['due'], `${path}.due`),
    settings: text(fields['settings'], `${path}.settings`),
    cost: text(fields['cost'], `${path}.cost`),
  };
}

/** What there is to read of one value. */
export interface Series {
  /** within the run */
  id: number;
  quantity: string;
  /** empty for the main value */
  field: string;
  /** empty for the whole model */
  group: string;
  kind: 'number' | 'list' | 'histogram';
  /** of steps */
  count: number;
  first_step: number;
  last_step: number;
}

export function readSeries(json: unknown, path = 'Series'): Series {
  const fields = fieldsOf(json, path);
  return {
    id: integer(fields['id'], `${path}.id`),
    quantity: text(fields['quantity'], `${path}.quantity`),
    field: text(fields['field'], `${path}.field`),
    group: text(fields['group'], `${path}.group`),
    kind: choice('number', 'list', 'histogram')(fields['kind'], `${path}.kind`),
    count: integer(fields['count'], `${path}.count`),
    first_step: integer(fields['first_step'], `${path}.first_step`),
    last_step: integer(fields['last_step'], `${path}.last_step`),
  };
}

/** What the cockpit remarked. */
export interface Note {
  step: number;
  /** seconds since 1970 */
  time: number;
  kind: 'remark' | 'switched_off' | 'not_stored';
  /** empty if none in particular */
  quantity: string;
  text: string;
}

export function readNote(json: unknown, path = 'Note'): Note {
  const fields = fieldsOf(json, path);
  return {
    step: integer(fields['step'], `${path}.step`),
    time: number(fields['time'], `${path}.time`),
    kind: choice('remark', 'switched_off', 'not_stored')(fields['kind'], `${path}.kind`),
    quantity: text(fields['quantity'], `${path}.quantity`),
    text: text(fields['text'], `${path}.text`),
  };
}

/** When steps were recorded: some of them, from first to last. */
export interface Clock {
  /** ascending */
  steps: Float64Array;
  /** since the run began, pauses before it was resumed among them */
  seconds: Float64Array;
}

export function readClock(json: unknown, path = 'Clock'): Clock {
  const fields = fieldsOf(json, path);
  return {
    steps: column(fields['steps'], `${path}.steps`),
    seconds: column(fields['seconds'], `${path}.seconds`),
  };
}

/** Everything about a run but its values. */
export interface RunDetails {
  summary: RunSummary;
  flightdeck_version: string;
  libtorch_version: string;
  host: string;
  command: string;
  device: string;
  grouping: string;
  /** what is computed when, for people */
  plan: string;
  /** how individual gradients are obtained, for people */
  coverage: string;
  parameters: Parameter[];
  /** without the whole model */
  groups: string[];
  quantities: Quantity[];
  series: Series[];
  notes: Note[];
  clock: Clock;
}

export function readRunDetails(json: unknown, path = 'RunDetails'): RunDetails {
  const fields = fieldsOf(json, path);
  return {
    summary: readRunSummary(fields['summary'], `${path}.summary`),
    flightdeck_version: text(fields['flightdeck_version'], `${path}.flightdeck_version`),
    libtorch_version: text(fields['libtorch_version'], `${path}.libtorch_version`),
    host: text(fields['host'], `${path}.host`),
    command: text(fields['command'], `${path}.command`),
    device: text(fields['device'], `${path}.device`),
    grouping: text(fields['grouping'], `${path}.grouping`),
    plan: text(fields['plan'], `${path}.plan`),
    coverage: text(fields['coverage'], `${path}.coverage`),
    parameters: array(readParameter)(fields['parameters'], `${path}.parameters`),
    groups: array(text)(fields['groups'], `${path}.groups`),
    quantities: array(readQuantity)(fields['quantities'], `${path}.quantities`),
    series: array(readSeries)(fields['series'], `${path}.series`),
    notes: array(readNote)(fields['notes'], `${path}.notes`),
    clock: readClock(fields['clock'], `${path}.clock`),
  };
}

/** One series of numbers. Reduced: each entry stands for several points up to its step, with the last value and the extremes. */
export interface Points {
  /** of the series */
  id: number;
  reduced: boolean;
  /** points in the range asked for */
  count: number;
  /** ascending */
  steps: Float64Array;
  values: Float64Array;
  /** reduced: smallest value of each entry; else empty */
  low: Float64Array;
  /** reduced: largest value of each entry; else empty */
  high: Float64Array;
}

export function readPoints(json: unknown, path = 'Points'): Points {
  const fields = fieldsOf(json, path);
  return {
    id: integer(fields['id'], `${path}.id`),
    reduced: truth(fields['reduced'], `${path}.reduced`),
    count: integer(fields['count'], `${path}.count`),
    steps: column(fields['steps'], `${path}.steps`),
    values: column(fields['values'], `${path}.values`),
    low: column(fields['low'], `${path}.low`),
    high: column(fields['high'], `${path}.high`),
  };
}

/** Several series of numbers. */
export interface PointsList {
  /** of the run when they were read */
  change: number;
  /** in the order asked for */
  series: Points[];
}

export function readPointsList(json: unknown, path = 'PointsList'): PointsList {
  const fields = fieldsOf(json, path);
  return {
    change: integer(fields['change'], `${path}.change`),
    series: array(readPoints)(fields['series'], `${path}.series`),
  };
}

/** Bins of equal width over [low, high]. */
export interface Axis {
  low: number;
  high: number;
  count: number;
}

export function readAxis(json: unknown, path = 'Axis'): Axis {
  const fields = fieldsOf(json, path);
  return {
    low: number(fields['low'], `${path}.low`),
    high: number(fields['high'], `${path}.high`),
    count: integer(fields['count'], `${path}.count`),
  };
}

/** A list or a histogram at one step. */
export interface Frame {
  /** of the series */
  id: number;
  step: number;
  /** empty for histograms */
  list: Float64Array;
  /** one, or two (gradients, parameters); empty for lists */
  axes: Axis[];
  /** row by row */
  counts: Float64Array;
  below: number;
  above: number;
  not_a_number: number;
}

export function readFrame(json: unknown, path = 'Frame'): Frame {
  const fields = fieldsOf(json, path);
  return {
    id: integer(fields['id'], `${path}.id`),
    step: integer(fields['step'], `${path}.step`),
    list: column(fields['list'], `${path}.list`),
    axes: array(readAxis)(fields['axes'], `${path}.axes`),
    counts: column(fields['counts'], `${path}.counts`),
    below: integer(fields['below'], `${path}.below`),
    above: integer(fields['above'], `${path}.above`),
    not_a_number: integer(fields['not_a_number'], `${path}.not_a_number`),
  };
}

/** Lists and histograms. */
export interface FrameList {
  /** of the run when they were read */
  change: number;
  /** by series in the order asked for, then by step */
  frames: Frame[];
}

export function readFrameList(json: unknown, path = 'FrameList'): FrameList {
  const fields = fieldsOf(json, path);
  return {
    change: integer(fields['change'], `${path}.change`),
    frames: array(readFrame)(fields['frames'], `${path}.frames`),
  };
}

/** A finding that asks for attention. */
export interface Lamp {
  severity: 'advice' | 'warning' | 'failure';
  /** -1 if of the run as a whole */
  step: number;
  /** empty if none in particular */
  quantity: string;
  title: string;
  /** evidence and advice */
  text: string;
}

export function readLamp(json: unknown, path = 'Lamp'): Lamp {
  const fields = fieldsOf(json, path);
  return {
    severity: choice('advice', 'warning', 'failure')(fields['severity'], `${path}.severity`),
    step: integer(fields['step'], `${path}.step`),
    quantity: text(fields['quantity'], `${path}.quantity`),
    title: text(fields['title'], `${path}.title`),
    text: text(fields['text'], `${path}.text`),
  };
}

/** The findings of a run. */
export interface LampList {
  /** the gravest first */
  lamps: Lamp[];
}

export function readLampList(json: unknown, path = 'LampList'): LampList {
  const fields = fieldsOf(json, path);
  return {
    lamps: array(readLamp)(fields['lamps'], `${path}.lamps`),
  };
}

/** What one lamp says, lit or dark. */
export interface Evidence {
  lamp: string;
  /** the symptom; of a dark lamp what it would have been lit by */
  title: string;
  /** what it found; empty if it is dark */
  text: string;
  is_lit: boolean;
  /** of the lamp */
  severity: 'advice' | 'warning' | 'failure';
  /** where it was found; -1 if it is dark or of the run as a whole */
  step: number;
  /** that it reads */
  quantities: string[];
  /** that it is about; empty for the whole model */
  layers: string[];
  /** that the quantity lists at the step */
  samples: Float64Array;
  /** in the batch; else places in the data set */
  samples_are_positions: boolean;
  /** ids of numbers that show it */
  series: Float64Array;
  /** what these are compared with; empty if nothing fixed */
  limits: Float64Array;
}

export function readEvidence(json: unknown, path = 'Evidence'): Evidence {
  const fields = fieldsOf(json, path);
  return {
    lamp: text(fields['lamp'], `${path}.lamp`),
    title: text(fields['title'], `${path}.title`),
    text: text(fields['text'], `${path}.text`),
    is_lit: truth(fields['is_lit'], `${path}.is_lit`),
    severity: choice('advice', 'warning', 'failure')(fields['severity'], `${path}.severity`),
    step: integer(fields['step'], `${path}.step`),
    quantities: array(text)(fields['quantities'], `${path}.quantities`),
    layers: array(text)(fields['layers'], `${path}.layers`),
    samples: column(fields['samples'], `${path}.samples`),
    samples_are_positions: truth(fields['samples_are_positions'], `${path}.samples_are_positions`),
    series: column(fields['series'], `${path}.series`),
    limits: column(fields['limits'], `${path}.limits`),
  };
}

/** A piece of evidence as one cause sees it. */
export interface Weight {
  /** of the evidence */
  lamp: string;
  /** log of how much more often it is seen with the cause than in healthy runs */
  weight: number;
}

export function readWeight(json: unknown, path = 'Weight'): Weight {
  const fields = fieldsOf(json, path);
  return {
    lamp: text(fields['lamp'], `${path}.lamp`),
    weight: number(fields['weight'], `${path}.weight`),
  };
}

/** Something that may be wrong. */
export interface Cause {
  name: string;
  /** what is wrong */
  sentence: string;
  /** what to do, with values where they are known */
  advice: string;
  /** of all causes and of health */
  probability: number;
  /** of the first finding that speaks for it; -1 if none does */
  step: number;
  /** the strongest first */
  speaks_for: Weight[];
  /** the strongest first */
  speaks_against: Weight[];
}

export function readCause(json: unknown, path = 'Cause'): Cause {
  const fields = fieldsOf(json, path);
  return {
    name: text(fields['name'], `${path}.name`),
    sentence: text(fields['sentence'], `${path}.sentence`),
    advice: text(fields['advice'], `${path}.advice`),
    probability: number(fields['probability'], `${path}.probability`),
    step: integer(fields['step'], `${path}.step`),
    speaks_for: array(readWeight)(fields['speaks_for'], `${path}.speaks_for`),
    speaks_against: array(readWeight)(fields['speaks_against'], `${path}.speaks_against`),
  };
}

/** What all lamps say together. */
export interface Diagnosis {
  verdict: 'healthy' | 'fault' | 'cannot_tell';
  /** the one that stands on top */
  sentence: string;
  /** probability of what the sentence says */
  confidence: number;
  /** probability that nothing is wrong */
  health: number;
  /** the likeliest first, those below 1 % left out */
  causes: Cause[];
  /** that a cause names, by lamp */
  evidence: Evidence[];
  /** quantities that are not tracked and would tell most */
  track: string[];
  /** the gravest first */
  lamps: Lamp[];
}

export function readDiagnosis(json: unknown, path = 'Diagnosis'): Diagnosis {
  const fields = fieldsOf(json, path);
  return {
    verdict: choice('healthy', 'fault', 'cannot_tell')(fields['verdict'], `${path}.verdict`),
    sentence: text(fields['sentence'], `${path}.sentence`),
    confidence: number(fields['confidence'], `${path}.confidence`),
    health: number(fields['health'], `${path}.health`),
    causes: array(readCause)(fields['causes'], `${path}.causes`),
    evidence: array(readEvidence)(fields['evidence'], `${path}.evidence`),
    track: array(text)(fields['track'], `${path}.track`),
    lamps: array(readLamp)(fields['lamps'], `${path}.lamps`),
  };
}

/** A run that is no longer there. */
export interface Gone {
  id: string;
  change: number;
}

export function readGone(json: unknown, path = 'Gone'): Gone {
  const fields = fieldsOf(json, path);
  return {
    id: text(fields['id'], `${path}.id`),
    change: integer(fields['change'], `${path}.change`),
  };
}

/** The answer to a request that was not carried out. */
export interface Refusal {
  /** what is wrong */
  error: string;
  /** what to do */
  remedy: string;
}

export function readRefusal(json: unknown, path = 'Refusal'): Refusal {
  const fields = fieldsOf(json, path);
  return {
    error: text(fields['error'], `${path}.error`),
    remedy: text(fields['remedy'], `${path}.remedy`),
  };
}

/** A run in one file. */
export interface Report {
  /** version of this format */
  api: number;
  /** seconds since 1970 */
  made: number;
  run: RunDetails;
  points: Points[];
  frames: Frame[];
  diagnosis: Diagnosis;
  /** numbers in the record */
  points_recorded: number;
  /** entries in this report */
  points_kept: number;
  /** lists and histograms in the record */
  frames_recorded: number;
  /** of them in this report */
  frames_kept: number;
}

export function readReport(json: unknown, path = 'Report'): Report {
  const fields = fieldsOf(json, path);
  return {
    api: integer(fields['api'], `${path}.api`),
    made: number(fields['made'], `${path}.made`),
    run: readRunDetails(fields['run'], `${path}.run`),
    points: array(readPoints)(fields['points'], `${path}.points`),
    frames: array(readFrame)(fields['frames'], `${path}.frames`),
    diagnosis: readDiagnosis(fields['diagnosis'], `${path}.diagnosis`),
    points_recorded: integer(fields['points_recorded'], `${path}.points_recorded`),
    points_kept: integer(fields['points_kept'], `${path}.points_kept`),
    frames_recorded: integer(fields['frames_recorded'], `${path}.frames_recorded`),
    frames_kept: integer(fields['frames_kept'], `${path}.frames_kept`),
  };
}
