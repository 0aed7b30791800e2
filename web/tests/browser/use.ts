// SPDX-License-Identifier: MIT
// The page in use, in the order in which the tests run: one process, so that they share the browser.
import './cases/live';
import './cases/states';
import './cases/cockpit';
import './cases/slider';
import './cases/layers';
import './cases/compare';
import './cases/run';
import './cases/diagnosis';
import './cases/labels';
import './cases/exports';
import './cases/report';
import './cases/access';
