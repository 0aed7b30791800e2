// SPDX-License-Identifier: MIT
// Samples whose gradients stand out: those of the slider's step, and those that were often among them, by their
// places in the data set where the loop told them, else by positions in the batch.
import {useEffect, useState} from 'preact/hooks';
import {formatNumber, formatStep} from '../../base/format';
import {useWatched} from '../../widgets/use_watched';
import type {RunDetails} from '../../wire/types';
import {StepSlider} from '../controls';
import type {RunViewProps} from '../view_props';
import {frequentPositions, type Frequent} from './run_facts';
import {Card} from './run_sections';

/** Steps that are looked at for frequent positions. */
const LISTS = 200;
const SHOWN = 8;

interface Props extends RunViewProps {
  details: RunDetails;
}

function seriesId(details: RunDetails, field: string): number | undefined {
  return details.series.find((series) => series.quantity === 'sample_outliers' && series.field === field && series.kind === 'list' && series.group === '')?.id;
}

export function SampleOutliers({app, run, details}: Props) {
  useWatched(run.version);
  const step = useWatched(run.step);
  const ids = seriesId(details, 'ids');
  const samples = ids ?? seriesId(details, 'samples');
  const word = ids === undefined ? 'position' : 'sample';
  const norms = seriesId(details, 'norms');
  const [frequent, setFrequent] = useState<{list: Frequent[]; lists: number} | null>(null);
  const {id, change} = details.summary;
  useEffect(() => run.want([], [samples, norms].filter((each) => each !== undefined)), [run, samples, norms]);
  useEffect(() => {
    if (samples === undefined) return undefined;
    let isOver = false;
    app.source.frames(id, [samples], {}, LISTS).then(
      ({frames}) => !isOver && setFrequent({list: frequentPositions(frames).slice(0, SHOWN), lists: frames.length}),
      () => undefined); // the lists of the step are shown all the same
    return () => { isOver = true; };
  }, [app.source, id, change, samples]);
  if (samples === undefined) return null;
  const listed = run.frameOf(samples);
  const sizes = norms === undefined ? undefined : run.frameOf(norms);
  return (
    <Card title="Samples that stand out" id="outliers">
      <p class="quiet">Largest individual gradients{listed ? ` at step ${formatStep(listed.step)}` : ''}{step === null ? ', the last tracked one' : ''}. Look at these samples: wrong labels and broken inputs end up here.</p>
      <StepSlider run={run} isLive={app.source.isLive} />
      {listed ? (
        <table class="best">
          <thead><tr><th scope="col">{ids === undefined ? 'Position in the batch' : 'Sample'}</th><th scope="col" class="number">Gradient norm</th></tr></thead>
          <tbody>
            {[...listed.list].map((position, i) => (
              <tr key={position}>
                <td>{formatStep(position)}</td>
                <td class="number" title={String(sizes?.list[i])}>{sizes?.list[i] === undefined ? '' : formatNumber(sizes.list[i] as number)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : <p class="loading">No list at or before this step.</p>}
      {frequent && frequent.list.length > 0 && (
        <>
          <h3>Most often listed</h3>
          <ol class="frequent">
            {frequent.list.map(({position, times}) => (
              <li key={position}>
                <span>{word} {formatStep(position)}</span>
                <meter min={0} max={frequent.lists} value={times} aria-label={`in ${times} of ${frequent.lists} lists`} />
                <span class="quiet">{times} of {frequent.lists}</span>
              </li>
            ))}
          </ol>
        </>
      )}
    </Card>
  );
}
