// SPDX-License-Identifier: MIT
// Starts the page.
import {render} from 'preact';
import './app.css';

const place = document.getElementById('app');
if (place) render(<p>Flightdeck</p>, place);
