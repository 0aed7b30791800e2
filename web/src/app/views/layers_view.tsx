// SPDX-License-Identifier: MIT
// The layers view of a run.
import type {RunViewProps} from '../view_props';

export function LayersView({run}: RunViewProps) {
  return <p class="empty">Nothing is shown here yet of {run.id}.</p>;
}
