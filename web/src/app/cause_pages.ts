// SPDX-License-Identifier: MIT
// The page of the documents about causes, as it was when this page was bundled.
import text from 'documents/causes.md';
import {type Section, sectionsOf} from '../base/marked_text';

export const causePages: readonly Section[] = sectionsOf(text);

export function hasCausePage(cause: string): boolean {
  return causePages.some(({name}) => name === cause);
}
