// SPDX-License-Identifier: MIT
// What stayed the same all the time: a line of text instead of a panel each.
import {exactNumber, formatNumber} from '../base/format';
import type {RunDetails} from '../wire/types';
import {constantsIn, isConstant, LEAST} from './constant_lines';
import type {Instrument} from './instrument';
import {useDrawing} from './instrument_panel';
import type {RunViewProps} from './view_props';

interface ConstantProps extends RunViewProps {
  details: RunDetails;
  instrument: Instrument;
}

function Constant({run, details, instrument}: ConstantProps) {
  const drawing = useDrawing({run, details, instrument});
  if (!isConstant(instrument, drawing)) return null;
  return (
    <>
      {constantsIn(instrument, drawing).map(({label, value}) => (
        <div key={label} title={instrument.explain} data-place={instrument.id}><dt>{label}</dt><dd title={exactNumber(value)}>{formatNumber(value)}</dd></div>
      ))}
    </>
  );
}

export function Constants({app, run, details, instruments}: RunViewProps & {details: RunDetails; instruments: readonly Instrument[]}) {
  const could = instruments.filter(({place}) => place in LEAST);
  return (
    <dl class="constants" aria-label="Constant over the run">
      {could.map((instrument) => <Constant key={instrument.id} app={app} run={run} details={details} instrument={instrument} />)}
    </dl>
  );
}
