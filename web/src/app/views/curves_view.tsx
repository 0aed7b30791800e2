// SPDX-License-Identifier: MIT
// Compare by curves: a panel for each quantity, with a line for each run or group.
import {useMemo} from 'preact/hooks';
import {BAND_WORDS} from '../../base/bands';
import {AXIS_LABELS} from '../../base/run_axis';
import type {Overlaid} from '../../store/overlay_store';
import {Board, USUAL_HEIGHT} from '../../widgets/board';
import {Panel} from '../panel';
import type {LoadedProps} from './compare_props';
import {constantCurve, isConstantChart} from './constant_curves';
import {curvesOf, wholeRange} from './curves';
import {titleOf} from './titles';

/** What the quantity is, as the first run that has it says. */
function summaryOf(loaded: Overlaid, quantity: string): string {
  for (const {details} of loaded.runs.values()) {
    const found = details.quantities.find(({name}) => name === quantity);
    if (found) return found.summary;
  }
  return titleOf(quantity);
}

export function CurvesView({app, state, change, loaded, owners, off}: LoadedProps) {
  const {x, band, group, zoom} = state;
  const {charts, notDrawn} = useMemo(() => curvesOf(owners, loaded, x, band, group !== ''), [owners, loaded, x, band, group]);
  const whole = useMemo(() => wholeRange(charts, x), [charts, x]);
  const constants = charts.filter(isConstantChart);
  const byId = new Map(charts.filter((chart) => !constants.includes(chart)).map((chart) => [chart.overlay.quantity, chart]));
  const runs = loaded.runs.size;
  return (
    <>
      {notDrawn.map(({reason, ids}) => <p key={reason} class="banner" role="note">
        Not drawn: {ids.slice(0, 12).join(', ')}{ids.length > 12 ? ` and ${ids.length - 12} more` : ''}: {reason}.</p>)}
      {constants.length > 0 && <dl class="constants" aria-label="Constant over the runs">
        {constants.map(constantCurve).map(({quantity, text}) => <div key={quantity}><dt>{titleOf(quantity).toLowerCase()}</dt><dd>{text}</dd></div>)}</dl>}
      <Board ids={[...byId.keys()]} titleOf={titleOf} layout={state.layout} change={(layout) => change({layout})} show={(id, {height}, actions) => {
        const chart = byId.get(id);
        if (!chart) return null;
        const {count} = chart.overlay;
        const how = group ? ` Each line is the ${BAND_WORDS[band]} of the runs of a group, at the places where any of them has a value.` : '';
        return <Panel app={app} id={`compare_${id}`} title={titleOf(id) + (count < runs ? ` (${count} of ${runs} runs)` : '')}
          explain={`${summaryOf(loaded, id)}, of every chosen run that recorded it, over ${AXIS_LABELS[x].toLowerCase()}.${how} Runs with different batch sizes or costs per step compare better over samples or seconds.`}
          drawing={chart.drawing} shown={zoom ?? whole} onZoom={(range) => change({zoom: range})} run="comparison" off={off} actions={actions}
          height={height || USUAL_HEIGHT} />;
      }} />
    </>
  );
}
