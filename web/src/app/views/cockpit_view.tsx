// SPDX-License-Identifier: MIT
// The papers' arrangement: step size, gradients and curvature side by side, below them what steers
// and measures the training, then everything else that was recorded.
import {useMemo, useRef, useState} from 'preact/hooks';
import type {Intervention} from '../../base/interventions';
import {Flow} from '../../widgets/flow';
import {useWatched} from '../../widgets/use_watched';
import type {RunDetails} from '../../wire/types';
import {Constants} from '../constants';
import {Controls} from '../controls';
import {DiagnosisLine} from '../diagnosis_line';
import type {Instrument} from '../instrument';
import {InstrumentPanel} from '../instrument_panel';
import {LampStrip} from '../lamp_strip';
import {BELOW, COLUMNS, instrumentsOf, RANKS, REST, SAMPLES, type Section} from '../layout';
import {RunHead} from '../run_head';
import {Empty} from '../states';
import {usableInstruments} from '../usable_instruments';
import {useInterventions} from '../use_interventions';
import {useMarked} from '../use_marked';
import type {RunViewProps} from '../view_props';

/** Pixels that a column, and a panel in it, needs. */
const COLUMN = 360;
const PANEL = 440;
const BELOW_PANEL = 300;
const SAMPLES_PANEL = 700;

interface PlaceProps extends RunViewProps {
  section: Section;
  details: RunDetails;
  found: readonly Instrument[];
  least: number;
  interventions: readonly Intervention[];
}

/** A section with its panels; not seen while none of them has something to show. */
function Place({app, run, section, details, found, least, interventions}: PlaceProps) {
  const [count, setCount] = useState(0);
  const here = instrumentsOf(section, found);
  if (here.length === 0) return null;
  return (
    <section class={`place ${section.place}`} aria-labelledby={`place-${section.place}`} hidden={count === 0}>
      <h2 id={`place-${section.place}`}>{section.title}</h2>
      <Flow class="panels" least={least} onCount={setCount}>
        {here.map((instrument) => <InstrumentPanel key={instrument.id} app={app} run={run} details={details} instrument={instrument}
          interventions={interventions} />)}
      </Flow>
    </section>
  );
}

export function CockpitView({app, run, place: marked}: RunViewProps) {
  const view = useRef<HTMLDivElement>(null);
  useMarked(view, marked);
  const details = useWatched(run.details) as RunDetails;
  const found = useMemo(() => usableInstruments(details), [details]);
  const interventions = useInterventions(run, details);
  const place = (section: Section, least: number) =>
    <Place key={section.place} app={app} run={run} section={section} details={details} found={found} least={least} interventions={interventions} />;
  return (
    <div class="cockpit" ref={view}>
      <RunHead app={app} run={run} />
      <DiagnosisLine run={run} />
      <LampStrip run={run} />
      <Controls app={app} run={run} />
      <Constants app={app} run={run} details={details} instruments={found} />
      {found.length === 0 ? (
        <Empty title="Nothing recorded yet">
          <p>The run has begun, but no quantity has a value. Panels appear with the first tracked step; the plan of what is
            tracked when is on the <strong>Run</strong> tab.</p>
        </Empty>
      ) : (
        <>
          <Flow class="columns" least={COLUMN}>{COLUMNS.map((section) => place(section, PANEL))}</Flow>
          {place(BELOW, BELOW_PANEL)}
          {place(RANKS, COLUMN)}
          {place(REST, COLUMN)}
          {place(SAMPLES, SAMPLES_PANEL)}
        </>
      )}
    </div>
  );
}
