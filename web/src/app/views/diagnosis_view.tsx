// SPDX-License-Identifier: MIT
// What is wrong with a run, how it is known, and what to do: one sentence, then causes with what speaks for and against them.
import {useEffect, useMemo} from 'preact/hooks';
import {percent} from '../../base/evidence';
import {formatStep} from '../../base/format';
import type {RunStore} from '../../store/run_store';
import {useWatched} from '../../widgets/use_watched';
import type {Cause, Diagnosis, Evidence, Lamp, RunDetails, Weight} from '../../wire/types';
import {hasCausePage} from '../cause_pages';
import {Said, VERDICTS} from '../diagnosis_line';
import type {Instrument} from '../instrument';
import {routeAddress} from '../route';
import {Loading} from '../states';
import {panelsOf, usableInstruments} from '../usable_instruments';
import {useInterventions} from '../use_interventions';
import type {RunViewProps} from '../view_props';
import {EvidenceItem, PanelLinks} from './evidence_item';
import './views.css';
import './diagnosis.css';

/** Pieces of evidence that are shown before the rest is folded away. */
const SHOWN = 5;
/** Causes that are shown however unlikely they are, and the probability from which on all are. */
const LEAST_CAUSES = 3;
const LIKELY = 0.05;

const MEANINGS: Record<Diagnosis['verdict'], string> = {
  fault: 'A cause explains what the lamps show better than health does. The likeliest comes first; what speaks against it is worth reading too.',
  healthy: 'Nothing that is tracked points to a fault. That may change while the run trains, and it says nothing of what is not tracked.',
  cannot_tell: 'No cause stands out, or too little is tracked to tell. Nothing is claimed below a probability of 50 %.',
};

/** How many causes stand before the rest is folded away. */
export function shownCauses(causes: readonly Pick<Cause, 'probability'>[]): number {
  const likely = causes.filter(({probability}) => probability >= LIKELY).length;
  const shown = Math.max(likely, Math.min(LEAST_CAUSES, causes.length));
  // One that is folded away alone saves no room.
  return causes.length - shown === 1 ? causes.length : shown;
}

interface WeightsProps extends RunViewProps {
  details: RunDetails;
  usable: readonly Instrument[];
  known: ReadonlyMap<string, Evidence>;
  weights: readonly Weight[];
  title: string;
}

function Weights({app, run, details, usable, known, weights, title}: WeightsProps) {
  const items = weights.flatMap(({lamp, weight}) => {
    const evidence = known.get(lamp);
    return evidence ? [<EvidenceItem key={lamp} app={app} run={run} details={details} usable={usable} evidence={evidence} weight={weight} />] : [];
  });
  if (items.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="evidences">{items.slice(0, SHOWN)}</ul>
      {items.length > SHOWN && (
        <details class="more-evidence"><summary>{items.length - SHOWN} more that {items.length === SHOWN + 1 ? 'weighs' : 'weigh'} less</summary>
          <ul class="evidences">{items.slice(SHOWN)}</ul></details>
      )}
    </>
  );
}

interface CauseCardProps extends Omit<WeightsProps, 'weights' | 'title'> {
  cause: Cause;
  rank: number;
  isOpen: boolean;
}

function CauseCard({cause, rank, isOpen, ...rest}: CauseCardProps) {
  const {probability} = cause;
  return (
    <li>
      <details class="card cause" open={isOpen} data-place={cause.name}>
        <summary>
          <span class="rank" aria-hidden="true">{rank}</span>
          <span class="cause-name">{cause.sentence}</span>
          <span class="probability"><meter min={0} max={1} value={probability} aria-hidden="true" />{percent(probability)}</span>
        </summary>
        {cause.advice && <p class="advice"><strong>What to do:</strong> {cause.advice}.</p>}
        {hasCausePage(cause.name) && <p><a href={routeAddress({page: 'run', id: rest.run.id, view: 'causes', place: cause.name})}>
          More about this cause: how to check it, what to change</a></p>}
        {cause.speaks_for.length + cause.speaks_against.length === 0 && <p class="quiet">Nothing that is tracked speaks for it or against it.</p>}
        <Weights {...rest} weights={cause.speaks_for} title="What speaks for it" />
        <Weights {...rest} weights={cause.speaks_against} title="What speaks against it" />
      </details>
    </li>
  );
}

function Track({names}: {names: readonly string[]}) {
  if (names.length === 0) return null;
  return (
    <section class="card track" aria-labelledby="card-track">
      <h2 id="card-track">To tell more, track</h2>
      <p class="quiet">These quantities are not recorded, and would tell the likely causes apart.</p>
      <ul>{names.map((name) => <li key={name}><code>--quantity {name}</code></li>)}</ul>
    </section>
  );
}

