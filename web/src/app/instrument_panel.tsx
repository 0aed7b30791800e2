// SPDX-License-Identifier: MIT
// An instrument on a run: wants its series, and shows its view of them as they come.
import {useEffect, useMemo} from 'preact/hooks';
import type {Intervention} from '../base/interventions';
import type {Drawing} from '../widgets/drawing';
import {useWatched} from '../widgets/use_watched';
import type {RunDetails} from '../wire/types';
import type {Instrument} from './instrument';
import {isConstant} from './constant_lines';
import {Panel} from './panel';
import {readingsOf, seriesRead} from './readings';
import type {RunViewProps} from './view_props';

export interface InstrumentPanelProps extends RunViewProps {
  instrument: Instrument;
  details: RunDetails;
  /** Marked in charts over steps. */
  interventions?: readonly Intervention[];
}

/** What the instrument makes of the run: null while it is loading, 'nothing' where there is nothing to show. */
export function useDrawing({run, instrument, details}: Omit<InstrumentPanelProps, 'app' | 'interventions'>): Drawing | Error | null | 'nothing' {
  const version = useWatched(run.version);
  const step = useWatched(run.step);
  const zoom = useWatched(run.zoom);
  const series = useMemo(() => seriesRead(instrument, details), [instrument, details]);
  const numbers = series.numbers.map(({id}) => id);
  const frames = series.frames.map(({id}) => id);
  useEffect(() => run.want(numbers, frames), [run, numbers.join(), frames.join()]);
  return useMemo(() => {
    const isLoading = [...series.numbers, ...series.frames].some(({id}) => !run.isRead(id));
    const view = (points: (id: number) => ReturnType<typeof run.pointsOf>) =>
      instrument.view(readingsOf(details, step ?? run.lastStep, series, {points, frame: (id) => run.frameOf(id)}));
    if (isLoading) return null;
    try {
      const whole = view((id) => run.pointsOf(id));
      // A zoom is a matter of lines; gauges and histograms mean the whole run.
      if (whole?.kind !== 'lines' || !zoom || isConstant(instrument, whole)) return whole ?? 'nothing';
      return view((id) => run.zoomedPointsOf(id)) ?? 'nothing';
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }, [instrument, series, version, step, zoom]);
}

export function InstrumentPanel({app, run, instrument, details, interventions}: InstrumentPanelProps) {
  const step = useWatched(run.step);
  const zoom = useWatched(run.zoom);
  const drawing = useDrawing({run, instrument, details});
  if (drawing === 'nothing' || isConstant(instrument, drawing)) return null;
  const numbers = seriesRead(instrument, details).numbers.map(({id}) => id);
  return (
    <Panel app={app} id={instrument.id} title={instrument.title} explain={instrument.explain} drawing={drawing} span={instrument.span}
      shown={zoom ?? {first: 0, last: Math.max(1, run.lastStep)}} onZoom={(range) => run.zoom.set(range)}
      onPick={(at) => run.step.set(at)} marker={step ?? undefined} run={run.id} {...(interventions ? {interventions} : {})}
      csv={numbers.length > 0 ? app.source.csvAddress(run.id, numbers) : null} />
  );
}
