// SPDX-License-Identifier: MIT
// The cockpit's arrangement: three columns as in the papers, the row below them, the rest, and samples.
import {naturalOrder} from '../base/natural_order';
import type {Instrument, Place} from './instrument';

export interface Section {
  /** Also names its colour. */
  place: Place;
  /** Those whose instruments it shows; its own alone unless said. */
  places?: readonly Place[];
  title: string;
}

export const COLUMNS: readonly Section[] = [
  {place: 'step_size', title: 'Step size'},
  {place: 'gradients', title: 'Gradients'},
  {place: 'curvature', title: 'Curvature'},
];

export const BELOW: Section = {place: 'performance', places: ['performance', 'hyperparameters'], title: 'Performance'};

/** Of a run of several processes. */
export const RANKS: Section = {place: 'ranks', title: 'Ranks'};

export const REST: Section = {place: 'more', title: 'More quantities'};

/** Rows of their own: beside a chart many pictures would make it as high as they are. */
export const SAMPLES: Section = {place: 'samples', title: 'Samples'};

/** The instruments of a section in their order. */
export function instrumentsOf({place, places}: Section, instruments: readonly Instrument[]): Instrument[] {
  return (places ?? [place]).flatMap((each) => instrumentsAt(each, instruments));
}

/** The instruments of a place in their order. */
export function instrumentsAt(place: Place, instruments: readonly Instrument[]): Instrument[] {
  return instruments.filter((instrument) => instrument.place === place)
    .sort((a, b) => (a.order ?? 100) - (b.order ?? 100) || naturalOrder(a.id, b.id));
}
