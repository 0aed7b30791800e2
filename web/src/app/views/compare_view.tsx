// SPDX-License-Identifier: MIT
// All runs of the folder.
import {formatStep} from '../../base/format';
import {useWatched} from '../../widgets/use_watched';
import {routeAddress} from '../route';
import type {ViewProps} from '../view_props';

export function CompareView({app}: ViewProps) {
  const {list} = useWatched(app.runs.watched);
  return (
    <ul class="run-list">
      {list.map(({id, status, last_step}) => (
        <li key={id}><a href={routeAddress({page: 'run', id, view: 'cockpit'})}>{id}</a> {status}, step {formatStep(last_step)}</li>
      ))}
    </ul>
  );
}
