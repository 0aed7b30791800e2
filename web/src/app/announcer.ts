// SPDX-License-Identifier: MIT
// The browser's own notifications.
import type {Announcer} from '../store/notices';
import {routeAddress} from './route';

export const browserAnnouncer: Announcer = {
  permission: () => (typeof Notification === 'undefined' ? 'missing' : Notification.permission),
  ask: async () => typeof Notification !== 'undefined' && await Notification.requestPermission() === 'granted',
  tell(title, text, run) {
    try {
      const notice = new Notification(`Flightdeck: ${title}`, {body: text, tag: `${run} ${title}`, icon: 'icon.svg'});
      notice.onclick = () => {
        window.focus();
        location.hash = routeAddress({page: 'run', id: run, view: 'cockpit'});
        notice.close();
      };
    } catch {
      // Some browsers on phones have the name and not the thing.
    }
  },
};
