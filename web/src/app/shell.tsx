// SPDX-License-Identifier: MIT
// The page around the views: run picker, tabs, theme, connection.
import {useEffect, useMemo, useState} from 'preact/hooks';
import {CompareStore} from '../store/compare_store';
import {Notices} from '../store/notices';
import type {RunsStore} from '../store/runs_store';
import type {Settings, SettingsStore} from '../store/settings';
import {useWatched} from '../widgets/use_watched';
import type {Source} from '../wire/source';
import {browserAnnouncer} from './announcer';
import {Boundary} from './panel';
import {KeysHelp} from './keys_help';
import {parseRoute, type Route, routeAddress, TABS} from './route';
import {RunPage} from './run_page';
import {RunPicker} from './run_picker';
import {Empty, Failure, Loading} from './states';
import {useTheme} from './use_theme';
import type {App} from './view_props';
import {CompareView} from './views/compare_view';

export interface ShellProps {
  source: Source;
  runs: RunsStore;
  settings: SettingsStore;
}

const VIEW_TITLES = {cockpit: 'Cockpit', diagnosis: 'Diagnosis', layers: 'Layers', run: 'Run', causes: 'Causes'} as const;
const NEXT_THEME: Record<Settings['theme'], Settings['theme']> = {auto: 'dark', dark: 'light', light: 'auto'};
const THEME_SIGN = {auto: '◐', dark: '●', light: '○'} as const;

const pageAddress = {
  read: () => location.hash,
  replace: (hash: string) => history.replaceState(history.state, '', hash),
};

function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const change = () => setRoute(parseRoute(location.hash));
    window.addEventListener('hashchange', change);
    return () => window.removeEventListener('hashchange', change);
  }, []);
  return route;
}

export function Shell({source, runs, settings}: ShellProps) {
  const {theme} = useWatched(settings.watched);
  const palette = useTheme(theme);
  const known = useWatched(runs.watched);
  const asked = useRoute();
  const only = known.list[0];
  // A report has one run: there is nothing to compare.
  const route: Route = !source.isLive && only && asked.page === 'compare' ? {page: 'run', id: only.id, view: 'cockpit'} : asked;
  const compare = useMemo(() => new CompareStore(settings, pageAddress), [settings]);
  const notices = useMemo(() => new Notices(source, runs, browserAnnouncer), [source, runs]);
  const app: App = {source, runs, settings, compare, notices, palette};
  const title = route.page === 'run' ? `${route.id}, ${VIEW_TITLES[route.view]}` : 'All runs';
  useEffect(() => { document.title = `${title} · Flightdeck`; }, [title]);
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById('content')?.focus(); }}>
        Skip to the panels</a>
      <TopBar app={app} route={route} theme={theme} />
      {!known.isConnected && (
        <div class="banner warning" role="status">The server cannot be reached; what you see may be out of date. Start{' '}
          <code>flightdeck serve</code> again on the same port: the page then goes on by itself.</div>
      )}
      {source.remark && <div class="banner" role="note">{source.remark}</div>}
      <main id="content" tabIndex={-1}>
        <h1 class="visually-hidden">{title}</h1>
        <Boundary of={`${route.page} ${title}`}><Content app={app} route={route} /></Boundary>
      </main>
    </>
  );
}

function Content({app, route}: {app: App; route: Route}) {
  const {isLoaded, error, list} = useWatched(app.runs.watched);
  if (route.page === 'run') return <RunPage key={route.id} app={app} id={route.id} view={route.view} place={route.place} />;
  if (error && list.length === 0) return <Failure error={error} what="The list of runs cannot be read" />;
  if (!isLoaded) return <Loading what="runs" />;
  if (list.length === 0) {
    return (
      <Empty title="No runs yet">
        <p>Runs appear here as soon as one is recorded in this folder. Start one in another terminal:</p>
        <pre>flightdeck run mnist_mlp --synthetic --out runs/first</pre>
        <p>with the folder that is served in the place of <code>runs</code>, or give your own training loop a <code>flightdeck::Cockpit</code> that records into this folder.</p>
      </Empty>
    );
  }
  return <CompareView app={app} />;
}

function TopBar({app, route, theme}: {app: App; route: Route; theme: Settings['theme']}) {
  const {list} = useWatched(app.runs.watched);
  const current = route.page === 'run' ? list.find(({id}) => id === route.id) : undefined;
  const view = route.page === 'run' ? route.view : 'cockpit';
  return (
    <header class="top">
      <a class="brand" href="#/" aria-label="Flightdeck, all runs">
        <svg viewBox="0 0 32 32" aria-hidden="true"><path d="M6 22a11 11 0 1 1 20 0" class="arc" /><path d="M16 19 22 9" class="hand" /><circle cx="16" cy="19" r="2.5" /></svg>
        <span>Flightdeck</span>
      </a>
      {app.source.isLive && (
        <RunPicker runs={list.filter((run) => !run.archived)} current={route.page === 'run' ? route.id : ''}
          go={(id) => { location.hash = routeAddress(id ? {page: 'run', id, view} : {page: 'compare'}); }} />
      )}
      {!app.source.isLive && <span class="run-name">{current?.id}</span>}
      {current && <span class={`badge ${current.status}`}>{current.status}</span>}
      <nav aria-label="Views">
        {route.page === 'run' && TABS.map((name) => (
          <a key={name} href={routeAddress({page: 'run', id: route.id, view: name})} aria-current={route.view === name ? 'page' : undefined}>{VIEW_TITLES[name]}</a>
        ))}
        {app.source.isLive && <a href="#/" aria-current={route.page === 'compare' ? 'page' : undefined}>Compare</a>}
      </nav>
      <KeysHelp />
      <button type="button" class="round theme" onClick={() => app.settings.change({theme: NEXT_THEME[theme]})}
        aria-label={`Theme: ${theme}; switch to ${NEXT_THEME[theme]}`} title={`Theme: ${theme}`}>{THEME_SIGN[theme]}</button>
    </header>
  );
}
