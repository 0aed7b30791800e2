// SPDX-License-Identifier: MIT
// What people say of a run: its tags and its note, to be changed where the server allows it.
import {useEffect, useState} from 'preact/hooks';
import type {LabelChange, Source} from '../../wire/source';
import type {RunSummary} from '../../wire/types';
import {Card} from './run_sections';

/** As the server has them; docs/wire_format.md, limits. */
const MOST_TAG = 64;
const MOST_NOTE = 2000;

interface Props {
  source: Source;
  run: RunSummary;
}

function useCanEdit(source: Source): boolean {
  const [canEdit, setCanEdit] = useState(false);
  useEffect(() => {
    let isOver = false;
    source.canEdit().then((can) => !isOver && setCanEdit(can), () => undefined);
    return () => { isOver = true; };
  }, [source]);
  return canEdit;
}

function NewTag({add}: {add(tag: string): void}) {
  const [text, setText] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    for (const word of text.trim().split(/[\s,]+/)) if (word) add(word);
    setText('');
  };
  return (
    <form class="new-tag" onSubmit={submit}>
      <input aria-label="New tag" placeholder="New tag" maxLength={MOST_TAG} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <button type="submit" disabled={text.trim() === ''}>Add</button>
    </form>
  );
}

function NoteField({note, save}: {note: string; save(note: string): void}) {
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? note;
  return (
    <div class="note-field">
      <textarea aria-label="Note" placeholder="What is to be remembered of this run" rows={3} maxLength={MOST_NOTE} value={text}
        onInput={(event) => setDraft(event.currentTarget.value)} />
      {draft !== null && draft !== note && (
        <span>
          <button type="button" onClick={() => { save(draft); setDraft(null); }}>Save the note</button>{' '}
          <button type="button" onClick={() => setDraft(null)}>Leave it</button>
        </span>
      )}
    </div>
  );
}

export function Labels({source, run}: Props) {
  const canEdit = useCanEdit(source);
  const [changed, setChanged] = useState<RunSummary | null>(null);
  const [error, setError] = useState<Error | null>(null);
  // What was said here, until the server says more.
  const {id, tags, note, archived} = changed && changed.id === run.id && changed.change >= run.change ? changed : run;
  const change = async (wanted: LabelChange) => {
    try {
      setChanged(await source.label(id, wanted));
      setError(null);
    } catch (caught) {
      setError(caught instanceof Error ? caught : new Error(String(caught)));
    }
  };
  if (!canEdit && tags.length === 0 && note === '' && !archived) return null;
  return (
    <Card title="Tags and note" id="labels">
      {archived && <p class="quiet">Archived: lists leave this run out.</p>}
      <p class="run-tags">
        {tags.length === 0 && <span class="quiet">No tags.</span>}
        {tags.map((tag) => (
          <span key={tag} class="run-tag">{tag}
            {canEdit && <button type="button" aria-label={`Remove the tag ${tag}`} onClick={() => void change({remove: tag})}>×</button>}
          </span>
        ))}
      </p>
      {canEdit && <NewTag add={(tag) => void change({add: tag})} />}
      {canEdit ? <NoteField key={id} note={note} save={(text) => void change({note: text})} /> : note !== '' && <p class="note-text">{note}</p>}
      {canEdit && <button type="button" onClick={() => void change({archived: !archived})}>{archived ? 'Bring it back from the archive' : 'Archive this run'}</button>}
      {error && <p class="run-error" role="alert">{error.message}{'remedy' in error ? `; ${String(error.remedy)}` : ''}</p>}
    </Card>
  );
}
