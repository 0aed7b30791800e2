// SPDX-License-Identifier: MIT
// The page of the documents about causes: what each is, how to check it, what to change.
import {useRef} from 'preact/hooks';
import type {Piece} from '../../base/marked_text';
import {useWatched} from '../../widgets/use_watched';
import {causePages} from '../cause_pages';
import {routeAddress} from '../route';
import {useMarked} from '../use_marked';
import type {RunViewProps} from '../view_props';
import './diagnosis.css';

function Words({pieces}: {pieces: readonly Piece[]}) {
  return (
    <p>{pieces.map(({kind, text}, i) => (
      kind === 'code' ? <code key={i}>{text}</code> : kind === 'strong' ? <strong key={i}>{text}</strong> : <span key={i}>{text}</span>
    ))}</p>
  );
}

export function CausesView({run, place}: RunViewProps) {
  const view = useRef<HTMLDivElement>(null);
  useMarked(view, place);
  const diagnosis = useWatched(run.diagnosis);
  const sentences = new Map(diagnosis?.causes.map(({name, sentence}) => [name, sentence]));
  return (
    <div class="causes-view" ref={view}>
      <p><a href={routeAddress({page: 'run', id: run.id, view: 'diagnosis'})}>← Diagnosis of {run.id}</a></p>
      <p class="quiet">What a diagnosis may name. These pages come with Flightdeck (<code>docs/causes.md</code>); <code>flightdeck list causes</code> tells
        which lamps each cause lights, and how often.</p>
      {causePages.map(({name, paragraphs}) => (
        <section key={name} class="card" data-place={name} aria-labelledby={`cause-${name}`}>
          <h2 id={`cause-${name}`}>{sentences.get(name) ?? name.replace(/_/g, ' ')}</h2>
          {paragraphs.map((pieces, i) => <Words key={i} pieces={pieces} />)}
        </section>
      ))}
    </div>
  );
}
