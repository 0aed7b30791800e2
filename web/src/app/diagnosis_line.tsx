// SPDX-License-Identifier: MIT
// The diagnosis in one sentence above the panels, with the way to how it is known.
import {useWatched} from '../widgets/use_watched';
import type {RunStore} from '../store/run_store';
import type {Diagnosis} from '../wire/types';
import {routeAddress} from './route';

export const VERDICTS: Record<Diagnosis['verdict'], {sign: string; word: string}> = {
  fault: {sign: '▲', word: 'Fault'},
  healthy: {sign: '✓', word: 'Healthy so far'},
  cannot_tell: {sign: '?', word: 'Cannot tell'},
};

/** Told to those who listen when it changes; the sentence itself has steps, which change all the time. */
export function Said({diagnosis}: {diagnosis: Diagnosis}) {
  const [first] = diagnosis.causes;
  return (
    <span class="visually-hidden" role="status">
      {VERDICTS[diagnosis.verdict].word}{diagnosis.verdict === 'fault' && first ? `: ${first.sentence}` : ''}</span>
  );
}

export function DiagnosisLine({run}: {run: RunStore}) {
  const diagnosis = useWatched(run.diagnosis);
  if (!diagnosis) return null;
  return (
    <p class={`diagnosis-line ${diagnosis.verdict}`}>
      <i aria-hidden="true">{VERDICTS[diagnosis.verdict].sign}</i>
      <span><strong>{diagnosis.sentence}</strong>{' '}
        <a href={routeAddress({page: 'run', id: run.id, view: 'diagnosis'})}>How it is known</a></span>
      <Said diagnosis={diagnosis} />
    </p>
  );
}
