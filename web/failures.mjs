// SPDX-License-Identifier: MIT
// Reports tests by what went wrong: hundreds of lines of what went well hide it. Given to Node.js as --test-reporter.
import {inspect} from 'node:util';

export default async function* failures(events) {
  const count = {passed: 0, skipped: 0, failed: 0};
  for await (const {type, data} of events) {
    if (type === 'test:stderr') yield data.message;
    if (type !== 'test:pass' && type !== 'test:fail' || data.details?.type === 'suite') continue;
    if (type === 'test:fail') {
      const error = data.details?.error;
      // What says only that a test of the file failed comes once more for the file.
      if (error?.failureType !== 'subtestsFailed') {
        ++count.failed;
        yield `FAILED: ${data.name}\n${inspect(error?.cause ?? error)}\n`;
      }
    } else if (data.skip !== undefined) {
      ++count.skipped;
    } else {
      ++count.passed;
    }
  }
  yield `${count.passed} tests passed, ${count.failed} failed${count.skipped > 0 ? `, ${count.skipped} left out` : ''}\n`;
}
