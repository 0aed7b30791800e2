// SPDX-License-Identifier: MIT
// Which page an address means: #/ all runs, #/run/<id>/<view> one of them, and behind it a place of the view: a panel
// of the cockpit, a cause.

export const RUN_VIEWS = ['cockpit', 'diagnosis', 'layers', 'run', 'causes'] as const;
export type RunView = (typeof RUN_VIEWS)[number];
/** Those that have a tab. */
export const TABS = ['cockpit', 'diagnosis', 'layers', 'run'] as const satisfies readonly RunView[];

export type Route = {page: 'compare'} | {page: 'run'; id: string; view: RunView; place?: string};

export function parseRoute(hash: string): Route {
  const [, page, id, view, place] = hash.replace(/^#/, '').split('/');
  if (page !== 'run' || !id) return {page: 'compare'};
  try {
    const route: Route = {page: 'run', id: decodeURIComponent(id), view: RUN_VIEWS.find((known) => known === view) ?? 'cockpit'};
    return place ? {...route, place: decodeURIComponent(place)} : route;
  } catch {
    // A mistyped % is no id.
    return {page: 'compare'};
  }
}

export function routeAddress(route: Route): string {
  if (route.page === 'compare') return '#/';
  const view = `#/run/${encodeURIComponent(route.id)}/${route.view}`;
  return route.place === undefined ? view : `${view}/${encodeURIComponent(route.place)}`;
}
