// SPDX-License-Identifier: MIT
// An esbuild plugin: `import text from 'documents/NAME.md'` is that page of the documents as text.
import {readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

/** `folder`: where the pages are; docs/ beside this folder unless said. */
export const documents = (folder = fileURLToPath(new URL('../docs', import.meta.url))) => ({
  name: 'documents',
  setup(build) {
    build.onResolve({filter: /^documents\//}, ({path}) => ({path: join(resolve(folder), path.replace(/^documents\//, '')), namespace: 'documents'}));
    build.onLoad({filter: /.*/, namespace: 'documents'}, ({path}) => ({contents: readFileSync(path, 'utf8'), loader: 'text', watchFiles: [path]}));
  },
});
