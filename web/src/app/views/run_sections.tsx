// SPDX-License-Identifier: MIT
// Parts of the run view that are text: where and how it ran, its settings, what was remarked.
import type {ComponentChildren} from 'preact';
import {formatDuration, formatStep, formatTime} from '../../base/format';
import type {Lamp, Note, RunDetails} from '../../wire/types';
import {rankCount} from '../../widgets/rank_lines';
import {stepsOf} from '../run_head';

export function Card(props: {title: string; id: string; children: ComponentChildren}) {
  return (
    <section class="card" aria-labelledby={`card-${props.id}`}>
      <h2 id={`card-${props.id}`}>{props.title}</h2>
      {props.children}
    </section>
  );
}

/** Names and values; those without a value are left out. */
export function Facts(props: {facts: readonly (readonly [string, ComponentChildren])[]; isWide?: boolean}) {
  const facts = props.facts.filter(([, value]) => value !== '' && value !== null && value !== undefined);
  return (
    <dl class={props.isWide ? 'facts wide' : 'facts'}>
      {facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

const ENDINGS: Record<string, string> = {
  running: 'running: values arrive as they are recorded',
  finished: 'finished',
  interrupted: 'interrupted by the user',
  diverged: 'diverged: the loss was not finite',
  failed: 'failed: the training ended with an error',
  killed: 'killed: the process ended without saying so; what it had recorded is complete',
  unreadable: 'cannot be read',
};

export function Metadata({run}: {run: RunDetails}) {
  const {summary} = run;
  const steps = stepsOf(summary);
  return (
    <Card title="How it ran" id="metadata">
      <Facts facts={[
        ['Status', <span class={`status ${summary.status}`}>{ENDINGS[summary.status]}</span>],
        ['Started', formatTime(summary.start_time)],
        ['Last values', summary.last_time > 0 ? formatTime(summary.last_time) : 'none yet'],
        ['Duration', summary.last_time > 0 ? formatDuration(summary.last_time - summary.start_time) : ''],
        [steps.label === 'steps' ? 'Steps taken' : 'Last step', steps.text],
        ['Folder', <code>{summary.id}</code>],
        ['Command', run.command && <code>{run.command}</code>],
        ['Processes', rankCount(run) > 0 ? `${rankCount(run)} ranks, shown as one run` : ''],
        ['Device', run.device],
        ['Host', run.host],
        ['Flightdeck', run.flightdeck_version],
        ['LibTorch', run.libtorch_version],
        ['Groups', run.grouping],
      ]} />
    </Card>
  );
}

export function Config({run}: {run: RunDetails}) {
  const entries = Object.entries(run.summary.config);
  return (
    <Card title="Settings" id="config">
      {entries.length > 0
        ? <Facts isWide facts={entries.map(([key, value]) => [key, <code>{value === '' ? '(empty)' : value}</code>] as const)} />
        : <p class="quiet">None were recorded. Give the recorder a <code>config</code> (problem, optimizer, learning rate, seed) to find and compare runs by it.</p>}
    </Card>
  );
}

const KINDS: Record<Note['kind'], string> = {remark: 'remark', switched_off: 'switched off', not_stored: 'not stored'};
const where = (step: number) => (step >= 0 ? `step ${formatStep(step)}` : 'whole run');

/** Notes that no lamp repeats. */
export function otherNotes(notes: readonly Note[], lamps: readonly Lamp[]): Note[] {
  return notes.filter((note) => !lamps.some((lamp) => lamp.step === note.step && lamp.text.includes(note.text)));
}

export function Findings({run, lamps}: {run: RunDetails; lamps: readonly Lamp[]}) {
  const notes = otherNotes(run.notes, lamps);
  return (
    <Card title="Findings and remarks" id="findings">
      {lamps.length === 0 && run.notes.length === 0 && <p class="quiet">Nothing asked for attention.</p>}
      <ul class="findings">
        {lamps.map((lamp, i) => (
          <li key={`lamp-${i}`} class={lamp.severity}>
            <strong>{lamp.title}</strong> <span class="tag">{lamp.severity}</span> <span class="quiet">{where(lamp.step)}{lamp.quantity && `, ${lamp.quantity}`}</span>
            <p>{lamp.text}</p>
          </li>
        ))}
        {notes.map((note, i) => (
          <li key={`note-${i}`} class="note">
            <span class="tag">{KINDS[note.kind]}</span> <span class="quiet">{where(note.step)}{note.quantity && `, ${note.quantity}`}, {formatTime(note.time)}</span>
            <p>{note.text}</p>
          </li>
        ))}
      </ul>
    </Card>
  );
}