/** Lit lamps that are no evidence: of ranks, of the watching itself, or such that no shown cause names. */
export function otherFindings({lamps, evidence}: Pick<Diagnosis, 'lamps' | 'evidence'>): Lamp[] {
  const told = new Set(evidence.filter((each) => each.is_lit).map(({title}) => title));
  return lamps.filter(({title}) => !told.has(title));
}

function Others({run, usable, diagnosis}: {run: RunStore; usable: readonly Instrument[]; diagnosis: Diagnosis}) {
  const others = otherFindings(diagnosis);
  if (others.length === 0) return null;
  return (
    <section class="card others" aria-labelledby="card-others">
      <h2 id="card-others">Also found, apart from these causes</h2>
      <ul class="findings">{others.map((lamp, i) => (
        <li key={i} class={lamp.severity}>
          <strong>{lamp.title}</strong> <span class="tag">{lamp.severity}</span>
          {lamp.step >= 0 && <span class="quiet"> step {formatStep(lamp.step)}</span>}
          <p>{lamp.text}</p>
          <PanelLinks run={run} panels={panelsOf(lamp.quantity.split(', '), usable)} />
        </li>
      ))}</ul>
    </section>
  );
}

function Done({run, details}: {run: RunStore; details: RunDetails}) {
  const done = useInterventions(run, details);
  if (done.length === 0) return null;
  return (
    <section class="card done" aria-labelledby="card-done">
      <h2 id="card-done">What was done about it</h2>
      <ul>{done.map(({step, text}, i) => <li key={i}><span class="quiet">step {formatStep(step)}</span> {text}</li>)}</ul>
    </section>
  );
}

function Verdict({diagnosis, steps}: {diagnosis: Diagnosis; steps: string}) {
  const {sign, word} = VERDICTS[diagnosis.verdict];
  return (
    <section class={`verdict ${diagnosis.verdict}`} aria-labelledby="verdict">
      <p class="quiet"><i aria-hidden="true">{sign}</i> {word}{steps}</p>
      <h2 id="verdict">{diagnosis.sentence}</h2>
      <p>{MEANINGS[diagnosis.verdict]}</p>
      <Said diagnosis={diagnosis} />
    </section>
  );
}

export function DiagnosisView({app, run}: RunViewProps) {
  const details = useWatched(run.details) as RunDetails;
  const diagnosis = useWatched(run.diagnosis);
  useWatched(run.version);
  const usable = useMemo(() => usableInstruments(details), [details]);
  const known = useMemo(() => new Map(diagnosis?.evidence.map((each) => [each.lamp, each])), [diagnosis]);
  const ids = [...new Set(diagnosis?.evidence.flatMap(({series}) => [...series]))];
  useEffect(() => run.want(ids, []), [run, ids.join()]);
  if (!diagnosis) return <Loading what="the diagnosis" />;
  const {causes, verdict, health} = diagnosis;
  const steps = details.summary.last_step < 0 ? '' : `, up to step ${formatStep(run.lastStep)}${details.summary.status === 'running' ? ' so far' : ''}`;
  const shown = shownCauses(causes);
  const cards = causes.map((cause, i) => <CauseCard key={cause.name} app={app} run={run} details={details} usable={usable} known={known}
    cause={cause} rank={i + 1} isOpen={i === 0 && verdict !== 'healthy' && cause.probability >= LIKELY} />);
  return (
    <div class="diagnosis-view">
      <Verdict diagnosis={diagnosis} steps={steps} />
      {causes.length > 0 ? (
        <>
          <h2 class="section-title">{verdict === 'healthy' ? 'What was considered and is unlikely' : 'Causes, the likeliest first'}</h2>
          <ol class="causes">{cards.slice(0, shown)}</ol>
          {cards.length > shown && (
            <details class="more-causes"><summary>{cards.length - shown} more, of {percent(causes[shown]?.probability ?? 0)} or less</summary>
              <ol class="causes" start={shown + 1}>{cards.slice(shown)}</ol></details>
          )}
        </>
      ) : details.summary.last_step >= 0 && <p class="quiet">No cause has a probability of 1 % or more.</p>}
      <Others run={run} usable={usable} diagnosis={diagnosis} />
      <Done run={run} details={details} />
      <Track names={diagnosis.track} />
      <p class="quiet about">Probability that nothing is wrong: {percent(health)}. Every cause is weighed by all lamps, lit and dark, that
        could be lit with what is tracked; lamps depend on one another, so the probabilities are sharper than they deserve, and the order
        is what counts. On the command line: <code>flightdeck diagnose {details.summary.id}</code></p>
    </div>
  );
}
