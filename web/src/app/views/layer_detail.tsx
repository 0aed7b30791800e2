// SPDX-License-Identifier: MIT
// The panels of one layer: the cockpit's instruments, given the layer's series in the place of the
// whole model's.
import {useEffect, useMemo, useRef} from 'preact/hooks';
import instruments from 'instruments';
import {Flow} from '../../widgets/flow';
import type {RunDetails} from '../../wire/types';
import {automaticInstruments} from '../automatic';
import {Constants} from '../constants';
import {InstrumentPanel} from '../instrument_panel';
import {seriesRead} from '../readings';
import type {RunViewProps} from '../view_props';
import {seriesOfLayer} from './layer_choices';

interface Props extends RunViewProps {
  details: RunDetails;
  name: string;
  onClose(): void;
}

/** The run as if the layer were all of it. */
export function asWholeModel(details: RunDetails, name: string): RunDetails {
  const series = seriesOfLayer(details, name).map((each) => ({...each, group: '', field: each.group === '' ? '' : each.field}));
  return {...details, series};
}

export function LayerDetail({app, run, details, name, onClose}: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.scrollIntoView({block: 'start', behavior: 'instant'});
    heading.current?.focus({preventScroll: true});
  }, [name]);
  const layer = useMemo(() => asWholeModel(details, name), [details, name]);
  const shown = useMemo(() => [...instruments, ...automaticInstruments(layer, instruments)].filter((instrument) => {
    const {numbers, frames} = seriesRead(instrument, layer);
    return numbers.length + frames.length > 0;
  }), [layer]);
  const parameter = details.parameters.find((each) => each.name === name);
  return (
    <section class="layer-detail" aria-labelledby="layer-name" onKeyDown={(event) => {
      // An open menu closes first.
      if (event.key === 'Escape' && !event.currentTarget.querySelector('.popover')) onClose();
    }}>
      <header>
        <h2 id="layer-name" ref={heading} tabIndex={-1}>{name}</h2>
        {parameter && <span class="quiet">{parameter.shape.length ? [...parameter.shape].join(' × ') : 'scalar'}, {parameter.type}</span>}
        <button type="button" onClick={onClose}>Close</button>
      </header>
      <Constants app={app} run={run} details={layer} instruments={shown} />
      <Flow class="panels" least={360}>
        {shown.map((instrument) => <InstrumentPanel key={`${name} ${instrument.id}`} app={app} run={run} details={layer} instrument={instrument} />)}
      </Flow>
      {shown.length === 0 && <p class="quiet">Nothing was recorded of this layer by itself.</p>}
    </section>
  );
}
