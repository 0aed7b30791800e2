// SPDX-License-Identifier: MIT
// One piece of evidence: what the lamp found, where, a small picture of it, and the panels that show more.
import {useMemo} from 'preact/hooks';
import {listed, samplesText, strength} from '../../base/evidence';
import {formatStep} from '../../base/format';
import type {RunStore} from '../../store/run_store';
import {Scene} from '../../widgets/scene';
import {evidencePicture, type Judged, SERIES_COLORS} from '../../widgets/scenes/evidence_picture';
import {useWatched} from '../../widgets/use_watched';
import type {Evidence, RunDetails, Series} from '../../wire/types';
import type {Instrument} from '../instrument';
import {routeAddress} from '../route';
import {panelsOf} from '../usable_instruments';
import type {RunViewProps} from '../view_props';
import {titleOf} from './titles';

/** Names of layers that are shown before the rest is counted. */
const MOST_LAYERS = 6;

function labelOf({quantity, field, group}: Series): string {
  return [field === '' || group !== '' ? titleOf(quantity).toLowerCase() : '', field.replace(/_/g, ' '), group].filter(Boolean).join(' · ');
}

function Picture({app, run, details, evidence}: RunViewProps & {details: RunDetails; evidence: Evidence}) {
  const version = useWatched(run.version);
  const series = useMemo(() => [...evidence.series].flatMap((id): Judged[] => {
    const info = details.series.find((each) => each.id === id);
    const points = run.pointsOf(id);
    return info && points ? [{label: labelOf(info), points}] : [];
  }), [details, evidence, version]);
  const drawing = useMemo(() => evidencePicture({series, limits: [...evidence.limits], step: evidence.step}), [series]);
  if (evidence.series.length === 0) return null;
  return (
    <div class="evidence-picture">
      {series.length > 0 ? <Scene drawing={drawing} palette={app.palette} /> : <div class="pulse" aria-label="Loading" />}
      {series.length > 1 && (
        <ul aria-hidden="true">{series.map(({label}, i) => (
          <li key={label}><i style={{background: app.palette.lines[i % SERIES_COLORS]}} />{label}</li>
        ))}</ul>
      )}
    </div>
  );
}

/** The ways to panels of the cockpit, which are scrolled to and marked. */
export function PanelLinks({run, panels}: {run: RunStore; panels: readonly Instrument[]}) {
  if (panels.length === 0) return null;
  return (
    <p class="panel-links"><span class="quiet">Look at</span>{' '}
      {panels.map(({id, title}, i) => (
        <span key={id}>{i > 0 && ', '}<a href={routeAddress({page: 'run', id: run.id, view: 'cockpit', place: id})}>{title}</a></span>
      ))}
    </p>
  );
}

export interface EvidenceItemProps extends RunViewProps {
  details: RunDetails;
  usable: readonly Instrument[];
  evidence: Evidence;
  weight: number;
}

export function EvidenceItem({app, run, details, usable, evidence, weight}: EvidenceItemProps) {
  const isFor = weight > 0;
  const panels = panelsOf(evidence.quantities, usable);
  const {samples, layers, step} = evidence;
  return (
    <li class={`evidence ${isFor ? 'for' : 'against'}`}>
      <i aria-hidden="true">{isFor ? '+' : '−'}</i>
      <div class="evidence-text">
        <p><strong>{evidence.is_lit ? evidence.title : `Not seen: ${evidence.title}`}</strong></p>
        {evidence.text && <p>{evidence.text}</p>}
        <p class="quiet">
          <span title={`The lamp ${evidence.lamp}, ${evidence.severity}`}><code>{evidence.lamp}</code></span>
          {step >= 0 && <>{' · '}<button type="button" class="link" title="Set the step slider of the cockpit"
            onClick={() => run.step.set(step)}>step {formatStep(step)}</button></>}
          {samples.length > 0 && <> · {samplesText(samples, evidence.samples_are_positions)}</>}
          {strength(weight) && <> · {strength(weight)}</>}
        </p>
        {layers.length > 0 && <p class="quiet">Layers: {listed(layers, MOST_LAYERS)}</p>}
        <PanelLinks run={run} panels={panels} />
      </div>
      <Picture app={app} run={run} details={details} evidence={evidence} />
    </li>
  );
}
