// SPDX-License-Identifier: MIT
// Findings that ask for attention, the gravest first.
import {formatStep} from '../base/format';
import {useWatched} from '../widgets/use_watched';
import type {RunStore} from '../store/run_store';
import type {Lamp} from '../wire/types';

const GRAVITY: Record<Lamp['severity'], number> = {failure: 0, warning: 1, advice: 2};
const SIGN: Record<Lamp['severity'], string> = {failure: '■', warning: '▲', advice: '●'};
/** Shown before the rest is folded away. */
const SHOWN = 4;

export function LampStrip({run}: {run: RunStore}) {
  const lamps = [...useWatched(run.lamps)].sort((a, b) => GRAVITY[a.severity] - GRAVITY[b.severity]);
  if (lamps.length === 0) return null;
  const item = (lamp: Lamp, i: number) => (
    <li key={i}>
      <details class={`lamp ${lamp.severity}`}>
        <summary><i aria-hidden="true">{SIGN[lamp.severity]}</i><span class="severity">{lamp.severity}</span>{lamp.title}
          {lamp.step >= 0 && <span class="faint"> step {formatStep(lamp.step)}</span>}</summary>
        <p>{lamp.text}</p>
        {lamp.step >= 0 && <button type="button" onClick={() => run.step.set(lamp.step)}>Go to step {formatStep(lamp.step)}</button>}
      </details>
    </li>
  );
  return (
    <section class="lamps" aria-label="Findings">
      <ul>{lamps.slice(0, SHOWN).map(item)}</ul>
      {lamps.length > SHOWN && (
        <details class="more-lamps"><summary>{lamps.length - SHOWN} more findings</summary>
          <ul>{lamps.slice(SHOWN).map(item)}</ul></details>
      )}
    </section>
  );
}
