// SPDX-License-Identifier: MIT
// All tests in a browser, in the order they run: one process, so that they share the browser.
import './cases/live';
import './cases/states';
import './cases/cockpit';
import './cases/slider';
import './cases/layers';
import './cases/compare';
import './cases/run';
import './cases/labels';
import './cases/exports';
import './cases/report';
import './cases/access';
import './cases/overlap';
import './cases/look';
