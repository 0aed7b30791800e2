// SPDX-License-Identifier: MIT
// The papers' arrangement: step size, gradients and curvature side by side, below them what steers
// and measures the training, then everything else that was recorded.
import {useMemo} from 'preact/hooks';
import instruments from 'instruments';
import {useWatched} from '../../widgets/use_watched';
import type {RunDetails} from '../../wire/types';
import {automaticInstruments} from '../automatic';
import {Controls} from '../controls';
import type {Instrument} from '../instrument';
import {InstrumentPanel} from '../instrument_panel';
import {LampStrip} from '../lamp_strip';
import {BELOW, COLUMNS, instrumentsAt, REST, type Section} from '../layout';
import {seriesRead} from '../readings';
import {RunHead} from '../run_head';
import {Empty} from '../states';
import type {RunViewProps} from '../view_props';

/** Instruments that read something this run has. */
function usable(details: RunDetails): Instrument[] {
  return [...instruments, ...automaticInstruments(details, instruments)].filter((instrument) => {
    const {numbers, frames} = seriesRead(instrument, details);
    return numbers.length + frames.length > 0;
  });
}

export function CockpitView({app, run}: RunViewProps) {
  const details = useWatched(run.details) as RunDetails;
  const found = useMemo(() => usable(details), [details]);
  const section = ({place, title}: Section) => {
    const here = instrumentsAt(place, found);
    if (here.length === 0) return null;
    return (
      <section key={place} class={`place ${place}`} aria-labelledby={`place-${place}`}>
        <h2 id={`place-${place}`}>{title}</h2>
        <div class="panels">
          {here.map((instrument) => <InstrumentPanel key={instrument.id} app={app} run={run} details={details} instrument={instrument} />)}
        </div>
      </section>
    );
  };
  return (
    <div class="cockpit">
      <RunHead run={run} />
      <LampStrip run={run} />
      <Controls app={app} run={run} />
      {found.length === 0 ? (
        <Empty title="Nothing recorded yet">
          <p>The run has begun, but no quantity has a value. Panels appear with the first tracked step; the plan of what is
            tracked when is on the <strong>Run</strong> tab.</p>
        </Empty>
      ) : (
        <>
          <div class="columns three">{COLUMNS.map(section)}</div>
          <div class="columns two">{BELOW.map(section)}</div>
          {section(REST)}
        </>
      )}
    </div>
  );
}
